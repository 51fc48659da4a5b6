// SPDX-License-Identifier: LGPL-2.1-or-later
// Timers of a rank: alarm, setitimer, timer_create and timerfd_create, in simulated time or on the rank's simulated CPU
// time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "runtime/base/timeline.h"

namespace umwelt::job
{

using sim::SimTime;

class Timers
{
public:
  // What an expiry does: a signal (0: none), or a count added to an eventfd (fd not negative).
  struct Notice {
    int id;
    int signal;
    int code;         // si_code
    std::int32_t tid; // 0: the process
    std::uint64_t value;
    int fd;
  };
  struct Setting {
    SimTime left;     // until it expires next; 0: it does not
    SimTime interval; // 0: only once
  };

  // `notify` is called on expiry; false: what the last one sent has not been taken yet. `cpu` is the rank's CPU time
  // (ps).
  Timers(sim::Timeline& timeline, const std::int64_t& cpu,
         std::function<bool(const Notice&, std::uint64_t count)> notify)
      : timeline_(timeline), cpu_(cpu), notify_(std::move(notify))
  {
  }

  // Numbers start from 0 and are reused.
  int create(bool on_cpu_time, Notice notice);
  // `value` 0 disarms; `absolute`: a time, else from now on. Negative errno.
  int set(int id, bool absolute, SimTime value, SimTime interval, Setting& old);
  int get(int id, Setting& setting) const;
  // Expiries that sent nothing of their own between that of the signal taken last and its being taken,
  // timer_getoverrun(2).
  [[nodiscard]] int overrun(int id) const;
  // The signal of the timer is taken: its overrun.
  int taken(int id);
  int remove(int id);
  [[nodiscard]] int descriptor(int id) const; // -1: none
  void stop();                                // all of them, for good
  [[nodiscard]] bool armed() const;           // one or more will expire

  // CPU time has gone by.
  void cpu_passed();
  // CPU time until one of the timers on it expires; sim::never: there is none.
  [[nodiscard]] SimTime cpu_left() const;

private:
  struct Timer final : sim::Event {
    Timer(Timers& t, bool cpu, const Notice& n) : timers(t), on_cpu_time(cpu), notice(n) {}
    void fire() override { timers.expired(*this); }
    [[nodiscard]] bool silent() const { return notice.signal == 0 && notice.fd < 0; }

    Timers& timers;
    const bool on_cpu_time;
    const Notice notice;
    SimTime next = sim::never;
    SimTime interval = 0;
    int missed = 0;
    int overrun = 0;
  };

  [[nodiscard]] Timer* find(int id) const;
  [[nodiscard]] SimTime now(const Timer& timer) const { return timer.on_cpu_time ? cpu_ : timeline_.now(); }
  void expired(Timer& timer);
  void plan(Timer& timer);

  sim::Timeline& timeline_;
  const std::int64_t& cpu_;
  std::function<bool(const Notice&, std::uint64_t count)> notify_;
  std::vector<std::unique_ptr<Timer>> timers_;
};

} // namespace umwelt::job
