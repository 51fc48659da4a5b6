// SPDX-License-Identifier: LGPL-2.1-or-later
// A simulated core that several threads may want at once. Each gets an equal part of it while they do (processor
// sharing: a fair scheduler with short slices, seen from far away), so n threads that compute for t each are done after
// n t. A core that has got less to do takes over from its neighbours, as the kernel's load balancing does.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/base/timeline.h"
#include "runtime/engine/scheduler.h"

namespace umwelt::engine
{

class Core;

// Where a thread computes.
struct CoreBinding {
  unsigned core = 0;             // number of the core within its node
  std::vector<unsigned> allowed; // numbers of those it may use, ascending
};

// The other cores of a node.
class Neighbours
{
public:
  unsigned crowded = 0; // those that more than one compute on

  // Somebody has stopped computing on `core`; asked for only while some are crowded.
  virtual void relieved(Core& core) = 0;

protected:
  ~Neighbours() = default;
};

class Core
{
public:
  explicit Core(Scheduler& scheduler, Neighbours* neighbours = nullptr) : scheduler_(scheduler), neighbours_(neighbours)
  {
  }
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  struct Burst {
    Actor* actor = nullptr;
    SimTime begin = 0; // both on the core's own clock
    SimTime end = sim::never;
    bool done = false;
    CoreBinding* place = nullptr; // null: it stays where it is
  };

  // The running actor computes for `work` (ps of a core that it has for itself) and returns when it is done, perhaps on
  // another core if it has a place.
  void spend(SimTime work, CoreBinding* place = nullptr);
  // The same in two steps, for work whose amount is not known before it is done: it computes from begin() on, and
  // finish() returns when that has been `work`.
  void begin(Burst& burst, CoreBinding* place = nullptr);
  void finish(Burst& burst, SimTime work);
  // What has begun counts for nothing.
  void drop(const Burst& burst);
  // Actors that compute on it now.
  [[nodiscard]] std::size_t load() const { return active_.size(); }
  // The actor was killed: it computes no more.
  void forget(const Actor& actor);
  // Goes on with a burst of `from`, the one that began last, if there is one that may use core `number`: this one.
  // Returns whether.
  bool take_over(Core& from, unsigned number);

private:
  struct Completion final : sim::Event {
    explicit Completion(Core& c) : core(c) {}
    void fire() override { core.complete(); }
    Core& core;
  };

  void await(const Burst& burst);
  void advance();
  void plan();
  void complete();
  void relieved();
  void count();

  Scheduler& scheduler_;
  Neighbours* neighbours_;
  std::vector<Burst*> active_;
  bool crowded_ = false;
  // The core's own clock runs at 1/n of simulated time while n bursts share it.
  SimTime progress_ = 0;
  SimTime remainder_ = 0; // of the division by n, not yet in progress_
  SimTime updated_ = 0;
  Completion completion_{*this};
};

} // namespace umwelt::engine
