// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/own_process.h"

#include <unistd.h>

#include "runtime/job/job.h"

namespace umwelt::job
{

rank_host::Thread* OwnProcess::running() const
{
  const engine::Actor* actor = job_.scheduler().current();
  return actor != nullptr ? static_cast<Thread*>(actor->owner)->here : nullptr;
}

void OwnProcess::request(rank_host::Thread& thread, std::uint32_t operation, void* arguments)
{
  const rank_host::Burst burst = end_burst(thread);
  Rank& rank = *job_.current();
  // At the end of a run a rank whose calls take no time would not come to where that is seen.
  if (job_.server().serve(rank, operation, arguments, burst) || job_.scheduler().stopping())
    job_.scheduler().yield();
  rank.leave();
}

void OwnProcess::on_request(int signal, const ucontext_t* context)
{
  job_.interrupt(signal, context);
  alarm(1); // to see whether it gets there
  if (context != nullptr)
    job_.abandon();
}

void OwnProcess::on_own_fault(int signal, const siginfo_t& information, const ucontext_t& context)
{
  job_.failed(signal, information, context);
}

} // namespace umwelt::job
