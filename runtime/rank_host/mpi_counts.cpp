// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/rank_host/mpi_counts.h"

#include <cstddef>
#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "preload/abi/gate.h"
#include "runtime/diagnose/symbols.h"
#include "runtime/mpi/totals.h"
#include "runtime/rank_host/rank_host.h"

namespace umwelt::rank_host
{

namespace
{

constexpr std::size_t most_text = 64 << 10; // at a time; lines are shorter

mpi::Totals totals_of(const umw_mpi_counts& counted)
{
  mpi::Totals totals;
  const auto add = [&](const umw_mpi_count& entry, const mpi::Count& count) {
    const std::uint32_t function = UMW_MPI_FUNCTION_OF(entry.what);
    const std::uint64_t detail = UMW_MPI_DETAIL_OF(entry.what);
    switch (UMW_MPI_KIND_OF(entry.what)) {
    case UMW_MPI_COUNT_SITE:
      totals.sites[{function, diagnose::describe(diagnose::symbol_at(detail - 1), 1)}] += count;
      break;
    case UMW_MPI_COUNT_SIZE:
      totals.sizes[{function, static_cast<std::uint32_t>(detail)}] += count;
      break;
    case UMW_MPI_COUNT_PEER:
      totals.peers[static_cast<std::uint32_t>(detail)] += count;
      break;
    case UMW_MPI_COUNT_COMMUNICATOR:
      totals.communicators[{&counted.labels[detail][0], function}] += count;
      break;
    default:
      break;
    }
  };
  for (std::uint64_t i = 0; i < counted.capacity; ++i)
    add(counted.counts[i], {counted.counts[i].calls, counted.counts[i].bytes});
  for (std::uint64_t i = 0; i < counted.timed_capacity; ++i) {
    const umw_mpi_timed_count& timed = counted.timed[i];
    add(timed.count, {timed.count.calls, timed.count.bytes, timed.time_ps, timed.waited_ps, timed.late_ps});
  }
  return totals;
}

} // namespace

void tell_mpi_totals(RankHost& rank_host, Thread& thread)
{
  umw_gate& gate = thread.rank.gate;
  if (gate.mpi_counts == nullptr)
    return;
  const std::string text = mpi::totals_text(totals_of(*gate.mpi_counts));
  gate.mpi_counts = nullptr;
  for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end) {
    end = begin + most_text < text.size() ? text.rfind('\n', begin + most_text) + 1 : text.size();
    const std::string part = text.substr(begin, end - begin);
    umw_args_umw_mpi_totals arguments{0, part.c_str()};
    rank_host.request(thread, UMW_OP_umw_mpi_totals, &arguments);
  }
}

} // namespace umwelt::rank_host
