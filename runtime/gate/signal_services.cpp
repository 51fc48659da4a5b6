// SPDX-License-Identifier: LGPL-2.1-or-later
// Simulated signals: the kernel is not asked, since a rank is no process of its own.
#include "runtime/gate/services.h"

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <utility>

#include <unistd.h>

#include "runtime/gate/deadline.h"
#include "runtime/job/job.h"
#include "runtime/job/rank.h"

namespace umwelt::gate::services
{

using job::Rank;

int umw_signal_send(Rank& rank, int pid, int tid, int number, int code, std::uint64_t value)
{
  Rank* target = rank.job.find_rank(rank.node, pid);
  if (target == nullptr)
    return -ESRCH;
  job::Thread* thread = tid == 0 ? nullptr : rank.job.find_thread(*target, tid);
  if (tid != 0 && thread == nullptr)
    return -ESRCH;
  if (number == 0)
    return 0;
  siginfo_t information{};
  information.si_signo = number;
  information.si_code = code;
  information.si_pid = rank.gate.pid;
  information.si_uid = getuid();
  if (code != SI_USER && code != SI_TKILL)
    information.si_value.sival_ptr = reinterpret_cast<void*>(value);
  target->send_signal(information, thread);
  return 0;
}

int umw_signal_take(Rank& rank, int restore, std::uint64_t* mask, void* information)
{
  job::Thread& thread = rank.running();
  if (restore != 0)
    thread.blocked = *mask;
  if (!rank.signal_due(thread))
    return 0;
  *mask = thread.blocked;
  const int number = rank.take_signal(~thread.blocked, *static_cast<siginfo_t*>(information));
  thread.blocked = job::all_signals;
  return number;
}

int umw_signal_mask(Rank& rank, int how, const std::uint64_t* set, std::uint64_t* old)
{
  job::Thread& thread = rank.running();
  const job::SignalSet before = thread.blocked;
  if (set != nullptr) {
    const job::SignalSet changed = *set & ~(job::set_of(SIGKILL) | job::set_of(SIGSTOP));
    switch (how) {
    case SIG_BLOCK:
      thread.blocked |= changed;
      break;
    case SIG_UNBLOCK:
      thread.blocked &= ~changed;
      break;
    case SIG_SETMASK:
      thread.blocked = changed;
      break;
    default:
      return -EINVAL;
    }
  }
  if (old != nullptr)
    *old = before;
  return 0;
}

std::uint64_t umw_signal_pending(Rank& rank, int)
{
  const job::Thread& thread = rank.running();
  return (thread.pending.signals() | rank.pending.signals()) & thread.blocked;
}

int umw_signal_ignore(Rank& rank, std::uint64_t set)
{
  rank.ignore_signals(set);
  return 0;
}

int umw_signal_wait(Rank& rank, std::uint64_t wanted, std::int64_t duration, void* information)
{
  job::Thread& thread = rank.running();
  siginfo_t taken{};
  int number = rank.take_signal(wanted, taken);
  if (number == 0 && duration != 0 && !rank.signal_due(thread) && !std::exchange(thread.cancelled, false)) {
    thread.waits_for = wanted;
    rank.wait(deadline(rank, duration));
    thread.waits_for = 0;
    number = rank.take_signal(wanted, taken);
  }
  if (number != 0 && information != nullptr)
    *static_cast<siginfo_t*>(information) = taken;
  return number;
}

} // namespace umwelt::gate::services
