// SPDX-License-Identifier: LGPL-2.1-or-later
#include "platforms/profiles.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <simgrid/kernel/ProfileBuilder.hpp>

#include "platforms/simgrid.h"
#include "platforms/simgrid_versions.h"

namespace umwelt::platform
{

namespace
{

using simgrid::kernel::profile::Profile;
using simgrid::kernel::profile::ProfileBuilder;
using simgrid::s4u::Engine;
using simgrid::s4u::Host;
using SimLink = simgrid::s4u::Link;

constexpr double end_of_time = 9.2e6; // seconds; simulated time ends there (runtime/base/time.h)

// Time has no end for some profiles.
struct Enough {
};

[[noreturn]] void refuse(const std::string& what, double seconds, const char* next)
{
  throw std::invalid_argument(fmt::format("{} at {} s, which no network model follows. {}", what, seconds, next));
}

// SimGrid has two links for one with two directions (SPLITDUPLEX).
std::vector<SimLink*> links_of(const std::string& name)
{
  if (SimLink* const link = SimLink::by_name_or_null(name); link != nullptr)
    return {link};
  std::vector<SimLink*> links;
  for (const char* direction : {"_UP", "_DOWN"})
    if (SimLink* const link = SimLink::by_name_or_null(name + direction); link != nullptr)
      links.push_back(link);
  return links;
}

class Recorder
{
public:
  Recorder()
  {
    for (const SimLink* link : simgrid_engine().get_all_links()) {
      before_[link] = {link->get_bandwidth(), link->get_latency()};
      if (!link->is_on())
        note(*link);
    }
    versions::on_turn<SimLink>([this](const SimLink& link) { note(link); });
    SimLink::on_bandwidth_change_cb([this](const SimLink& link) {
      if (link.get_bandwidth() != before_.at(&link).bandwidth)
        refuse(fmt::format("a profile that changes the bandwidth of link '{}'", link.get_name()), Engine::get_clock(),
               "Leave its bandwidth_file out, or take --bandwidth-factor.");
    });
    Host::on_speed_change_cb([](const Host& host) {
      refuse(fmt::format("a profile that changes the speed of host '{}'", host.get_name()), Engine::get_clock(),
             "Leave its speed_file out, or give the host the property cpu:speed.");
    });
    versions::on_turn<Host>([](const Host& host) {
      refuse(fmt::format("a profile that turns host '{}' {}", host.get_name(), host.is_on() ? "on" : "off"),
             Engine::get_clock(), "Leave its state_file out.");
    });
  }

  // The record: what is known until when, then a change a line.
  std::string play()
  {
    double until = 1e-6;
    try {
      for (; until < end_of_time; until *= 2)
        play_until(start_ + until);
      play_until(start_ + end_of_time);
      until = std::numeric_limits<double>::infinity();
    } catch (const Enough&) {
      until = Engine::get_clock();
    }
    return fmt::format("{:.17g}\n{}", until, text_);
  }

private:
  struct Values {
    double bandwidth = 0;
    double latency = 0;
  };

  void note(const SimLink& link)
  {
    if (++count_ > most_changes)
      throw Enough();
    text_ += fmt::format("{:.17g} {} {}\n", Engine::get_clock(), link.is_on() ? '+' : '-', link.get_name());
  }

  // SimGrid says nothing of latencies that change.
  void play_until(double time) const
  {
    simgrid_engine().run_until(time);
    for (const auto& [link, values] : before_)
      if (link->get_latency() != values.latency)
        refuse(fmt::format("a profile that changes the latency of link '{}'", link->get_name()), time,
               "Leave its latency_file out, or take --latency-factor.");
  }

  // Of a process's second platform where the first has ended. Changes have the profile's own times all the same.
  double start_ = Engine::get_clock();
  std::unordered_map<const SimLink*, Values> before_;
  std::string text_;
  std::size_t count_ = 0;
};

} // namespace

std::string record_states()
{
  return Recorder().play();
}

std::string play_profiles(std::span<const XmlProfile> profiles, const std::string& directory)
{
  simgrid_engine();
  Engine::set_config("path", std::string("."));
  Engine::set_config("path", directory);
  auto* const zone = versions::add_full_zone("profiles");
  versions::add_host(*zone, "host", 1);
  std::map<std::string, Profile*> of_files; // SimGrid takes each once
  for (const XmlProfile& one : profiles) {
    SimLink* const link = versions::add_link(*zone, one.link, 1);
    if (one.file.empty()) {
      link->set_state_profile(ProfileBuilder::from_string("state of " + one.link, one.text, one.periodicity));
    } else {
      Profile*& profile = of_files[one.file];
      if (profile == nullptr)
        profile = ProfileBuilder::from_file(one.file);
      link->set_state_profile(profile);
    }
  }
  zone->seal();
  return Recorder().play();
}

void check_links_of(std::span<const XmlProfile> profiles)
{
  for (const XmlProfile& one : profiles)
    if (links_of(one.link).empty())
      throw std::invalid_argument(fmt::format("a state profile of link '{}', which is not there", one.link));
}

void add_outages(Platform& platform, const std::string& record)
{
  std::string_view rest = record;
  const auto number = [&rest] {
    double value = 0;
    rest.remove_prefix(static_cast<std::size_t>(std::from_chars(rest.data(), rest.data() + rest.size(), value).ptr -
                                                rest.data() + 1)); // and what follows it
    return value;
  };
  const double known = number();
  const sim::SimTime until = std::isinf(known) ? sim::never : sim::from_seconds(known);
  std::vector<Outage> outages(platform.outages().begin(), platform.outages().end());
  std::unordered_map<std::string, sim::SimTime> down; // since when
  const auto add = [&outages](const std::string& name, sim::SimTime from, sim::SimTime to) {
    for (SimLink* const link : links_of(name))
      if (to > from)
        outages.push_back({link, from, to});
  };
  while (!rest.empty()) {
    const sim::SimTime when = sim::from_seconds(number());
    const bool on = rest.front() == '+';
    const std::size_t end = rest.find('\n');
    const std::string name(rest.substr(2, end - 2));
    rest.remove_prefix(end + 1);
    if (!on)
      down.try_emplace(name, when);
    else if (const auto since = down.find(name); since != down.end()) {
      add(name, since->second, when);
      down.erase(since);
    }
  }
  for (const auto& [name, since] : down)
    add(name, since, until);
  std::sort(outages.begin(), outages.end(), [](const Outage& a, const Outage& b) {
    return std::pair(a.link->get_name(), a.from) < std::pair(b.link->get_name(), b.from);
  });
  platform.set_outages(std::move(outages), std::min(until, platform.outages_known_until()));
}

} // namespace umwelt::platform
