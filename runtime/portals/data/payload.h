// SPDX-License-Identifier: LGPL-2.1-or-later
// The data of a message while it is neither in the memory it comes from nor in that it goes to.
#pragma once

#include <array>
#include <cstddef>
#include <new>

#include "runtime/portals/data/buffer_pool.h"
#include "runtime/portals/data/memory.h"

namespace umwelt::portals
{

struct Payload {
  static constexpr std::size_t inline_size = 64;

  bool captured = false; // the bytes are here
  bool placed = false;   // they went from source to destination in one copy
  bool lost = false;     // they could not be read in time: the process is gone, or its memory is
  std::size_t buffer_size = 0;
  Buffer buffer; // for more than inline_size
  std::array<std::byte, inline_size> bytes;

  [[nodiscard]] bool open() const { return !captured && !placed && !lost; }
  [[nodiscard]] std::byte* data() { return buffer ? buffer.get() : bytes.data(); }

  // Takes `size` bytes out of a process's memory; `lost` if that is impossible.
  void capture(const MemoryRef& from, std::size_t size, BufferPool& pool)
  {
    if (size > inline_size) {
      try {
        buffer = pool.acquire(size);
      } catch (const std::bad_alloc&) { // no machine has memory for such a message
        lost = true;
        return;
      }
      buffer_size = size;
    }
    captured = copy_out(from, data(), size);
    lost = !captured;
  }
};

} // namespace umwelt::portals
