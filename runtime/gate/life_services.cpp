// SPDX-License-Identifier: LGPL-2.1-or-later
// The life of a rank: how it begins, becomes another program and ends, and what it tells the user on the way. Some are
// answered in the process that carries the rank and never come here; the table of services still wants a function.
#include "runtime/gate/services.h"

#include <cerrno>
#include <cstdint>
#include <exception>

#include <fmt/format.h>

#include "runtime/job/job.h"
#include "runtime/job/node_now.h"
#include "runtime/job/rank.h"
#include "runtime/kernels/calls.h"
#include "runtime/kernels/profile.h"

namespace umwelt::gate::services
{

using job::Rank;

int umw_not_loaded(Rank& rank, const char* message, int gave_up)
{
  rank.job.not_loaded(rank, message, gave_up != 0);
}

int umw_started(Rank& rank, int)
{
  rank.job.started(rank);
  return 0;
}

int umw_exit(Rank& rank, int status, int kind, const char* message)
{
  switch (kind) {
  case UMW_EXIT_ABORT:
    rank.job.aborted(rank, status, "MPI_Abort", message);
  case UMW_EXIT_PMI:
    rank.job.aborted(rank, status, "PMI_Abort", message);
  case UMW_EXIT_MISUSE:
    rank.job.misused(rank, message);
  default:
    rank.job.exited(rank, status);
  }
}

int umw_kernel_totals(Rank& rank, const char* text)
{
  if (!kernels::add_profile(rank.profile, text))
    kernels::add_totals(rank.kernels, text);
  return 0;
}

int umw_fold_totals(Rank& rank, const char* text)
{
  fold::add_totals(rank.folding, text);
  return 0;
}

int umw_mpi_totals(Rank& rank, const char* text)
{
  rank.mpi_calls.add(text);
  return 0;
}

int umw_mpi_events(Rank&, const void*, std::uint64_t)
{
  return -ENOSYS; // rank_host::RankHost::call() has answered
}

int umw_mpi_passed(Rank& rank, std::uint32_t function, int came_back, std::int64_t level)
{
  rank.job.passed(rank, function, came_back != 0, level);
  return 0;
}

int umw_exec_find(Rank&, const char*, const void*, const void*)
{
  return -ENOSYS; // rank_host::RankHost::call() has answered
}

int umw_exec(Rank&, int)
{
  return -ENOSYS; // likewise
}

int umw_exec_allowed(Rank& rank, int)
{
  return rank.job.may_change_program(rank);
}

int umw_exec_done(Rank& rank, const void* text, std::uint64_t size)
{
  rank.job.changed_program(rank, rank_host::ProgramChange::unpack({static_cast<const char*>(text), size}));
  return 0;
}

int umw_die(Rank&, int, const void*, const void*)
{
  return -ENOSYS; // rank_host::RankHost::call() has answered
}

int umw_died(Rank& rank, int number, const char* report)
{
  rank.job.died(rank, number, report);
}

int umw_warn(Rank& rank, const char* text)
{
  rank.job.warn(rank, text);
  return 0;
}

int umw_node_file(Rank& rank, const char* path)
{
  const rank_host::FileMask usual;
  try {
    rank.job.files().make(job::node_now(rank), path);
    return 0;
  } catch (const std::exception& error) {
    rank.job.warn(
        rank,
        fmt::format("{}: expected to make the node's own version of it, got: {}. Next step: see that there is room in "
                    "the directory for temporary files (TMPDIR)",
                    path, error.what()));
    return -EIO;
  }
}

int umw_file_mask(Rank&, int)
{
  return -ENOSYS; // rank_host::RankHost::call() has answered
}

int umw_change_directory(Rank&, const char*, int)
{
  return -ENOSYS; // rank_host::RankHost::call() has answered
}

} // namespace umwelt::gate::services
