// SPDX-License-Identifier: LGPL-2.1-or-later
// A simulated core that several threads may want at once. Each gets an equal part of it while they do (processor sharing: a
// fair scheduler with short slices, seen from far away), so n threads that compute for t each are done after n t.
#pragma once

#include <cstddef>
#include <vector>

#include "net_models/core/timeline.h"
#include "runtime/engine/scheduler.h"

namespace umwelt::engine
{

class Core
{
public:
  explicit Core(Scheduler& scheduler) : scheduler_(scheduler) {}
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  struct Burst {
    Actor* actor = nullptr;
    SimTime begin = 0; // both on the core's own clock
    SimTime end = sim::never;
    bool done = false;
  };

  // The running actor computes for `work` (ps of a core that it has for itself) and returns when it is done.
  void spend(SimTime work);
  // The same in two steps, for work whose amount is not known before it is done: it computes from begin() on, and finish() returns
  // when that has been `work`.
  void begin(Burst& burst);
  void finish(Burst& burst, SimTime work);
  // What has begun counts for nothing.
  void drop(const Burst& burst);
  // Actors that compute on it now.
  [[nodiscard]] std::size_t load() const { return active_.size(); }
  // The actor was killed: it computes no more.
  void forget(const Actor& actor);

private:
  struct Completion final : sim::Event {
    explicit Completion(Core& c) : core(c) {}
    void fire() override { core.complete(); }
    Core& core;
  };

  void advance();
  void plan();
  void complete();

  Scheduler& scheduler_;
  std::vector<Burst*> active_;
  // The core's own clock runs at 1/n of simulated time while n bursts share it.
  SimTime progress_ = 0;
  SimTime remainder_ = 0; // of the division by n, not yet in progress_
  SimTime updated_ = 0;
  Completion completion_{*this};
};

} // namespace umwelt::engine
