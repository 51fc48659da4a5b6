// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/cli/cell_plan.h"

#include <algorithm>
#include <fmt/format.h>

#include "loader/namespace.h"

namespace umwelt::cli
{
namespace
{

constexpr auto capacity = static_cast<unsigned>(loader::Namespace::capacity);

unsigned ceiling(unsigned a, unsigned b)
{
  return (a + b - 1) / b;
}

std::string plural(unsigned count, std::string_view what)
{
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

class CellPlanner
{
public:
  CellPlanner(const CellWishes& wishes, unsigned jobs, std::span<const unsigned> program_of_rank,
              std::span<const CellProgram> programs)
      : wishes_(wishes), jobs_(jobs), program_of_rank_(program_of_rank), programs_(programs)
  {
    for (unsigned rank = 0; rank < ranks(); ++rank)
      (program_of(rank).alone.empty() ? ordinary_ : alone_).push_back(rank);
  }

  CellPlan plan()
  {
    if (wishes_.cells == 0)
      check_no_cells();
    else if (wishes_.cells || needs_cells())
      fill_cells();
    return std::move(result_);
  }

private:
  [[nodiscard]] unsigned ranks() const { return static_cast<unsigned>(program_of_rank_.size()); }
  [[nodiscard]] const CellProgram& program_of(unsigned rank) const { return programs_[program_of_rank_[rank]]; }
  [[nodiscard]] unsigned most_per_cell() const { return wishes_.ranks_per_cell.value_or(capacity); }

  [[nodiscard]] bool needs_cells() const
  {
    return wishes_.ranks_per_cell || (wishes_.parallel && ranks() > 1) || ranks() > capacity ||
           (!alone_.empty() && ranks() > 1);
  }

  void check_no_cells() const
  {
    if (wishes_.ranks_per_cell)
      throw UsageError("--ranks-per-cell", "cells to put the ranks into", "--cells 0", "Leave out one of the two.");
    if (ranks() > capacity)
      throw UsageError(
          "--cells 0", fmt::format("at most {} ranks, as many as one process has link-map namespaces for", capacity),
          fmt::format("{}", ranks()), "Leave --cells 0 out: the ranks are then spread over processes (cells).");
    if (!alone_.empty() && ranks() > 1)
      throw UsageError("--cells 0", "programs whose ranks can share a process",
                       fmt::format("{} ranks, {} of them of {}, which {}", ranks(),
                                   ranks_of(program_of_rank_[alone_.front()]), program_of(alone_.front()).name,
                                   program_of(alone_.front()).alone),
                       "Leave --cells 0 out: each of these ranks then gets a process (cell) of its own.");
  }

  [[nodiscard]] unsigned ranks_of(unsigned program) const
  {
    return static_cast<unsigned>(std::count(program_of_rank_.begin(), program_of_rank_.end(), program));
  }

  // Cells for the ordinary ranks.
  unsigned count_cells()
  {
    const auto ordinary = static_cast<unsigned>(ordinary_.size());
    const auto alone = static_cast<unsigned>(alone_.size());
    const unsigned least = ceiling(ordinary, most_per_cell());
    if (!wishes_.cells)
      return std::max(least, std::min(jobs_, ordinary));
    const unsigned wanted = *wishes_.cells;
    if (wanted < alone + least)
      throw UsageError(
          fmt::format("--cells {}", wanted),
          fmt::format("at least {} for {}{}, with at most {} in a cell", alone + least, plural(ranks(), "rank"),
                      alone == 0 ? "" : fmt::format(", {} of which need one each", alone), most_per_cell()),
          fmt::format("{}", wanted), fmt::format("Pass --cells {}, or --cells auto.", alone + least));
    if (wanted > ranks())
      result_.notes.push_back(
          fmt::format("--cells {}: {} cells are used, as there are {}", wanted, ranks(), plural(ranks(), "rank")));
    return std::min(wanted - alone, ordinary);
  }

  void fill_cells()
  {
    const std::size_t count = count_cells();
    for (std::size_t cell = 0; cell < count; ++cell) {
      const auto at = [&](std::size_t part) {
        return ordinary_.begin() + static_cast<std::ptrdiff_t>(ordinary_.size() * part / count);
      };
      result_.cells.emplace_back(at(cell), at(cell + 1));
    }
    for (const unsigned rank : alone_) {
      result_.cells.push_back({rank});
      const std::string note = fmt::format("program {} {}: each of its ranks gets a process (cell) of its own",
                                           program_of(rank).name, program_of(rank).alone);
      if (std::find(result_.notes.begin(), result_.notes.end(), note) == result_.notes.end())
        result_.notes.push_back(note);
    }
    std::sort(result_.cells.begin(), result_.cells.end()); // by their first ranks, which differ
  }

  const CellWishes& wishes_;
  unsigned jobs_;
  std::span<const unsigned> program_of_rank_;
  std::span<const CellProgram> programs_;
  std::vector<unsigned> ordinary_;
  std::vector<unsigned> alone_;
  CellPlan result_;
};

} // namespace

CellPlan plan_cells(const CellWishes& wishes, unsigned jobs, std::span<const unsigned> program_of_rank,
                    std::span<const CellProgram> programs)
{
  return CellPlanner(wishes, jobs, program_of_rank, programs).plan();
}

} // namespace umwelt::cli
