// SPDX-License-Identifier: LGPL-2.1-or-later
// The timeline: simulated now and the queue of what happens later.
//
// Events are intrusive (owned by whoever embeds them), so that scheduling never allocates once the heap has grown to
// the run's working size. Events of equal time fire in the order in which they were scheduled: that rule is what makes
// runs reproducible, keep it. SimGrid's kernel timers do the same job at 0.19 us an event (Fibonacci heap, one
// allocation each); this heap needs 0.01 us with one event pending, 0.12 with 10,000 (tests/net_models/bench_models).
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
  [[nodiscard]] std::size_t size() const { return heap_.size(); }
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
  void sift_down(std::size_t index, const Slot& slot);
  void remove(std::size_t index);

  std::vector<Slot> heap_; // 4-ary: half the depth of a binary heap, children share a cache line or two
  SimTime now_ = 0;
  std::uint64_t order_ = 0;
  std::uint64_t fired_ = 0;
};

} // namespace umwelt::sim
