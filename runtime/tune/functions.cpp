// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/tune/functions.h"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runtime/base/nearest.h"
#include "runtime/base/usage_error.h"

namespace umwelt::tune
{
namespace
{

// Sizes of gather and scatter are not told apart, though both libraries would: a root with MPI_IN_PLACE, and in Open
// MPI all ranks but the root of a scatter, look at a count that has no meaning. Scans: Open MPI takes the size of the
// type for that of the vector, MPICH refuses. alltoallv: each rank has a sum of its own, Open MPI takes 0.
constexpr auto table = std::to_array<Function>({
    {"allgather", 0, Looks::at_bytes_of_all_ranks, Looks::at_bytes_of_all_ranks, "Allgather", 1},
    {"allgatherv", 1, Looks::at_bytes, Looks::at_bytes_of_all_ranks, "Allgatherv", 1},
    {"allreduce", 2, Looks::at_bytes, Looks::at_bytes, "Allreduce", 0},
    {"alltoall", 3, Looks::at_bytes_of_all_ranks, Looks::at_bytes, "Alltoall", 2},
    {"alltoallv", 4, Looks::nothing, Looks::nothing, "Alltoallv", 2},
    {"barrier", 6, Looks::nothing, Looks::nothing, "Barrier", 0, false},
    {"bcast", 7, Looks::at_bytes, Looks::at_bytes, "Bcast", 0},
    {"exscan", 8, Looks::nothing, Looks::nothing, "Exscan", 0},
    {"gather", 9, Looks::nothing, Looks::nothing, "Gather", 1},
    {"reduce", 11, Looks::at_bytes, Looks::at_bytes, "Reduce", 0},
    {"reduce_scatter", 12, Looks::at_bytes_of_all_ranks, Looks::at_bytes_of_all_ranks, "Reduce_scatter", 1},
    {"reduce_scatter_block", 13, Looks::at_bytes_of_all_ranks, Looks::at_bytes_of_all_ranks, "Reduce_scatter_block", 1},
    {"scan", 14, Looks::nothing, Looks::nothing, "Scan", 0},
    {"scatter", 15, Looks::nothing, Looks::nothing, "Scatter", 1},
});

struct Algorithm {
  std::string_view function;
  std::string_view name;
};

constexpr auto segmented = std::to_array<Algorithm>({
    {"allreduce", "segmented_ring"},
    {"bcast", "chain"},
    {"bcast", "pipeline"},
    {"bcast", "split_binary_tree"},
    {"bcast", "binary_tree"},
    {"bcast", "binomial"},
    {"bcast", "knomial"},
    {"reduce", "chain"},
    {"reduce", "pipeline"},
    {"reduce", "binary"},
    {"reduce", "binomial"},
    {"reduce", "in-order_binary"},
});

constexpr auto chained = std::to_array<Algorithm>({{"bcast", "chain"}, {"reduce", "chain"}});

bool is_among(std::span<const Algorithm> list, std::string_view function, std::string_view name)
{
  return std::any_of(list.begin(), list.end(),
                     [&](const Algorithm& one) { return one.function == function && one.name == name; });
}

} // namespace

std::span<const Function> functions()
{
  return table;
}

const Function& known_function(std::string_view name)
{
  const auto found = std::find_if(table.begin(), table.end(), [&](const Function& one) { return one.name == name; });
  if (found != table.end())
    return *found;
  std::vector<std::string_view> names;
  names.reserve(table.size());
  for (const Function& one : table)
    names.push_back(one.name);
  throw UsageError(fmt::format("--functions: {}", in_quotes(name)), fmt::format("some of {}", fmt::join(names, " ")),
                   "another name",
                   fmt::format("The nearest known one is {}; nonblocking functions have no algorithms to choose.",
                               nearest(name, names)));
}

bool takes_segments(std::string_view function, std::string_view algorithm)
{
  return is_among(segmented, function, algorithm);
}

bool takes_fanout(std::string_view function, std::string_view algorithm)
{
  return is_among(chained, function, algorithm);
}

} // namespace umwelt::tune
