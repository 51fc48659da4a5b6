// SPDX-License-Identifier: LGPL-2.1-or-later
// Objects that are needed again and again: taken, given back, never freed before the pool. Allocates only when more are
// in use than ever before.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace umwelt::sim
{

template <class T> class Pool
{
public:
  // An object in whatever state its last user left it; the taker initialises it.
  T& take()
  {
    if (idle_.empty())
      grow();
    T& object = *idle_.back();
    idle_.pop_back();
    return object;
  }
  void give(T& object) { idle_.push_back(&object); }

  [[nodiscard]] std::size_t in_use() const { return blocks_.size() * block_size - idle_.size(); }

private:
  static constexpr std::size_t block_size = 64;

  void grow()
  {
    blocks_.push_back(std::make_unique<T[]>(block_size));
    idle_.reserve(blocks_.size() * block_size); // so that give() cannot allocate
    for (std::size_t i = block_size; i-- > 0;)
      idle_.push_back(&blocks_.back()[i]);
  }

  std::vector<std::unique_ptr<T[]>> blocks_;
  std::vector<T*> idle_;
};

} // namespace umwelt::sim
