// SPDX-License-Identifier: LGPL-2.1-or-later
// Whether something lies in the memory that the runtime sees of a request.
#pragma once

#include <cstddef>

#include "runtime/worker/board.h"

namespace umwelt::worker::test
{

inline bool in_arena(const Slot& slot, const void* pointer)
{
  const auto* byte = static_cast<const std::byte*>(pointer);
  return byte >= slot.arena.data() && byte < slot.arena.data() + slot.arena.size();
}

} // namespace umwelt::worker::test
