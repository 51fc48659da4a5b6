// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/portals/fabric/triggered.h"

#include "runtime/portals/fabric/fabric.h"
#include "runtime/portals/fabric/lists.h"
#include "runtime/portals/fabric/process.h"

namespace umwelt::portals
{

int Triggers::arm(Ni& ni, Counter& counter, const TriggeredOp& request)
{
  if (ni.triggered_ops >= ni.limits.max_triggered_ops)
    return PTL_NO_SPACE;
  TriggeredOp& op = pool_.acquire();
  op = request;
  op.ni = ni.ref;
  ++ni.triggered_ops;
  TriggeredOp* after = counter.last;
  while (after && after->threshold > op.threshold)
    after = after->previous;
  op.previous = after;
  op.next = after ? after->next : counter.first;
  (after ? after->next : counter.first) = &op;
  (op.next ? op.next->previous : counter.last) = &op;
  changed(ni, counter);
  return PTL_OK;
}

void Triggers::changed(Ni& ni, Counter& counter)
{
  // The sum of both fields counts (Portals 4.3, 3.16).
  const ptl_size_t value = counter.nic().success + counter.nic().failure;
  if (!counter.first || counter.first->threshold > value)
    return;
  while (counter.first && counter.first->threshold <= value)
    release(ni, counter, *counter.first);
  drain();
}

void Triggers::release(Ni& ni, Counter& counter, TriggeredOp& op)
{
  counter.first = op.next;
  (op.next ? op.next->previous : counter.last) = nullptr;
  --ni.triggered_ops;
  op.next = nullptr;
  (ready_last_ ? ready_last_->next : ready_first_) = &op;
  ready_last_ = &op;
}

void Triggers::drain()
{
  if (draining_)
    return;
  draining_ = true;
  while (TriggeredOp* op = ready_first_) {
    ready_first_ = op->next;
    if (!ready_first_)
      ready_last_ = nullptr;
    execute(*op);
    pool_.release(*op);
  }
  draining_ = false;
}

// Objects released while the operation waited make it void.
void Triggers::execute(const TriggeredOp& op)
{
  Ni* ni = fabric_.resolve(op.ni);
  if (!ni)
    return;
  switch (op.kind) {
  case TriggeredOp::Kind::move:
    fabric_.initiator().start_triggered(*ni, op.move);
    return;
  case TriggeredOp::Kind::ct_add:
    if (Counter* counter = ni->counters.find(op.object))
      ni->changed(*counter, counter->nic_add(op.value));
    return;
  case TriggeredOp::Kind::ct_set:
    if (Counter* counter = ni->counters.find(op.object))
      ni->changed(*counter, counter->nic_set(op.value));
    return;
  case TriggeredOp::Kind::link:
    if (Entry* entry = ni->entries.find(op.object); entry && entry->state == Entry::State::armed)
      link_armed(*ni, *entry);
    return;
  case TriggeredOp::Kind::unlink:
    if (Entry* entry = ni->entries.find(op.object))
      unlink(*ni, *entry);
    return;
  }
}

void Triggers::cancel(Ni& ni, Counter& counter)
{
  while (TriggeredOp* op = counter.first) {
    counter.first = op->next;
    if (op->kind == TriggeredOp::Kind::link)
      if (Entry* entry = ni.entries.find(op->object); entry && entry->state == Entry::State::armed)
        ni.entries.destroy(*entry);
    --ni.triggered_ops;
    pool_.release(*op);
  }
  counter.last = nullptr;
}

} // namespace umwelt::portals
