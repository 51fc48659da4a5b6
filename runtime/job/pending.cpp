// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/pending.h"

#include <algorithm>

namespace umwelt::job
{

namespace
{
constexpr int first_real_time = 32; // to the kernel; the C library keeps two of them to itself
}

bool Pending::add(const siginfo_t& information)
{
  if (information.si_signo < first_real_time && (signals_ & set_of(information.si_signo)) != 0)
    return false;
  queue_.push_back(information);
  signals_ |= set_of(information.si_signo);
  return true;
}

bool Pending::take(SignalSet wanted, siginfo_t& information)
{
  if ((signals_ & wanted) == 0)
    return false;
  const int lowest = __builtin_ctzll(signals_ & wanted) + 1;
  const auto first =
      std::find_if(queue_.begin(), queue_.end(), [lowest](const siginfo_t& info) { return info.si_signo == lowest; });
  information = *first;
  queue_.erase(first);
  update();
  return true;
}

void Pending::discard(SignalSet unwanted)
{
  std::erase_if(queue_, [unwanted](const siginfo_t& info) { return (set_of(info.si_signo) & unwanted) != 0; });
  update();
}

bool Pending::has_timer(int id) const
{
  return std::any_of(queue_.begin(), queue_.end(),
                     [id](const siginfo_t& info) { return info.si_code == SI_TIMER && info.si_timerid == id; });
}

void Pending::update()
{
  signals_ = 0;
  for (const siginfo_t& info : queue_)
    signals_ |= set_of(info.si_signo);
}

} // namespace umwelt::job
