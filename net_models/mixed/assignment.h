// SPDX-License-Identifier: LGPL-2.1-or-later
// Which model each node has: the one it began with, another from planned times on, and one that overrides these for a
// while.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "net_models/core/model.h"

namespace umwelt::net
{

class Assignment
{
public:
  using Index = std::uint8_t; // of a model

  struct Change {
    SimTime at = 0;
    std::vector<NodeIndex> nodes;
    Index model = 0;
  };
  // What has happened: so many nodes have got that model.
  struct Switched {
    SimTime at = 0;
    std::size_t nodes = 0;
    Index model = 0;
  };

  // Changes by time.
  explicit Assignment(std::vector<Index> of_node, std::vector<Change> changes = {});

  // Times do not go back.
  Index at(NodeIndex node, SimTime now)
  {
    if (next_at_ <= now)
      catch_up(now);
    return now_[node];
  }
  [[nodiscard]] std::size_t nodes() const { return now_.size(); }

  // From now on.
  void set(const std::vector<NodeIndex>& nodes, Index model, SimTime now);
  void override_with(NodeIndex node, std::optional<Index> model, SimTime now);

  [[nodiscard]] const std::vector<Switched>& switched() const { return switched_; }
  // Planned changes that have come.
  [[nodiscard]] std::size_t come() const { return next_; }

private:
  void catch_up(SimTime now);
  void note(SimTime at, std::size_t nodes, Index model);

  std::vector<Index> base_;
  std::vector<std::optional<Index>> override_;
  std::vector<Index> now_;
  std::vector<Change> changes_;
  std::size_t next_ = 0;
  SimTime next_at_ = sim::never;
  std::vector<Switched> switched_;
};

} // namespace umwelt::net
