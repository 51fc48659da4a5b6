// SPDX-License-Identifier: LGPL-2.1-or-later
// Where the fibers of the schedulers stand, for debuggers: these see one OS thread that runs, and none of the others'
// stacks. loader/gdb reads it in the memory of the stopped process, so it is plain data, and the executable exports
// `umw_fiber_table`: the name is there when it is stripped.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

struct umw_fiber {
  const char* name;          // "rank 3 (bxi3)", "rank 3 (bxi3) thread 1"
  void* const* context;      // -> what jump_fcontext of boost.context has pushed when it was last left
  const std::uint8_t* state; // -> engine::Actor::State
  std::uintptr_t low, high;  // its stack: if the thread's stack pointer lies in it, it runs
};

struct umw_fibers {
  const umw_fiber* first;
  std::size_t count;
};

extern umw_fibers umw_fiber_table;

} // extern "C"

namespace umwelt::engine
{

void add_to_fiber_table(const umw_fiber& fiber);
// The one with that name's address.
void remove_from_fiber_table(const char* name);
// No fiber will run any more.
void clear_fiber_table();

} // namespace umwelt::engine
