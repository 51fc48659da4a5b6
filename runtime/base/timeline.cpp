// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/base/timeline.h"

#include <algorithm>
#include <bit>
#include <cassert>

namespace umwelt::sim
{

namespace
{
constexpr std::size_t arity = 4;
constexpr std::size_t crowd = 512; // events that are too many for one heap
constexpr std::size_t few = 128;   // that are not, after that
constexpr std::size_t share = 16;  // of a bucket, if they are spread evenly
} // namespace

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

inline void Timeline::sift_down(std::size_t index, const Slot& slot)
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

// Each to its place among those before it: that is two steps on average.
void Timeline::heapify()
{
  for (std::size_t i = 0; i < heap_.size(); ++i)
    sift_up(i, Slot(heap_[i]));
}

void Timeline::remove_from_heap(std::size_t index)
{
  heap_[index].event->index_ = Event::idle;
  const Slot last = heap_.back();
  heap_.pop_back();
  if (index < heap_.size()) {
    if (index > 0 && earlier(last, heap_[(index - 1) / arity]))
      sift_up(index, last);
    else
      sift_down(index, last);
  } else if (heap_.empty() && heap_last_ != never) {
    refill();
  }
}

void Timeline::remove(Event& event)
{
  if (event.when_ <= heap_last_)
    return remove_from_heap(event.index_);
  std::vector<Slot>& place = later_place(event.when_);
  place[event.index_] = place.back();
  place[event.index_].event->index_ = event.index_;
  place.pop_back();
  event.index_ = Event::idle;
  --later_;
}

std::vector<Timeline::Slot>& Timeline::later_place(SimTime when)
{
  return when <= buckets_last_ ? buckets_[static_cast<std::size_t>((when - start_) >> shift_)] : far_;
}

void Timeline::put_later(const Slot& slot)
{
  std::vector<Slot>& place = later_place(slot.when);
  slot.event->index_ = static_cast<std::uint32_t>(place.size());
  place.push_back(slot);
  ++later_;
}

// The heap is empty: what is later comes into it, if there is anything.
void Timeline::refill()
{
  for (;;) {
    while (taken_ < used_ && later_ > far_.size()) {
      std::vector<Slot>& bucket = buckets_[taken_++];
      if (bucket.empty())
        continue;
      heap_last_ = last_of(taken_);
      heap_.swap(bucket);
      later_ -= heap_.size();
      return heapify();
    }
    taken_ = used_;
    if (far_.size() > few) {
      spread();
      continue;
    }
    heap_.swap(far_);
    later_ = 0;
    heap_last_ = buckets_last_ = never;
    return heapify();
  }
}

// What is far goes into buckets, as wide as suits the first quarter of it.
void Timeline::spread()
{
  const auto before = [](const Slot& a, const Slot& b) { return a.when < b.when; };
  const auto quarter = far_.begin() + static_cast<std::ptrdiff_t>(far_.size() / 4);
  std::nth_element(far_.begin(), quarter, far_.end(), before);
  start_ = std::min_element(far_.begin(), quarter + 1, before)->when;
  const auto width = static_cast<std::uint64_t>(quarter->when - start_) / (far_.size() / 4 / share) + 1;
  shift_ = static_cast<unsigned>(std::bit_width(width - 1));
  used_ = far_.size() / (share / 2); // if it goes on as evenly, twice what is needed
  if (buckets_.size() < used_)
    buckets_.resize(used_);
  taken_ = 0;
  buckets_last_ = last_of(used_);
  heap_last_ = start_ - 1; // until the first bucket is the heap
  spare_.swap(far_);
  later_ = 0;
  for (const Slot& slot : spare_)
    put_later(slot);
  spare_.clear();
}

// Where the first so many buckets end.
SimTime Timeline::last_of(std::size_t buckets) const
{
  const auto count = static_cast<SimTime>(buckets);
  return count > (never - start_) >> shift_ ? never : start_ + (count << shift_) - 1;
}

void Timeline::schedule(Event& event, SimTime when)
{
  if (event.pending())
    remove(event);
  event.when_ = std::max(when, now_);
  event.order_ = order_++;
  const Slot slot{event.when_, event.order_, &event};
  if (event.when_ > heap_last_) [[unlikely]]
    return put_later(slot);
  heap_.emplace_back();
  sift_up(heap_.size() - 1, slot);
  if (heap_.size() > crowd && heap_last_ == never) [[unlikely]] {
    heap_.swap(far_);
    later_ = far_.size();
    taken_ = used_;
    refill();
  }
}

void Timeline::cancel(Event& event)
{
  if (event.pending())
    remove(event);
}

bool Timeline::step()
{
  if (heap_.empty())
    return false;
  Event& event = *heap_.front().event;
  now_ = event.when_;
  remove_from_heap(0);
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
