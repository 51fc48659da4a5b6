// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/interruption.h"

#include <unistd.h>

#include "runtime/base/exit_codes.h"
#include "runtime/diagnose/fatal.h"

namespace umwelt::job
{

namespace
{
constexpr std::time_t progress_timeout = 60;     // s
constexpr std::time_t second_signal_timeout = 2; // who asks twice
} // namespace

bool Interruption::ask(int signal, const Thread* interrupted, const ucontext_t* context)
{
  if (signal_ != 0) {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (now.tv_sec - moved_.tv_sec > (signal == SIGALRM ? progress_timeout : second_signal_timeout))
      give_up();
    return false;
  }
  interrupted_ = interrupted;
  if (context != nullptr)
    context_ = *context;
  moves();
  signal_ = signal;
  return true;
}

int Interruption::exit_code() const
{
  return is_timeout() ? exit_code::timeout : exit_code::signalled + signal_;
}

void Interruption::moves()
{
  clock_gettime(CLOCK_MONOTONIC, &moved_);
}

void Interruption::give_up() const
{
  diagnose::write_raw(is_timeout() ? "umwelt: --timeout ran out, and " : "umwelt: the run was asked to end, and ");
  diagnose::write_raw(
      "does not come to its end, so there is no summary. Next step: look what blocks its output; if nothing "
      "does, this is a bug of Umwelt\n");
  _exit(exit_code());
}

} // namespace umwelt::job
