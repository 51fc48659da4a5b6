// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/base/timeline.h"

#include <algorithm>
#include <cassert>

namespace umwelt::sim
{

namespace
{
constexpr std::size_t arity = 4;
}

void Timeline::sift_up(std::size_t index, const Slot& slot)
{
  while (index > 0) {
    const std::size_t parent = (index - 1) / arity;
    if (!earlier(slot, heap_[parent]))
      break;
    place(index, heap_[parent]);
    index = parent;
  }
  place(index, slot);
}

void Timeline::sift_down(std::size_t index, const Slot& slot)
{
  const std::size_t size = heap_.size();
  for (;;) {
    const std::size_t first = index * arity + 1;
    if (first >= size)
      break;
    std::size_t best = first;
    const std::size_t last = std::min(first + arity, size);
    for (std::size_t child = first + 1; child < last; ++child)
      if (earlier(heap_[child], heap_[best]))
        best = child;
    if (!earlier(heap_[best], slot))
      break;
    place(index, heap_[best]);
    index = best;
  }
  place(index, slot);
}

void Timeline::remove(std::size_t index)
{
  heap_[index].event->index_ = Event::idle;
  const Slot last = heap_.back();
  heap_.pop_back();
  if (index == heap_.size())
    return;
  if (index > 0 && earlier(last, heap_[(index - 1) / arity]))
    sift_up(index, last);
  else
    sift_down(index, last);
}

void Timeline::schedule(Event& event, SimTime when)
{
  if (event.pending())
    remove(event.index_);
  event.when_ = std::max(when, now_);
  event.order_ = order_++;
  heap_.emplace_back();
  sift_up(heap_.size() - 1, Slot{event.when_, event.order_, &event});
}

void Timeline::cancel(Event& event)
{
  if (event.pending())
    remove(event.index_);
}

bool Timeline::step()
{
  if (heap_.empty())
    return false;
  Event& event = *heap_.front().event;
  now_ = event.when_;
  remove(0);
  ++fired_;
  event.fire();
  return true;
}

void Timeline::advance_to(SimTime when)
{
  assert(when >= now_ && when <= next());
  now_ = when;
}

} // namespace umwelt::sim
