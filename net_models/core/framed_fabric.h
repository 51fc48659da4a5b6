// SPDX-License-Identifier: LGPL-2.1-or-later
// What fabrics have in common that carry a message, cut into packets, from its source to its target on their own: the
// NIC books no link but the first, and hears when the message is there.
#pragma once

#include "net_models/core/fabric.h"
#include "runtime/base/timeline.h"

namespace umwelt::net
{

class FramedFabric : public Fabric
{
public:
  // `faults` may be null. `switch_time`: of a control packet in each switch.
  FramedFabric(const platform::Platform& platform, const Framing& framing, sim::SimTime switch_time, LinkFaults* faults,
               sim::Timeline& timeline, Client& client)
      : platform_(platform), framing_(framing), faults_(faults), timeline_(timeline), client_(client),
        switch_time_(switch_time)
  {
  }

  Entry advance(Passage& passage) final { return passage.at_target() ? Entry::free : Entry::waits; }
  sim::SimTime injection(const Passage& passage) final;
  sim::SimTime header_in(const Passage& passage) final { return passage.one_packet ? passage.tail : passage.head; }
  bool control(const platform::Route& route, sim::SimTime when, sim::SimTime& arrival) final;
  [[nodiscard]] bool faulty() const final { return faults_ != nullptr; }

protected:
  const platform::Platform& platform_;
  const Framing framing_;
  LinkFaults* const faults_;
  sim::Timeline& timeline_;
  Client& client_;

private:
  const sim::SimTime switch_time_;
};

} // namespace umwelt::net
