// SPDX-License-Identifier: LGPL-2.1-or-later
// Links that fail at a time and come back (--fault, and state profiles of a platform's file): which way a message can
// take meanwhile. A topology has other ways than the one its routing would take; a platform from a file has not, and
// messages wait. WHAT_IF.md has the option.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "platforms/platform.h"
#include "runtime/base/time.h"

namespace umwelt::platform
{

struct LinkFailure {
  std::string links; // a word of link_classes.h
  sim::SimTime at = 0;
  sim::SimTime length = sim::never; // never: for good
  std::string text;                 // the option as given, for messages
  std::uint64_t times = 1;          // of a profile, which has only the first time here
};

class LinkFailures
{
public:
  using SimTime = sim::SimTime;

  // Those of the platform are added. Throws std::invalid_argument for words that fit no link.
  LinkFailures(const Platform& platform, std::span<const LinkFailure> failures);

  // Throws std::invalid_argument if two of these nodes can never exchange a message again. Of more than `most_compared`
  // nodes only the ways from and to the first are looked at.
  static constexpr std::size_t most_compared = 128;
  void check(std::span<const NodeIndex> nodes);

  struct Way {
    const Route* route = nullptr; // null: there is none at that time;
    bool detour = false;          // it is not the one that the platform would take
    SimTime from = 0;             // when there is one: the time asked for, or later; `never`
  };
  // For a message that departs at `when`. Routes stay valid. Throws std::runtime_error for a time of which the
  // platform's profiles are not known.
  Way find(NodeIndex from, NodeIndex to, SimTime when);
  // The first time in [from, until) at which a link of the route fails; `never` if none does.
  [[nodiscard]] SimTime first_failure(const Route& route, SimTime from, SimTime until) const;
  // All links of the route are there.
  [[nodiscard]] bool whole(const Route& route, SimTime when) const
  {
    return first_failure(route, when, when + 1) == sim::never;
  }
  // Times [from, to) at which a link is not there, in order and apart; null: it never fails.
  using Periods = std::vector<std::pair<SimTime, SimTime>>;
  // The first that ends behind a time.
  static Periods::const_iterator first_after(const Periods& periods, SimTime time)
  {
    return std::upper_bound(periods.begin(), periods.end(), time,
                            [](SimTime when, const auto& period) { return when < period.second; });
  }
  [[nodiscard]] const Periods* periods(LinkIndex link) const;

  struct Given {
    LinkFailure failure;
    std::size_t links = 0;
    bool for_good = false; // in the end
  };
  [[nodiscard]] std::span<const Given> given() const { return given_; }

  // What became of messages; models count.
  struct Counts {
    std::uint64_t rerouted = 0;
    std::uint64_t delayed = 0; // had to wait for a way,
    SimTime waited = 0;        // so long in all
    std::uint64_t resent = 0;
    std::uint64_t failed = 0;
  };
  Counts counts;

private:
  void add_outages();
  const Route* detour(NodeIndex from, NodeIndex to, std::size_t epoch);
  std::vector<simgrid::s4u::Link*> search(NodeIndex from, NodeIndex to, SimTime when);
  [[nodiscard]] bool down(const simgrid::s4u::Link* link, SimTime when) const;

  const Platform& platform_;
  std::vector<Given> given_;
  std::unordered_map<const simgrid::s4u::Link*, Periods> periods_;
  std::vector<SimTime> changes_;                // when some link fails or comes back, in order
  std::vector<simgrid::s4u::Link*> by_channel_; // of the topology; empty: the platform comes from a file
  // By the number of changes before and the pair; of no links: there is no way.
  std::map<std::pair<std::size_t, std::uint64_t>, Route> detours_;
};

} // namespace umwelt::platform
