// SPDX-License-Identifier: LGPL-2.1-or-later
// The cores of all simulated nodes; made when they are first used.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/engine/core.h"

namespace umwelt::job
{

class Cores
{
public:
  Cores(engine::Scheduler& scheduler, std::size_t nodes) : scheduler_(scheduler), nodes_(nodes) {}

  [[nodiscard]] engine::Core& at(std::uint32_t node, unsigned core)
  {
    auto& cores = nodes_[node];
    if (core >= cores.size())
      cores.resize(core + 1);
    if (!cores[core])
      cores[core] = std::make_unique<engine::Core>(scheduler_);
    return *cores[core];
  }

private:
  engine::Scheduler& scheduler_;
  std::vector<std::vector<std::unique_ptr<engine::Core>>> nodes_;
};

} // namespace umwelt::job
