// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/rank_host/preemption.h"

#include <cstdint>

#include "loader/elf_file.h"
#include "runtime/rank_host/machine_context.h"
#include "runtime/rank_host/rank_host.h"
#include "runtime/rank_host/signals.h"

// The linker's: where the code of this executable lies.
extern "C" const char __executable_start; // NOLINT
extern "C" const char etext;              // NOLINT

namespace umwelt::rank_host
{

bool no_preempt(const Thread& thread, const ucontext_t& context)
{
  const umw_gate& gate = thread.rank.gate;
  if (gate.running == 0 || gate.no_preempt != 0 || gate.paused != 0 || RankHost::must_not_switch() ||
      Signals::on_stack(static_cast<std::uintptr_t>(context.uc_mcontext.gregs[REG_RSP])))
    return true;
  const std::uintptr_t pc = pc_of(context);
  // Signal handlers of this executable, on their way in or out: steps would end with the handler.
  const loader::AddressRange own_code{reinterpret_cast<std::uintptr_t>(&__executable_start),
                                      reinterpret_cast<std::uintptr_t>(&etext)};
  return own_code.contains(pc) || loader::lies_in(pc, thread.rank.uninterruptible);
}

bool may_hold_lock(const Thread& thread, const ucontext_t& context)
{
  const Rank& rank = thread.rank;
  const bool shares_linker = !rank.of_process.empty();
  return (rank.threads.size() > 1 || shares_linker) && loader::lies_in(pc_of(context), rank.locking);
}

} // namespace umwelt::rank_host
