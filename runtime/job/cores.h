// SPDX-License-Identifier: LGPL-2.1-or-later
// The cores of all simulated nodes, made when they are first used, and what the kernel's load balancing does with
// threads on them.
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
  Cores(engine::Scheduler& scheduler, std::size_t nodes);
  ~Cores();

  [[nodiscard]] engine::Core& at(std::uint32_t node, unsigned core);
  // Moves a thread that does not compute now to one of its cores that fewer compute on, if there is one. Returns its
  // core.
  engine::Core& choose(std::uint32_t node, engine::CoreBinding& place);

private:
  class Node;

  engine::Scheduler& scheduler_;
  std::vector<std::unique_ptr<Node>> nodes_;
};

} // namespace umwelt::job
