// SPDX-License-Identifier: LGPL-2.1-or-later
// Recycled objects and buffers: the steady state of the engine allocates nothing.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

namespace umwelt::portals
{

// Addresses are stable until the pool ends. The state of a recycled object is whatever its last user left.
template <class T> class Pool
{
public:
  T& acquire()
  {
    if (free_.empty())
      return objects_.emplace_back();
    T& object = *free_.back();
    free_.pop_back();
    return object;
  }
  void release(T& object) { free_.push_back(&object); }
  [[nodiscard]] std::size_t in_use() const { return objects_.size() - free_.size(); }

private:
  std::deque<T> objects_;
  std::vector<T*> free_;
};

// Buffers for payloads that have left their source and not yet reached their target; sizes are powers of two.
using Buffer = std::unique_ptr<std::byte[]>;

class BufferPool
{
public:
  // Throws std::bad_alloc.
  Buffer acquire(std::size_t size)
  {
    auto& free = free_[size_class(size)];
    if (free.empty())
      return std::make_unique_for_overwrite<std::byte[]>(std::size_t{1} << size_class(size));
    Buffer buffer = std::move(free.back());
    free.pop_back();
    return buffer;
  }
  // `size` as given to acquire().
  void release(Buffer buffer, std::size_t size) { free_[size_class(size)].push_back(std::move(buffer)); }

private:
  static unsigned size_class(std::size_t size) { return static_cast<unsigned>(std::bit_width((size | 127) - 1)); }

  std::array<std::vector<Buffer>, 65> free_;
};

} // namespace umwelt::portals
