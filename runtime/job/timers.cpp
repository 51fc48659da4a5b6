// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/timers.h"

#include <algorithm>
#include <cerrno>
#include <limits>

#include "preload/abi/time_units.h"

namespace umwelt::job
{

namespace
{
// Of a timer that is armed, but will not expire as long as the simulation can count.
constexpr SimTime far = sim::never - 1;

SimTime time_after(SimTime now, SimTime duration)
{
  return std::min(umw_time_after(now, duration), far);
}
} // namespace

Timers::Timer* Timers::find(int id) const
{
  return id >= 0 && static_cast<std::size_t>(id) < timers_.size() ? timers_[static_cast<std::size_t>(id)].get()
                                                                  : nullptr;
}

int Timers::create(bool on_cpu_time, Notice notice)
{
  const auto place = std::find(timers_.begin(), timers_.end(), nullptr);
  notice.id = static_cast<int>(place - timers_.begin());
  auto timer = std::make_unique<Timer>(*this, on_cpu_time, notice);
  if (place == timers_.end())
    timers_.push_back(std::move(timer));
  else
    *place = std::move(timer);
  return notice.id;
}

int Timers::set(int id, bool absolute, SimTime value, SimTime interval, Setting& old)
{
  Timer* timer = find(id);
  if (timer == nullptr)
    return -EINVAL;
  get(id, old);
  timer->next = value == 0 ? sim::never : absolute ? time_after(0, value) : time_after(now(*timer), value);
  timer->interval = interval;
  timer->missed = timer->overrun = 0;
  plan(*timer);
  if (timer->on_cpu_time && absolute)
    cpu_passed();
  return 0;
}

// One that says nothing is no reason for the simulation to go on.
void Timers::plan(Timer& timer)
{
  if (timer.next >= far || timer.on_cpu_time || timer.silent())
    timeline_.cancel(timer);
  else
    timeline_.schedule(timer, timer.next);
}

int Timers::get(int id, Setting& setting) const
{
  const Timer* timer = find(id);
  if (timer == nullptr)
    return -EINVAL;
  setting = {0, timer->interval};
  if (timer->next == sim::never)
    return 0;
  SimTime left = timer->next - now(*timer);
  if (left <= 0 && timer->silent())
    left = timer->interval == 0 ? 0 : timer->interval - -left % timer->interval;
  else
    left = std::max<SimTime>(left, sim::nanosecond); // armed, and about to expire
  setting.left = left;
  return 0;
}

int Timers::overrun(int id) const
{
  const Timer* timer = find(id);
  return timer == nullptr ? -EINVAL : timer->overrun;
}

int Timers::taken(int id)
{
  Timer* timer = find(id);
  if (timer == nullptr)
    return 0;
  timer->overrun = timer->missed;
  timer->missed = 0;
  return timer->overrun;
}

int Timers::remove(int id)
{
  Timer* timer = find(id);
  if (timer == nullptr)
    return -EINVAL;
  timeline_.cancel(*timer);
  timers_[static_cast<std::size_t>(id)].reset();
  return 0;
}

int Timers::descriptor(int id) const
{
  const Timer* timer = find(id);
  return timer == nullptr ? -1 : timer->notice.fd;
}

void Timers::stop()
{
  for (const auto& timer : timers_)
    if (timer) {
      timer->next = sim::never;
      timeline_.cancel(*timer);
    }
}

void Timers::expired(Timer& timer)
{
  std::uint64_t count = 1;
  if (timer.interval > 0) {
    count += static_cast<std::uint64_t>((now(timer) - timer.next) / timer.interval);
    timer.next = time_after(timer.next, static_cast<SimTime>(count) * timer.interval);
  } else {
    timer.next = sim::never;
  }
  plan(timer);
  const bool sent = notify_(timer.notice, count);
  const std::uint64_t missed = static_cast<std::uint64_t>(timer.missed) + (sent ? count - 1 : count);
  timer.missed = static_cast<int>(std::min<std::uint64_t>(missed, std::numeric_limits<int>::max()));
}

void Timers::cpu_passed()
{
  for (const auto& timer : timers_)
    if (timer && timer->on_cpu_time && !timer->silent() && timer->next <= cpu_)
      expired(*timer);
}

SimTime Timers::cpu_left() const
{
  SimTime left = sim::never;
  for (const auto& timer : timers_)
    if (timer && timer->on_cpu_time && !timer->silent() && timer->next != sim::never)
      left = std::min(left, std::max<SimTime>(timer->next - cpu_, 0));
  return left;
}

bool Timers::armed() const
{
  return std::any_of(timers_.begin(), timers_.end(),
                     [](const auto& timer) { return timer != nullptr && timer->next != sim::never; });
}

} // namespace umwelt::job
