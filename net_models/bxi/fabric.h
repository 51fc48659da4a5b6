// SPDX-License-Identifier: LGPL-2.1-or-later
// The way of a message through links and switches: virtual cut-through. The head enters the next link as soon as that
// is free, the tail follows at the rate of the slowest link so far; switches buffer what cannot go on, so a message
// that waits holds nothing upstream.
#pragma once

#include <cstdint>
#include <vector>

#include "net_models/bxi/faults.h"
#include "net_models/core/pipe.h"
#include "platforms/platform.h"

namespace umwelt::net
{

class BxiFabric
{
public:
  BxiFabric(const platform::Platform& platform, const BxiParameters& parameters);

  // A message under way. `head` and `tail` are the times at which its first and last bit reach the next link, in the
  // end the NIC.
  struct Passage {
    const platform::Route* route = nullptr;
    std::size_t hop = 0;
    std::uint64_t bytes = 0; // on the wire
    bool one_packet = true;  // may slip in between the packets of longer messages
    bool corrupted = false;
    sim::SimTime head = 0;
    sim::SimTime tail = 0;
    sim::SimTime start = 0; // entry into the link of `hop`, once booked
  };

  // Books the next link; its entry is passage.start, which may lie after passage.head: then come back at that time.
  void book(Passage& passage);
  // Takes the link that was booked. False: the message was lost on it.
  bool pass(Passage& passage);
  [[nodiscard]] static bool at_target(const Passage& passage) { return passage.hop == passage.route->links.size(); }

  // Time the message occupies its first link.
  sim::SimTime injection(const Passage& passage);
  // Time of a full packet on the last link of the route: the NIC looks at a packet when it has it whole.
  sim::SimTime last_packet(const Passage& passage);
  // A control packet alone on the route; false if it is lost. For acknowledgements that share packets with others.
  bool control(const platform::Route& route, sim::SimTime when, sim::SimTime& arrival);

  [[nodiscard]] bool faulty() const { return faults_.any(); }

private:
  struct LinkState {
    sim::Pipe pipe;
    double bandwidth = 0; // left for packets
    sim::SimTime latency = 0;
    sim::SimTime packet = 0; // time of a full packet
    BxiFaults::LinkFaults faults;
  };
  LinkState& state(platform::LinkIndex index);

  const platform::Platform& platform_;
  double coding_;
  std::uint64_t full_packet_;
  std::uint64_t header_;
  BxiFaults faults_;
  std::vector<LinkState> links_; // by LinkIndex, as routes make them known
};

} // namespace umwelt::net
