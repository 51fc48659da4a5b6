// SPDX-License-Identifier: LGPL-2.1-or-later
// A platform as SimGrid itself loads it, and as Umwelt does: a line for any two hosts, with
// their latency and the links between them.
#pragma once

#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <simgrid/s4u/Engine.hpp>
#include <simgrid/s4u/Host.hpp>
#include <simgrid/s4u/Link.hpp>
#include <simgrid/s4u/NetZone.hpp>

#include "platforms/platform.h"
#include "platforms/simgrid.h"

namespace umwelt::platform
{

// In a process of its own, since SimGrid counts the links it names over all platforms.
inline std::string simgrid_answers(const std::string& file)
{
  const Rehearsal rehearsal = rehearse([&] {
    simgrid::s4u::Engine& engine = simgrid_engine();
    engine.load_platform(file);
    engine.get_netzone_root()->seal();
    std::set<std::string> answers;
    for (const auto* from : engine.get_all_hosts())
      for (const auto* to : engine.get_all_hosts()) {
        if (from == to)
          continue;
        std::vector<simgrid::s4u::Link*> links;
        double latency = 0;
        from->route_to(to, links, &latency);
        std::string answer =
            fmt::format("{} to {}: {} ps", from->get_name(), to->get_name(), sim::from_seconds(latency));
        for (const auto* link : links)
          answer += fmt::format(", {} with {} B/s", link->get_name(), link->get_bandwidth());
        answers.insert(answer + "\n");
      }
    return fmt::format("{}", fmt::join(answers, ""));
  });
  return rehearsal.problem.empty() ? rehearsal.result : rehearsal.problem;
}

inline std::string our_answers(const std::string& spec)
{
  const auto platform = make_platform({.spec = spec});
  std::set<std::string> answers;
  for (NodeIndex from = 0; from < platform->node_count(); ++from)
    for (NodeIndex to = 0; to < platform->node_count(); ++to) {
      if (from == to)
        continue;
      const Route& route = platform->route(from, to);
      std::string answer =
          fmt::format("{} to {}: {} ps", platform->node(from).name, platform->node(to).name, route.latency);
      for (const LinkIndex link : route.links)
        answer += fmt::format(", {} with {} B/s", platform->link(link).name, platform->link(link).bandwidth);
      answers.insert(answer + "\n");
    }
  return fmt::format("{}", fmt::join(answers, ""));
}

inline std::string refusal(const std::string& spec)
{
  try {
    make_platform({.spec = spec});
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

} // namespace umwelt::platform
