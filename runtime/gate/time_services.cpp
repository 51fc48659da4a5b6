// SPDX-License-Identifier: LGPL-2.1-or-later
// What passes or tells simulated time: sleeps, and timers that a rank has set.
#include "runtime/gate/services.h"

#include <algorithm>
#include <cstdint>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "preload/abi/time_units.h"
#include "runtime/job/job.h"
#include "runtime/job/rank.h"

namespace umwelt::gate::services
{

using job::Rank;
using sim::SimTime;

// Crossing has settled the burst.
std::int64_t umw_clock_settle(Rank& rank, int)
{
  return rank.job.scheduler().now();
}

int umw_clock_path(Rank&, int)
{
  return -ENOSYS; // rank_host::RankHost::call() has answered
}

std::int64_t umw_sleep(Rank& rank, std::int64_t duration)
{
  rank.allow_switch();
  engine::Scheduler& scheduler = rank.job.scheduler();
  const SimTime begin = scheduler.now();
  const SimTime until = umw_time_after(begin, duration);
  job::Thread& thread = rank.running();
  thread.sleeps = true;
  while (!rank.signal_due(thread) && !thread.cancelled && scheduler.now() < until)
    if (until == sim::never || !scheduler.pass(until - scheduler.now()))
      scheduler.block(until);
  thread.sleeps = thread.cancelled = false;
  if (scheduler.now() >= until)
    rank.job.timed_out(thread);
  return std::max<SimTime>(duration - (scheduler.now() - begin), 0);
}

int umw_yield(Rank& rank, int)
{
  rank.job.scheduler().yield();
  rank.job.polling().empty(rank);
  return 0;
}

int umw_timer_create(Rank& rank, int on_cpu_time, int number, int code, int tid, std::uint64_t value, int fd)
{
  if (tid != 0 && rank.job.find_thread(rank, tid) == nullptr)
    return -EINVAL;
  const int counter = fd < 0 ? -1 : rank.job.descriptor_of(rank, fd);
  if (fd >= 0 && counter < 0)
    return counter;
  return rank.timers.create(on_cpu_time != 0, {0, number, code, tid, value, counter});
}

int umw_timer_set(Rank& rank, int timer, int absolute, const std::int64_t* setting, std::int64_t* old)
{
  pollfd counter{rank.timers.descriptor(timer), POLLIN, 0};
  eventfd_t count = 0;
  if (counter.fd >= 0 && poll(&counter, 1, 0) == 1) // expiries of the former setting are forgotten, timerfd_create(2)
    eventfd_read(counter.fd, &count);
  job::Timers::Setting before{};
  const int status = rank.timers.set(timer, absolute != 0, setting[0], setting[1], before);
  if (status == 0 && old != nullptr) {
    old[0] = before.left;
    old[1] = before.interval;
  }
  return status;
}

int umw_timer_get(Rank& rank, int timer, std::int64_t* setting)
{
  job::Timers::Setting now{};
  const int status = rank.timers.get(timer, now);
  setting[0] = now.left;
  setting[1] = now.interval;
  return status;
}

int umw_timer_overrun(Rank& rank, int timer)
{
  return rank.timers.overrun(timer);
}

int umw_timer_delete(Rank& rank, int timer)
{
  const int counter = rank.timers.descriptor(timer);
  if (counter >= 0)
    close(counter);
  return rank.timers.remove(timer);
}

} // namespace umwelt::gate::services
