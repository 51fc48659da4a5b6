// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/engine/core.h"

#include <algorithm>

namespace umwelt::engine
{

void Core::advance()
{
  const SimTime now = scheduler_.now();
  if (!active_.empty()) {
    const auto sharers = static_cast<SimTime>(active_.size());
    const SimTime elapsed = now - updated_ + remainder_;
    progress_ += elapsed / sharers;
    remainder_ = elapsed % sharers;
  }
  updated_ = now;
}

// The next burst to end is the one with the least work left.
void Core::plan()
{
  scheduler_.timeline().cancel(completion_);
  if (active_.empty()) {
    progress_ = remainder_ = 0;
    return;
  }
  const auto first =
      std::min_element(active_.begin(), active_.end(), [](const Burst* a, const Burst* b) { return a->end < b->end; });
  if ((*first)->end == sim::never)
    return;
  const SimTime left = ((*first)->end - progress_) * static_cast<SimTime>(active_.size()) - remainder_;
  scheduler_.timeline().schedule(completion_, updated_ + std::max<SimTime>(left, 0));
}

void Core::complete()
{
  advance();
  std::erase_if(active_, [this](Burst* burst) {
    if (burst->end > progress_)
      return false;
    burst->done = true;
    scheduler_.wake(*burst->actor);
    return true;
  });
  plan();
}

void Core::spend(SimTime work)
{
  if (active_.empty() && scheduler_.pass(work))
    return;
  Burst burst;
  begin(burst);
  finish(burst, work);
}

void Core::begin(Burst& burst)
{
  advance();
  burst = {scheduler_.current(), progress_};
  active_.push_back(&burst);
  plan();
}

void Core::finish(Burst& burst, SimTime work)
{
  advance();
  burst.end = burst.begin + work;
  plan();
  while (!burst.done)
    scheduler_.block();
}

void Core::drop(const Burst& burst)
{
  advance();
  std::erase(active_, &burst);
  plan();
}

void Core::forget(const Actor& actor)
{
  advance();
  if (std::erase_if(active_, [&actor](const Burst* burst) { return burst->actor == &actor; }) > 0)
    plan();
}

} // namespace umwelt::engine
