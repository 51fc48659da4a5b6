// SPDX-License-Identifier: LGPL-2.1-or-later
// The arguments of a request on their way from a worker process to the runtime, and the results on their way back.
// Generated from the tables in preload/abi/tables: what pointers lead to is copied into the slot's arena, by their
// types and extents.def.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/worker/board.h"

namespace umwelt::worker
{

class Arguments
{
public:
  // Copies them behind what the arena holds already.
  Arguments(Slot& slot, std::uint32_t operation, void* original);
  // Gives the arena back.
  ~Arguments() { slot_.used = before_; }
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;

  // False: they do not fit into the arena, and needed() bytes would have been necessary.
  [[nodiscard]] bool fit() const { return needed_ <= arena_bytes; }
  [[nodiscard]] std::size_t needed() const { return needed_; }
  [[nodiscard]] void* copy() const { return copy_; }
  // Copies the results to where the caller expects them.
  void bring_back();

private:
  Slot& slot_;
  const std::uint32_t operation_;
  void* original_;
  const std::uint32_t before_;
  void* copy_ = nullptr;
  std::size_t needed_ = 0;
};

} // namespace umwelt::worker
