// SPDX-License-Identifier: LGPL-2.1-or-later
// The data of a modelled collective, between the memories of its members.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "preload/abi/mpi_collectives.h"
#include "runtime/portals/data/memory.h"

namespace umwelt::job
{

// One of UMW_COLLECTIVE_SENDS and so on.
inline bool has(const umw_collective& call, unsigned how)
{
  return (call.how & how) != 0;
}

// What a member hands over, or where it receives: one piece of memory, or one for each member.
class CollectiveSide
{
public:
  // False: the list of pieces cannot be read. `members` pieces, unless there is only one.
  [[nodiscard]] bool set(const portals::Memory& memory, const umw_parts& pieces, std::uint32_t members, bool single);
  // Takes a copy of it, so that the member may do what it likes with its own. False: it cannot be read.
  [[nodiscard]] bool keep();
  void clear();

  [[nodiscard]] std::uint64_t bytes(std::uint32_t index) const { return list_.empty() ? bytes_ : list_[index].bytes; }
  [[nodiscard]] std::uintptr_t address(std::uint32_t index) const
  {
    return list_.empty() ? base_ + index * bytes_ : base_ + static_cast<std::uintptr_t>(list_[index].offset);
  }
  [[nodiscard]] const portals::Memory& memory() const { return *memory_; }

private:
  const portals::Memory* memory_ = nullptr;
  std::uintptr_t base_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint32_t count_ = 0;
  std::vector<umw_part> list_;
  std::vector<std::byte> copy_;
};

// The memory of this process.
const portals::Memory& runtime_memory();

// Copies; what is left as it is in memory that may be forgotten stays so. False: memory is not accessible.
[[nodiscard]] bool copy_memory(const portals::Memory& from, std::uintptr_t source, const portals::Memory& to,
                               std::uintptr_t target, std::uint64_t bytes);

} // namespace umwelt::job
