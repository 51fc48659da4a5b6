// SPDX-License-Identifier: LGPL-2.1-or-later
// Recycled buffers for payloads that have left their source and not yet reached their target; sizes are powers of two.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace umwelt::portals
{

using Buffer = std::unique_ptr<std::byte[]>;

class BufferPool
{
public:
  // Throws std::bad_alloc.
  Buffer acquire(std::size_t size)
  {
    const unsigned index = size_class(size);
    auto& free = free_[index];
    Buffer buffer;
    if (free.empty()) {
      buffer = std::make_unique_for_overwrite<std::byte[]>(std::size_t{1} << index);
    } else {
      buffer = std::move(free.back());
      free.pop_back();
      idle_bytes_ -= std::size_t{1} << index;
    }
    ++in_use_;
    return buffer;
  }
  // `size` as given to acquire().
  void release(Buffer buffer, std::size_t size)
  {
    const unsigned index = size_class(size);
    --in_use_;
    if (idle_bytes_ + (std::size_t{1} << index) > kept_bytes)
      return;
    idle_bytes_ += std::size_t{1} << index;
    free_[index].push_back(std::move(buffer));
  }
  [[nodiscard]] std::size_t in_use() const { return in_use_; }
  [[nodiscard]] std::size_t idle_bytes() const { return idle_bytes_; }

private:
  static constexpr std::size_t kept_bytes = std::size_t{64} << 20;
  static unsigned size_class(std::size_t size) { return static_cast<unsigned>(std::bit_width((size | 127) - 1)); }

  std::array<std::vector<Buffer>, 65> free_;
  std::size_t idle_bytes_ = 0;
  std::size_t in_use_ = 0;
};

} // namespace umwelt::portals
