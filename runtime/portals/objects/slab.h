// SPDX-License-Identifier: LGPL-2.1-or-later
// Objects named by handles: stable addresses, lookup in O(1), no allocation once grown to the working size.
//
// Free slots are reused first in, first out, and only when a reserve of them has gathered: a handle's 8 generation bits
// then repeat after thousands of allocations, not after 256.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/portals/objects/handle.h"

namespace umwelt::portals
{

// T is default constructible and has a public member ptl_handle_any_t handle.
template <class T> class Slab
{
public:
  // Handles begin with `generation`; that of the interface makes handles of its predecessor stale.
  Slab(ObjectType type, std::uint32_t interface, std::uint32_t generation = 0)
      : type_(type), interface_(interface), first_generation_(generation)
  {
  }

  // Null when all indexes are taken.
  T* create()
  {
    std::uint32_t index = workers_;
    if (free_count_ >= reserve || workers_ > Handle::max_index) {
      if (free_count_ == 0)
        return nullptr;
      index = free_head_;
      free_head_ = worker(index).next_free;
      --free_count_;
    } else {
      if (workers_ % chunk_size == 0)
        chunks_.push_back(std::make_unique<Chunk>());
      ++workers_;
      worker(index).generation = first_generation_;
    }
    Worker& slot = worker(index);
    T& object = slot.object.emplace();
    object.handle = Handle{type_, interface_, slot.generation, index}.encode();
    ++live_;
    return &object;
  }

  [[nodiscard]] T* find(ptl_handle_any_t value)
  {
    const Handle handle = Handle::decode(value);
    if (handle.type != type_ || handle.interface != interface_ || handle.index >= workers_)
      return nullptr;
    Worker& slot = worker(handle.index);
    return slot.object && slot.generation == handle.generation ? &*slot.object : nullptr;
  }

  void destroy(T& object)
  {
    const std::uint32_t index = Handle::decode(object.handle).index;
    Worker& slot = worker(index);
    slot.object.reset();
    slot.generation = (slot.generation + 1) & ((1U << Handle::generation_bits) - 1);
    if (free_count_ == 0)
      free_head_ = index;
    else
      worker(free_tail_).next_free = index;
    free_tail_ = index;
    ++free_count_;
    --live_;
  }

  [[nodiscard]] std::size_t live() const { return live_; }

  template <class F> void for_each(F&& visit)
  {
    for (std::uint32_t index = 0; index < workers_; ++index)
      if (Worker& slot = worker(index); slot.object)
        visit(*slot.object);
  }

private:
  static constexpr std::uint32_t chunk_size = 32;
  static constexpr std::uint32_t reserve = 64;
  struct Worker {
    std::optional<T> object;
    std::uint32_t generation = 0;
    std::uint32_t next_free = 0;
  };
  using Chunk = std::array<Worker, chunk_size>;

  Worker& worker(std::uint32_t index) { return (*chunks_[index / chunk_size])[index % chunk_size]; }

  ObjectType type_;
  std::uint32_t interface_;
  std::uint32_t first_generation_;
  std::vector<std::unique_ptr<Chunk>> chunks_;
  std::uint32_t workers_ = 0;
  std::uint32_t free_head_ = 0;
  std::uint32_t free_tail_ = 0;
  std::uint32_t free_count_ = 0;
  std::size_t live_ = 0;
};

} // namespace umwelt::portals
