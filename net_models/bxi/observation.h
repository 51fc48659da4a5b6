// SPDX-License-Identifier: LGPL-2.1-or-later
// What a trace is told of the model's messages (core/observer.h). It stands beside the model, which calls it where a
// copy of a message comes to an end, and keeps for it a few times in the message that nothing else would keep. If
// nobody listens, a call is a test of a pointer.
#pragma once

#include <cstdint>

#include "net_models/bxi/parameters.h"
#include "net_models/core/model.h"
#include "net_models/core/observer.h"

namespace umwelt::net
{

struct BxiFlight;

class BxiObservation
{
public:
  // Kept in each message, for here alone. The model sets all but the last as it comes to know them.
  struct Times {
    SimTime read_asked = 0;     // the first PCI packet of the payload was asked for, and
    SimTime read_begin = 0;     // came
    SimTime left = 0;           // the virtual network was free again
    std::uint64_t transfer = 0; // the observer's number of the transfer
  };

  // The parameters outlive it.
  BxiObservation(const ModelContext& context, const BxiParameters& parameters)
      : observer_(context.observer), timeline_(context.timeline), parameters_(parameters)
  {
  }

  // The message is in the target's memory: all that it went through is told.
  void arrived(BxiFlight& flight) const
  {
    if (observer_ != nullptr) [[unlikely]]
      tell_arrival(flight);
  }
  // This copy of it, or its acknowledgement, comes no further.
  void lost(BxiFlight& flight) const
  {
    if (observer_ != nullptr) [[unlikely]]
      tell_loss(flight);
  }
  // The target knows it already.
  void duplicate(BxiFlight& flight) const
  {
    if (observer_ != nullptr) [[unlikely]]
      tell_duplicate(flight);
  }
  // The end-to-end acknowledgement, under way in this time.
  void acknowledged(const BxiFlight& flight, SimTime start, SimTime end, StageOutcome outcome) const
  {
    if (observer_ != nullptr) [[unlikely]]
      tell_acknowledgement(flight, start, end, outcome);
  }
  // An event or a counter goes over PCI from then on.
  void event(NodeIndex node, SimTime start) const
  {
    if (observer_ != nullptr && parameters_.pci) [[unlikely]]
      tell_event(node, start);
  }

private:
  [[gnu::cold]] void tell_arrival(BxiFlight& flight) const;
  [[gnu::cold]] void tell_departure(BxiFlight& flight) const;
  [[gnu::cold]] void tell_loss(BxiFlight& flight) const;
  [[gnu::cold]] void tell_duplicate(BxiFlight& flight) const;
  [[gnu::cold]] void tell_acknowledgement(const BxiFlight& flight, SimTime start, SimTime end,
                                          StageOutcome outcome) const;
  [[gnu::cold]] void tell_event(NodeIndex node, SimTime start) const;
  void tell(const BxiFlight& flight, StageKind kind, std::uint64_t bytes, SimTime start, SimTime end) const;
  void tell_message(const BxiFlight& flight, SimTime end, StageOutcome outcome) const;

  Observer* const observer_; // null: nobody listens
  const sim::Timeline& timeline_;
  const BxiParameters& parameters_;
};

} // namespace umwelt::net
