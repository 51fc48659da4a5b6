// SPDX-License-Identifier: LGPL-2.1-or-later
// The jobs of a run: ranks that were started together, share MPI_COMM_WORLD and are numbered from 0. PMIx calls them
// namespaces. Rank number r of a job is rank first + r of the run.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <utility>

namespace umwelt::bootstrap
{

struct Namespace {
  std::string name;
  unsigned number = 1; // in the order in which they were started
  std::size_t first = 0;
  std::size_t size = 0;
};

class Namespaces
{
public:
  // Ranks of the run are given to jobs in order. The reference stays valid.
  Namespace& add(std::string name, std::size_t size)
  {
    all_.push_back({std::move(name), static_cast<unsigned>(all_.size()) + 1, ranks_, size});
    ranks_ += size;
    return all_.back();
  }
  // Null: there is none of that name.
  [[nodiscard]] const Namespace* find(std::string_view name) const
  {
    for (const Namespace& space : all_)
      if (space.name == name)
        return &space;
    return nullptr;
  }
  // That of a rank of the run.
  [[nodiscard]] const Namespace& of(std::size_t rank) const
  {
    auto space = all_.begin();
    while (rank >= space->first + space->size)
      ++space;
    return *space;
  }
  [[nodiscard]] std::size_t ranks() const { return ranks_; }
  [[nodiscard]] std::size_t count() const { return all_.size(); }

private:
  std::deque<Namespace> all_;
  std::size_t ranks_ = 0;
};

} // namespace umwelt::bootstrap
