// SPDX-License-Identifier: LGPL-2.1-or-later
// Platforms in SimGrid's XML. Properties of the root zone or of any host:
//   nic:KEY     a parameter of the NIC model (the first one found counts, the zone's before the hosts')
//   cpu:speed   of a host: CPU speed relative to the machine that runs the simulation
//   sockets     of a host: packages, each a NUMA node (1)
//   memory      of a host ("256GiB"; 64GiB)
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>

#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>
#include <simgrid/s4u/Engine.hpp>
#include <simgrid/s4u/Host.hpp>
#include <simgrid/s4u/NetZone.hpp>

#include "platforms/builders.h"
#include "platforms/simgrid.h"

namespace umwelt::platform
{

namespace
{

constexpr std::string_view nic_prefix = "nic:";

// node2 before node10: SimGrid keeps hosts in alphabetical order, people count.
bool natural_less(const std::string& a, const std::string& b)
{
  std::size_t i = 0;
  std::size_t j = 0;
  const auto digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  while (i < a.size() && j < b.size()) {
    if (!digit(a[i]) || !digit(b[j])) {
      if (a[i] != b[j])
        return a[i] < b[j];
      ++i;
      ++j;
      continue;
    }
    const auto number = [&](const std::string& text, std::size_t& at) {
      while (at + 1 < text.size() && text[at] == '0' && digit(text[at + 1]))
        ++at;
      const std::size_t begin = at;
      while (at < text.size() && digit(text[at]))
        ++at;
      return std::string_view(text).substr(begin, at - begin);
    };
    const std::string_view x = number(a, i);
    const std::string_view y = number(b, j);
    if (x.size() != y.size())
      return x.size() < y.size();
    if (x != y)
      return x < y;
  }
  return a.size() - i < b.size() - j || (a.size() - i == b.size() - j && a < b);
}

void load(const std::string& path)
{
  simgrid_engine().load_platform(path);
  simgrid_engine().seal_platform();
}

double cpu_speed(const simgrid::s4u::Host& host)
{
  const char* text = host.get_property("cpu:speed");
  if (text == nullptr)
    return 1.0;
  double speed = 0;
  if (!parse_number(text, speed) || speed == 0)
    throw std::invalid_argument(fmt::format(
        "property cpu:speed of host '{}' is '{}' instead of a number above 0 (2: twice as fast as this machine)",
        host.get_name(), text));
  return speed;
}

// What a property says, or `standard`.
std::uint64_t number(const simgrid::s4u::Host& host, const char* name, std::uint64_t standard,
                     bool (*parse)(std::string_view, std::uint64_t&))
{
  const char* text = host.get_property(name);
  std::uint64_t value = standard;
  if (text != nullptr && !parse(text, value))
    throw std::invalid_argument(fmt::format("property {} of host '{}' is '{}' instead of {}", name, host.get_name(),
                                            text, parse == parse_size ? "a size (\"64GiB\")" : "a number"));
  return value;
}

void read_machine(const simgrid::s4u::Host& host, Node& node)
{
  const std::uint64_t sockets = number(host, "sockets", node.sockets, parse_count);
  node.memory = number(host, "memory", node.memory, parse_size);
  check_machine(fmt::format("host '{}'", host.get_name()), sockets, node.memory);
  node.sockets = sockets_of(sockets, node.cores);
}

std::string looking_for; // what a crash in the trial means

// Everything the run will ask of the platform, so that an error shows now.
void try_out(const std::string& path)
{
  load(path);
  const auto hosts = simgrid_engine().get_all_hosts();
  if (hosts.empty())
    throw std::invalid_argument("it has no host");
  for (const auto* host : hosts) {
    cpu_speed(*host);
    Node node;
    read_machine(*host, node);
  }
  std::signal(SIGSEGV, [](int) { // SimGrid's answer to a question for a route that is not there
    const bool told = write(STDERR_FILENO, looking_for.data(), looking_for.size()) >= 0;
    _exit(told ? 1 : 2);
  });
  std::vector<simgrid::s4u::Link*> links;
  for (const auto* other : hosts)
    if (other != hosts.front()) {
      looking_for =
          fmt::format("it has no route from host '{}' to host '{}'", hosts.front()->get_name(), other->get_name());
      links.clear();
      hosts.front()->route_to(other, links, nullptr);
      if (links.empty())
        throw std::invalid_argument(looking_for);
    }
}

} // namespace

std::unique_ptr<Platform> load_xml(const Request& request)
{
  const std::string& path = request.spec;
  struct stat info {
  };
  const int missing = stat(path.c_str(), &info) != 0 || access(path.c_str(), R_OK) != 0 ? errno : 0;
  if (missing != 0)
    throw std::invalid_argument(
        fmt::format("platform file '{}': expected a readable SimGrid XML file: {}. Check the path; "
                    "`umwelt platforms` lists the ready platforms.",
                    path, std::strerror(missing)));
  if (!S_ISREG(info.st_mode))
    throw std::invalid_argument(fmt::format(
        "platform file '{}': expected a SimGrid XML file, got something that is not a file. Check the path.", path));
  if (const std::string problem = rehearse([&] { try_out(path); }); !problem.empty())
    throw std::invalid_argument(
        fmt::format("platform file '{}': expected a SimGrid platform (XML, version 4.1), got: {}. "
                    "Correct the file.",
                    path, problem));
  load(path);

  auto hosts = simgrid_engine().get_all_hosts();
  std::sort(hosts.begin(), hosts.end(),
            [](const auto* a, const auto* b) { return natural_less(a->get_name(), b->get_name()); });
  std::vector<Node> nodes;
  std::map<std::string, std::string> nic;
  const auto collect = [&](const auto& properties) {
    for (const auto& [key, value] : properties)
      if (key.starts_with(nic_prefix))
        nic.try_emplace(key.substr(nic_prefix.size()), value);
  };
  collect(*simgrid_engine().get_netzone_root()->get_properties());
  for (const auto* zone : simgrid_engine().get_netzone_root()->get_children())
    collect(*zone->get_properties());
  for (auto* host : hosts) {
    collect(*host->get_properties());
    const auto cores = request.cores != 0 ? request.cores : static_cast<unsigned>(host->get_core_count());
    nodes.push_back(Node{host->get_name(), cores, cpu_speed(*host), host});
    read_machine(*host, nodes.back());
  }
  auto platform = std::make_unique<Platform>(path, std::move(nodes));
  for (const auto& [key, value] : nic)
    platform->set_nic_property(key, value);
  return platform;
}

} // namespace umwelt::platform
