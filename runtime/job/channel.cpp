// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/channel.h"

#include <utility>

#include "runtime/job/job.h"
#include "runtime/job/rank.h"
#include "runtime/job/thread.h"
#include "runtime/worker/workers.h"

namespace umwelt::job
{

namespace
{
constexpr std::int64_t look_up = 100'000'000; // ns; a request of the user may have come in between
constexpr std::int64_t a_moment = 20'000;     // ns
} // namespace

Channel::Channel(Thread& thread, unsigned worker, unsigned slot)
    : thread_(thread), worker_(worker), slot_number_(slot), slot_(thread.rank.job.workers()->board().slot(worker, slot))
{
  thread_.rank.job.connect(*this);
}

Channel::~Channel()
{
  thread_.rank.job.disconnect(*this);
}

void Channel::live()
{
  go_on(worker::Slot::Turn::go_on);
  if (thread_.number == 0)
    thread_.rank.job.scheduler().yield(); // the others begin, too: nothing that they do yet can be seen by others
  converse();
  __builtin_unreachable();
}

bool Channel::deliver_pending()
{
  go_on(worker::Slot::Turn::deliver);
  return converse();
}

bool Channel::overlaps() const
{
  return rank_host::Cpu::measures(thread_.rank.gate.clock) && thread_.rank.phase == Rank::Phase::running;
}

// Serves what the thread asks for until it says that handlers have run.
bool Channel::converse()
{
  Rank& rank = thread_.rank;
  engine::Scheduler& scheduler = rank.job.scheduler();
  for (;;) {
    await();
    if (slot_.turn == worker::Slot::Turn::delivered) {
      release_gate();
      drop_burst();
      return slot_.result != 0;
    }
    const bool others_first = rank.job.server().serve(rank, slot_.operation, slot_.arguments, slot_.burst);
    if (!others_first || overlaps()) {
      go_on(worker::Slot::Turn::go_on);
    } else if (rank.threads.size() == 1 &&
               rank.gate.local_ranks == 1) { // nobody before it can touch its memory, or its node's files
      go_on(worker::Slot::Turn::go_on);
      scheduler.yield();
    } else {
      scheduler.yield();
      go_on(worker::Slot::Turn::go_on);
    }
  }
}

void Channel::go_on(worker::Slot::Turn how)
{
  Job& job = thread_.rank.job;
  take_gate();
  thread_.rank.leave();
  slot_.turn = how;
  slot_.computed.store(0, std::memory_order_relaxed);
  arrived_ = false;
  if (overlaps()) {
    began_ = earliest_ = job.scheduler().now();
    thread_.choose_core();
    job.cores().at(thread_.rank.node, thread_.place.core).begin(burst_, &thread_.place);
    computing_ = true;
  }
  job.workers()->release(worker_, slot_number_, thread_.rank.gate.no_switch != 0);
}

// Time does not go on to earliest_ until it is woken.
void Channel::block_absent()
{
  Job& job = thread_.rank.job;
  job.begin_absence(*this);
  away_ = true;
  job.scheduler().block();
  away_ = false;
  job.end_absence(*this);
}

void Channel::take_gate()
{
  Rank& rank = thread_.rank;
  if (rank.computing == nullptr) {
    rank.computing = this;
    return;
  }
  const SimTime debt = std::exchange(rank.gate.clock.debt_ps, 0); // this thread's own
  earliest_ = rank.job.scheduler().now();
  rank.to_compute.push_back(this);
  rank.call_in();
  while (rank.computing != this)
    block_absent();
  rank.gate.clock.debt_ps = debt;
}

void Channel::release_gate()
{
  Rank& rank = thread_.rank;
  if (rank.computing != this)
    return;
  rank.computing = nullptr;
  if (rank.to_compute.empty())
    return;
  rank.computing = rank.to_compute.front();
  rank.to_compute.pop_front();
  rank.job.scheduler().wake(*rank.computing->thread_.actor);
}

void Channel::await()
{
  Job& job = thread_.rank.job;
  if (computing_)
    while (!arrived_)
      block_absent();
  else
    while (!arrived_ && !job.scheduler().stopping()) {
      if (job.not_switching(worker_) > 0) // it is not the worker process's turn to run this one
        job.scheduler().yield();
      job.hear_from_workers(job.not_switching(worker_) > 0 ? a_moment : look_up);
    }
  if (!arrived_)
    job.abandon();
  if (std::exchange(holds_worker_, false))
    --job.not_switching(worker_);
}

void Channel::arrive()
{
  arrived_ = true;
  if (!holds_worker_ && thread_.rank.gate.no_switch != 0) {
    holds_worker_ = true;
    ++thread_.rank.job.not_switching(worker_);
  }
  if (away_)
    thread_.rank.job.scheduler().wake(*thread_.actor);
}

void Channel::close()
{
  closed_ = true;
  if (std::exchange(away_, false))
    thread_.rank.job.end_absence(*this);
  if (std::exchange(holds_worker_, false))
    --thread_.rank.job.not_switching(worker_);
  drop_burst();
  std::erase(thread_.rank.to_compute, this); // or it would be given the gate, and keep it
  release_gate();
}

SimTime Channel::finish_burst(SimTime work)
{
  computing_ = false;
  thread_.rank.job.cores().at(thread_.rank.node, thread_.place.core).finish(burst_, work);
  return began_;
}

SimTime Channel::drop_burst()
{
  if (!std::exchange(computing_, false))
    return 0;
  Job& job = thread_.rank.job;
  job.cores().at(thread_.rank.node, thread_.place.core).drop(burst_);
  return job.scheduler().now() - began_;
}

SimTime Channel::earliest(SimTime enough)
{
  const Rank& rank = thread_.rank;
  if (earliest_ < enough) {
    const SimTime before = slot_.computed.load(std::memory_order_acquire); // read first: its turn may end at any moment
    const SimTime used = rank.job.workers()->computed(worker_, slot_number_) * sim::nanosecond;
    earliest_ = began_ + before +
                static_cast<SimTime>(static_cast<double>(rank.job.cpu().least_charge(rank.gate.clock, used)) /
                                     rank.gate.clock.speed);
  }
  return earliest_;
}

} // namespace umwelt::job
