// SPDX-License-Identifier: LGPL-2.1-or-later
// Platforms in SimGrid's own formats: XML, and shared objects with load_platform(). Properties of the root zone or of
// any host:
//   nic:KEY     a parameter of the NIC model (the first one found counts, the zone's before the hosts')
//   cpu:speed   of a host: CPU speed relative to the machine that runs the simulation
//   sockets     of a host: packages, each a NUMA node (1)
//   memory      of a host ("256GiB"; 64GiB)
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <system_error>

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "platforms/builders.h"
#include "platforms/profiles.h"
#include "platforms/shared_object.h"
#include "platforms/simgrid.h"
#include "platforms/simgrid_versions.h"
#include "platforms/xml_profiles.h"
#include "runtime/base/descriptor.h"

namespace umwelt::platform
{

namespace
{

constexpr std::string_view nic_prefix = "nic:";
constexpr double picosecond = 1e-12; // seconds

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

class FileInMemory
{
public:
  explicit FileInMemory(std::string_view text) : file_(memfd_create("platform.xml", MFD_CLOEXEC))
  {
    while (file_.get() >= 0 && !text.empty()) {
      const ssize_t count = write(file_.get(), text.data(), text.size());
      if (count <= 0)
        throw std::system_error(errno, std::generic_category(), "write to a file in memory");
      text.remove_prefix(static_cast<std::size_t>(count));
    }
    if (file_.get() < 0)
      throw std::system_error(errno, std::generic_category(), "memfd_create");
  }

  [[nodiscard]] std::string path() const { return fmt::format("/proc/self/fd/{}", file_.get()); }

private:
  Descriptor file_;
};

// What the user gave, and what SimGrid reads.
struct Source {
  std::string path;
  bool xml = true;
  bool has_zones = false;                      // of XML: its hosts are in zones, and not in clusters alone
  std::vector<XmlProfile> profiles;            // state profiles of links, and
  std::shared_ptr<const FileInMemory> without; // the XML without them; null: there are none

