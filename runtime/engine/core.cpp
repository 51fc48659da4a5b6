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

void Core::count()
{
  if (neighbours_ == nullptr || crowded_ == (active_.size() > 1))
    return;
  crowded_ = !crowded_;
  neighbours_->crowded += crowded_ ? 1U : -1U;
}

// The next burst to end is the one with the least work left.
void Core::plan()
{
  count();
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
  relieved();
}

void Core::relieved()
{
  if (neighbours_ != nullptr && neighbours_->crowded > 0)
    neighbours_->relieved(*this);
}

bool Core::take_over(Core& from, unsigned number)
{
  advance();
  from.advance();
  const auto found = std::find_if(from.active_.rbegin(), from.active_.rend(), [&from, number](const Burst* burst) {
    return burst->place != nullptr && burst->end > from.progress_ &&
           std::binary_search(burst->place->allowed.begin(), burst->place->allowed.end(), number);
  });
  if (found == from.active_.rend())
    return false;
  Burst& burst = **found;
  from.active_.erase(std::next(found).base());
  const SimTime shift = progress_ - from.progress_;
  burst.begin += shift;
  if (burst.end != sim::never)
    burst.end += shift;
  burst.place->core = number;
  active_.push_back(&burst);
  from.plan();
  plan();
  return true;
}

void Core::spend(SimTime work, CoreBinding* place)
{
  if (active_.empty() && scheduler_.pass(work)) {
    relieved();
    return;
  }
  advance();
  Burst burst{scheduler_.current(), progress_, progress_ + work, false, place};
  active_.push_back(&burst);
  plan();
  await(burst);
}

void Core::begin(Burst& burst, CoreBinding* place)
{
  advance();
  burst = {scheduler_.current(), progress_, sim::never, false, place};
  active_.push_back(&burst);
  plan();
}

void Core::finish(Burst& burst, SimTime work)
{
  advance();
  burst.end = burst.begin + work;
  plan();
  await(burst);
}

void Core::await(const Burst& burst)
{
  while (!burst.done)
    scheduler_.block();
}

void Core::drop(const Burst& burst)
{
  advance();
  std::erase(active_, &burst);
  plan();
  relieved();
}

void Core::forget(const Actor& actor)
{
  advance();
  if (std::erase_if(active_, [&actor](const Burst* burst) { return burst->actor == &actor; }) == 0)
    return;
  plan();
  relieved();
}

} // namespace umwelt::engine
