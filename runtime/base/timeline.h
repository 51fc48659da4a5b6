// SPDX-License-Identifier: LGPL-2.1-or-later
// The timeline: simulated now and the queue of what happens later.
//
// Events are intrusive (owned by whoever embeds them), so that scheduling never allocates once the queue has grown to
// the run's working size. Events of equal time fire in the order in which they were scheduled: that rule is what makes
// runs reproducible, keep it. SimGrid's kernel timers do the same job at 0.19 us an event (Fibonacci heap, one
// allocation each); this queue needs 0.01 us with one event pending (tests/net_models/bench_models).
//
// Few events are one heap. Of many, only the next ones are: what is later lies in buckets of equal width, in no order,
// and becomes the heap in its turn; what is later still waits until buckets are made anew (a ladder queue of two rungs:
// W. Tang, R. Goh, I. Thng, "Ladder queue", 2005). One heap of thousands cost half of the instructions of a large
// network, and a cache miss for each level.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/base/time.h"

namespace umwelt::sim
{

class Timeline;

// Something that happens at a time. Derive, or embed a derived member, and implement fire().
class Event
{
public:
  Event() = default;
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  virtual ~Event() = default;

  [[nodiscard]] bool pending() const { return index_ != idle; }
  [[nodiscard]] SimTime when() const { return when_; } // meaningful while pending, and inside fire()

  // Called by the timeline with now() == when(); the event is no longer pending and may schedule itself again.
  virtual void fire() = 0;

private:
  friend class Timeline;
  static constexpr std::uint32_t idle = 0xffffffff;
  SimTime when_ = 0;
  std::uint64_t order_ = 0;
  std::uint32_t index_ = idle;
};

class Timeline
{
public:
  [[nodiscard]] SimTime now() const { return now_; }
  [[nodiscard]] bool empty() const { return heap_.empty(); }
  [[nodiscard]] std::size_t size() const { return heap_.size() + later_; }
  // Time of the earliest event, `never` when there is none.
  [[nodiscard]] SimTime next() const { return heap_.empty() ? never : heap_.front().when; }
  [[nodiscard]] std::uint64_t fired() const { return fired_; }

  // Schedules `event` for `when`; a time in the past is taken for now. A pending event is moved.
  void schedule(Event& event, SimTime when);
  void schedule_in(Event& event, SimTime delay) { schedule(event, now_ + delay); }
  // No effect on an event that is not pending.
  void cancel(Event& event);

  // Fires the earliest event, moving now() to its time. False if there was none.
  bool step();
  // Moves now() forward without firing; `when` must not be later than next() nor earlier than now().
  void advance_to(SimTime when);

private:
  struct Slot { // the key is copied here so that sifting stays within the array
    SimTime when;
    std::uint64_t order;
    Event* event;
  };
  static bool earlier(const Slot& a, const Slot& b) { return a.when != b.when ? a.when < b.when : a.order < b.order; }
  void place(std::size_t index, const Slot& slot)
  {
    heap_[index] = slot;
    slot.event->index_ = static_cast<std::uint32_t>(index);
  }
  void sift_up(std::size_t index, const Slot& slot);
  // Not inlined, it would read its key from memory at each step.
  [[gnu::always_inline]] inline void sift_down(std::size_t index, const Slot& slot);
  void heapify();
  void put_later(const Slot& slot);
  std::vector<Slot>& later_place(SimTime when);
  void remove(Event& event);
  void remove_from_heap(std::size_t index);
  void refill();
  void spread();
  [[nodiscard]] SimTime last_of(std::size_t buckets) const;

  std::vector<Slot> heap_;    // 4-ary: half the depth of a binary heap, children share a cache line or two
  SimTime heap_last_ = never; // the heap has all events up to this time; it is empty only if there are none at all
  std::vector<std::vector<Slot>> buckets_; // each of 2^shift_ ps, from start_ on
  std::size_t used_ = 0;                   // of them
  std::size_t taken_ = 0;                  // of these, into the heap
  unsigned shift_ = 0;
  SimTime start_ = 0;
  SimTime buckets_last_ = never;
  std::vector<Slot> far_;   // later than the buckets
  std::vector<Slot> spare_; // empty, with the memory that far_ had
  std::size_t later_ = 0;   // events in the buckets and far_
  SimTime now_ = 0;
  std::uint64_t order_ = 0;
  std::uint64_t fired_ = 0;
};

} // namespace umwelt::sim
