// SPDX-License-Identifier: LGPL-2.1-or-later
// Recycled objects and buffers: the steady state of the engine allocates nothing, and what a burst took is given back once
// a smaller one is over. AddressSanitizer is told what is not in use.
#pragma once

#include <sanitizer/asan_interface.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

namespace umwelt::portals
{

// Addresses are stable while the object is in use. The state of a recycled object is whatever its last user left.
template <class T> class Pool
{
public:
  Pool() = default;
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool() { show_all(); }

  T& acquire()
  {
    if (free_.empty()) {
      T& fresh = objects_.emplace_back();
      most_ = objects_.size();
      return fresh;
    }
    most_ = std::max(most_, in_use() + 1);
    T& object = *free_.back();
    free_.pop_back();
    ASAN_UNPOISON_MEMORY_REGION(&object, sizeof object);
    return object;
  }
  void release(T& object)
  {
    free_.push_back(&object);
    ASAN_POISON_MEMORY_REGION(&object, sizeof object);
    if (in_use() == 0)
      rest();
  }
  [[nodiscard]] std::size_t in_use() const { return objects_.size() - free_.size(); }

private:
  static constexpr std::size_t kept = 1024;

  // Nothing is in use.
  void rest()
  {
    if (objects_.size() > std::max(kept, 4 * most_)) {
      show_all();
      objects_ = std::deque<T>();
      free_ = std::vector<T*>();
    }
    most_ = 0;
  }
  void show_all()
  {
    for (T* object : free_)
      ASAN_UNPOISON_MEMORY_REGION(object, sizeof *object);
  }

  std::size_t most_ = 0; // in use since the last rest
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
