// SPDX-License-Identifier: LGPL-2.1-or-later
// The fabric `occupancy`: when a message occupies which links; its packets are not followed. Virtual cut-through: the
// head enters the next link as soon as that is free, the tail follows at the rate of the slowest link so far; switches
// buffer what cannot go on, so a message that waits holds nothing upstream.
//
// A link takes packets from the switch's input ports in turn. So messages of one packet slip in between those of longer
// ones, and long ones that came in through different ports advance side by side, each port with the same share and none
// faster than its bytes come in; what came in through one port goes on in the order in which it came. A long message
// that has a link for itself is booked in closed form, as a start and an end. If it meets another there, the link gets
// a Sharing (sharing.h) until one of them is left: an event when one joins or leaves, never one per packet.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "net_models/bxi/faults.h"
#include "net_models/core/fabric.h"
#include "platforms/link_failures.h"
#include "platforms/platform.h"
#include "runtime/base/timeline.h"

namespace umwelt::net
{

class BxiFabric;
class BxiSharing;

// The time at which a link fails: what is on it then is cut.
class BxiLinkFailure final : public sim::Event
{
public:
  BxiLinkFailure(BxiFabric& fabric, platform::LinkIndex link) : fabric_(fabric), link_(link) {}
  void fire() override;

private:
  BxiFabric& fabric_;
  platform::LinkIndex link_;
};

// One direction of a link.
struct BxiLink {
  double bandwidth = 0; // left for packets
  sim::SimTime latency = 0;
  sim::SimTime packet = 0;     // time of a full packet
  sim::SimTime short_free = 0; // the last message of one packet has passed

  // The long message that has the link for itself, or had it last.
  Passage* owner = nullptr; // null: it was lost
  std::uint32_t hop = 0;    // of the owner's route
  std::uint32_t input = 0;  // port through which it came
  double bytes = 0;         // of it, since `begin`
  sim::SimTime begin = 0;
  sim::SimTime end = 0;     // `never` as long as it is not foreseen, or if several share the link
  sim::SimTime tail_in = 0; // its last bit comes in
  sim::SimTime slack = 0;   // left between `begin` and `end`, because its bytes come in more slowly
  sim::SimTime delayed = 0; // by single packets

  std::unique_ptr<BxiSharing> sharing; // once it was needed
  BxiFaults::LinkFaults faults;
  const platform::LinkFailures::Periods* failures = nullptr; // null: it never fails
  std::unique_ptr<BxiLinkFailure> failure;                   // the next that a long message may be on it at
};

class BxiFabric final : public Fabric
{
public:
  BxiFabric(const platform::Platform& platform, const BxiParameters& parameters, sim::Timeline& timeline,
            Client& client, const platform::LinkFailures* failures = nullptr);
  ~BxiFabric() override;

  Entry enter(Passage& passage) override { return book(passage); }
  bool pass(Passage& passage) override;
  Entry advance(Passage& passage) override;
  sim::SimTime injection(const Passage& passage) override;
  sim::SimTime header_in(const Passage& passage) override;
  bool control(const platform::Route& route, sim::SimTime when, sim::SimTime& arrival) override;
  [[nodiscard]] bool faulty() const override { return faults_.any() || failures_ != nullptr; }

private:
  friend BxiLinkFailure;
  friend BxiSharing; // its event is changed()

  // Books the next link.
  Entry book(Passage& passage);

  BxiLink& state(platform::LinkIndex index)
  {
    if (index >= known_) [[unlikely]]
      learn(index);
    return links_[index];
  }
  void learn(platform::LinkIndex upto);
  BxiLink& link_of(const Passage& passage, std::size_t hop) { return links_[passage.route->links[hop]]; }
  static std::uint32_t input_of(const Passage& passage);
  void book_short(BxiLink& link, Passage& passage, sim::SimTime duration);
  void own(BxiLink& link, Passage& passage);
  bool survives(platform::LinkIndex index, Passage& passage);
  void await_failure(platform::LinkIndex index);
  void cut(platform::LinkIndex index);

  // sharing.cpp
  void stop(Passage& passage) override;
  Entry join(platform::LinkIndex index, Passage& passage);
  void share_with_owner(platform::LinkIndex index);
  void changed(platform::LinkIndex index);
  void divide(platform::LinkIndex index);
  bool supply(BxiLink& link, std::size_t which);
  double upstream(const Passage& passage, std::size_t hop, double& rate);
  void finish(platform::LinkIndex index);
  void let_in(platform::LinkIndex index);
  void leave_alone(platform::LinkIndex index);
  void settle(Passage& passage, sim::SimTime end);
  void touch(platform::LinkIndex index);
  void touch_downstream(const Passage& passage, std::size_t hop);
  void refresh();

  const platform::Platform& platform_;
  sim::Timeline& timeline_;
  Client& client_;
  double coding_;
  std::uint64_t full_packet_;
  std::uint64_t header_;
  BxiFaults faults_;
  const platform::LinkFailures* failures_;   // null: links never fail
  std::vector<BxiLink> links_;               // by LinkIndex, as routes make them known
  std::size_t known_ = 0;                    // how many they are
  std::vector<platform::LinkIndex> touched_; // shares to be divided anew
  std::vector<double> rates_;                // before a division
  bool refreshing_ = false;
};

} // namespace umwelt::net
