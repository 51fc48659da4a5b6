// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/engine/fiber_table.h"

#include <vector>

// The executable exports it (runtime/CMakeLists.txt).
[[gnu::used, gnu::visibility("default")]] umw_fibers umw_fiber_table{};

namespace umwelt::engine
{

namespace
{

std::vector<umw_fiber>& fibers()
{
  static std::vector<umw_fiber> list;
  return list;
}

void publish()
{
  umw_fiber_table = {fibers().data(), fibers().size()};
}

} // namespace

void add_to_fiber_table(const umw_fiber& fiber)
{
  fibers().push_back(fiber);
  publish();
}

void remove_from_fiber_table(const char* name)
{
  std::erase_if(fibers(), [name](const umw_fiber& fiber) { return fiber.name == name; });
  publish();
}

void clear_fiber_table()
{
  fibers().clear();
  publish();
}

} // namespace umwelt::engine
