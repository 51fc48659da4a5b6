// SPDX-License-Identifier: LGPL-2.1-or-later
// Triggered operations (Portals 4.3, 3.16): they wait in order of threshold and age at a counter, and start in the NIC
// at the moment its value reaches the threshold, in the order in which they became ready.
#pragma once

#include <cstdint>

#include "runtime/base/pool.h"
#include "runtime/portals/fabric/message.h"
#include "runtime/portals/fabric/ni_ref.h"

namespace umwelt::portals
{

class Counter;
class Fabric;
class Ni;

struct TriggeredOp {
  enum class Kind : std::uint8_t { move, ct_add, ct_set, link, unlink };

  Kind kind = Kind::move;
  NiRef ni;
  ptl_size_t threshold = 0;
  Move move;                                    // move
  ptl_handle_any_t object = PTL_INVALID_HANDLE; // counter or entry
  ptl_ct_event_t value{};                       // ct_add, ct_set

  TriggeredOp* previous = nullptr;
  TriggeredOp* next = nullptr;
};

class Triggers
{
public:
  explicit Triggers(Fabric& fabric) : fabric_(fabric) {}

  // Queues a copy of `op` at `counter`, or starts it if the counter is there already. PTL_NO_SPACE if max_triggered_ops
  // are outstanding.
  int arm(Ni& ni, Counter& counter, const TriggeredOp& op);
  // The NIC's value of `counter` changed.
  void changed(Ni& ni, Counter& counter);
  // Destroys what waits for `counter`.
  void cancel(Ni& ni, Counter& counter);
  [[nodiscard]] std::size_t waiting() const { return pool_.in_use(); }

private:
  void release(Ni& ni, Counter& counter, TriggeredOp& op); // from the counter's list to the ready list
  void drain();
  void execute(const TriggeredOp& op);

  Fabric& fabric_;
  sim::Pool<TriggeredOp> pool_;
  TriggeredOp* ready_first_ = nullptr;
  TriggeredOp* ready_last_ = nullptr;
  bool draining_ = false; // operations trigger others: a loop instead of recursion
};

} // namespace umwelt::portals