  [[nodiscard]] std::string directory() const { return std::filesystem::absolute(path).parent_path(); }
  [[nodiscard]] std::string readable() const { return without ? without->path() : path; }
};

std::string text_of(const std::string& path)
{
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

Source read_source(const std::string& path)
{
  Source source{path, !is_elf(path), false, {}, nullptr};
  if (!source.xml || path.ends_with(".so")) {
    check_shared_object(path);
    return source;
  }
  const std::string whole = text_of(path);
  source.has_zones = whole.find("<zone") != std::string::npos || whole.find("<AS") != std::string::npos;
  XmlText text = take_link_profiles(whole);
  if (text.profiles.empty())
    return source;
  source.profiles = std::move(text.profiles);
  source.without = std::make_shared<const FileInMemory>(text.text);
  return source;
}

void load(const Source& source)
{
  simgrid::s4u::Engine& engine = simgrid_engine();
  if (source.xml) {
    if (source.without) // other files are looked for beside the platform
      simgrid::s4u::Engine::set_config("path", source.directory());
    engine.load_platform(source.readable());
    if (source.has_zones)
      versions::leave_outermost_zone();
  } else {
    call_load_platform(source.path);
  }
  if (engine.get_host_count() == 0)
    throw std::invalid_argument("it has no host");
  engine.get_netzone_root()->seal(); // Engine::seal_platform() does so for the first platform of a process only
  engine.seal_platform();
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

// What a crash in the trial means.
std::string looking_for;

[[noreturn]] void no_route(int)
{
  abandon(looking_for); // SimGrid's answer to a question for a route that is not there may be a crash
}

void check_links()
{
  using Policy = simgrid::s4u::Link::SharingPolicy;
  for (const auto* link : simgrid_engine().get_all_links()) {
    const Policy policy = link->get_sharing_policy();
    if (policy == Policy::WIFI)
      throw std::invalid_argument(fmt::format(
          "link '{}' of a Wi-Fi zone, a medium that all its hosts share and whose rate depends on the host; "
          "links here have one rate, and a direction or two",
          link->get_name()));
    if (policy == Policy::NONLINEAR)
      throw std::invalid_argument(fmt::format(
          "link '{}' with a bandwidth that depends on how many use it (NONLINEAR), which no network model follows",
          link->get_name()));
  }
}

void check_route(const simgrid::s4u::Host& from, const simgrid::s4u::Host& to)
{
  looking_for = fmt::format("it has no route from host '{}' to host '{}'", from.get_name(), to.get_name());
  std::vector<simgrid::s4u::Link*> links;
  double latency = 0;
  from.route_to(&to, links, &latency);
  if (links.empty())
    throw std::invalid_argument(looking_for);
  const double of_links = std::accumulate(links.begin(), links.end(), 0.0,
                                          [](double sum, const auto* link) { return sum + link->get_latency(); });
  constexpr double rounding = 1e-9;
  if (std::abs(latency - of_links) > rounding * of_links + picosecond)
    throw std::invalid_argument(fmt::format(
        "a latency from host '{}' to host '{}' of {} s, {} s of which belong to no link but to coordinates (Vivaldi); "
        "here all latency is that of links",
        from.get_name(), to.get_name(), latency, latency - of_links));
}

// All pairs, on large platforms those with the first host.
void check_routes()
{
  constexpr std::size_t most_compared = 128;
  for (const int fatal : {SIGSEGV, SIGABRT})
    std::signal(fatal, no_route);
  const auto hosts = simgrid_engine().get_all_hosts();
  const std::size_t compared = hosts.size() > most_compared ? 1 : hosts.size();
  for (std::size_t i = 0; i < compared; ++i)
    for (std::size_t k = compared == 1 ? 1 : i + 1; k < hosts.size(); ++k) {
      check_route(*hosts[i], *hosts[k]);
      check_route(*hosts[k], *hosts[i]);
    }
  for (const int fatal : {SIGSEGV, SIGABRT})
    std::signal(fatal, SIG_DFL);
}

// Everything the run will ask of the platform, so that an error shows now. Returns what becomes of links in time.
std::string try_out(const Source& source)
{
  load(source);
  if (simgrid_engine().get_actor_count() > 0)
    throw std::invalid_argument("it starts actors of SimGrid's; what runs here are programs");
  for (const auto* host : simgrid_engine().get_all_hosts()) {
    cpu_speed(*host);
    Node node;
    read_machine(*host, node);
  }
  check_links();
  check_routes();
  check_links_of(source.profiles);
  return record_states();
}

// For people.
std::string said_otherwise(std::string problem, const Source& source)
{
  const std::string readable = source.readable();
  for (auto at = problem.find(readable); at != std::string::npos; at = problem.find(readable, at + source.path.size()))
    problem.replace(at, readable.size(), source.path);
  if (problem.starts_with("Unknown event")) // SimGrid 3.32, SplitDuplexLinkImpl::apply_event()
    return "a state profile of a link with two directions (create_split_duplex_link), which SimGrid cannot play; give "
           "it to get_link_up() and get_link_down()";
  return problem;
}

[[noreturn]] void refuse(const Source& source, const std::string& problem)
{
  const std::string expected = problem.starts_with("expected ") || problem.starts_with("parameter ") ? ""
                               : source.xml ? "expected a SimGrid platform (XML, version 4.1), got: "
                                            : "expected a shared object whose load_platform() makes a machine, got: ";
  throw std::invalid_argument(fmt::format("platform file '{}': {}{}{} {}", source.path, expected, problem,
                                          problem.ends_with('.') ? "" : ".",
                                          source.xml ? "Correct the file." : "Correct and build it again."));
}

} // namespace

std::unique_ptr<Platform> load_simgrid_file(const Request& request)
{
  const std::string& path = request.spec;
  struct stat info {
  };
  const int missing = stat(path.c_str(), &info) != 0 || access(path.c_str(), R_OK) != 0 ? errno : 0;
  if (missing != 0)
    throw std::invalid_argument(
        fmt::format("platform file '{}': expected a readable SimGrid platform, XML or a shared object: {}. Check the "
                    "path; `umwelt platforms` lists the ready platforms.",
                    path, std::strerror(missing)));
  if (!S_ISREG(info.st_mode))
    throw std::invalid_argument(fmt::format(
        "platform file '{}': expected a SimGrid platform, got something that is not a file. Check the path.", path));
  Source source{path, !path.ends_with(".so"), false, {}, nullptr};
  try {
    source = read_source(path);
  } catch (const std::invalid_argument& error) {
    refuse(source, error.what());
  }
  const Rehearsal rehearsal = rehearse([&] { return try_out(source); });
  if (!rehearsal.problem.empty())
    refuse(source, said_otherwise(rehearsal.problem, source));
  Rehearsal played;
  if (!source.profiles.empty())
    played = rehearse([&] { return play_profiles(source.profiles, source.directory()); });
  if (!played.problem.empty())
    refuse(source, played.problem);
  load(source);

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
  std::vector<const simgrid::s4u::NetZone*> zones{simgrid_engine().get_netzone_root()}; // a zone before those in it
  for (std::size_t i = 0; i < zones.size(); ++i) {
    collect(*zones[i]->get_properties());
    const auto children = zones[i]->get_children();
    zones.insert(zones.end(), children.begin(), children.end());
  }
  for (auto* host : hosts) {
    collect(*host->get_properties());
    const auto cores = request.cores != 0 ? request.cores : static_cast<unsigned>(host->get_core_count());
    nodes.push_back(Node{host->get_name(), cores, cpu_speed(*host), host});
    read_machine(*host, nodes.back());
  }
  auto platform = std::make_unique<Platform>(path, std::move(nodes));
  for (const auto& [key, value] : nic)
    platform->set_nic_property(key, value);
  for (const std::string& record : {rehearsal.result, played.result})
    if (!record.empty())
      add_outages(*platform, record);
  return platform;
}

} // namespace umwelt::platform
