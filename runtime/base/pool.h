// SPDX-License-Identifier: LGPL-2.1-or-later
// Objects that are needed again and again: acquired and released. Allocates only when more are in use than ever before;
// what a large burst took is freed once a smaller one is over. AddressSanitizer is told what is not in use.
#pragma once

#include <sanitizer/asan_interface.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

namespace umwelt::sim
{

template <class T> class Pool
{
public:
  Pool() = default;
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool() { show_all(); }

  // An object in whatever state its last user left it; the new one initialises it. Its address is stable while it is in
  // use.
  T& acquire()
  {
    if (idle_.empty())
      grow();
    most_ = std::max(most_, in_use() + 1);
    T& object = *idle_.back();
    idle_.pop_back();
    ASAN_UNPOISON_MEMORY_REGION(&object, sizeof object);
    return object;
  }
  void release(T& object)
  {
    idle_.push_back(&object);
    ASAN_POISON_MEMORY_REGION(&object, sizeof object);
    if (in_use() == 0)
      rest();
  }

  [[nodiscard]] std::size_t in_use() const { return objects_ - idle_.size(); }

private:
  static constexpr std::size_t block_bytes = 4096;
  static constexpr std::size_t kept = 1024; // objects

  void grow()
  {
    constexpr std::size_t count = std::max<std::size_t>(1, block_bytes / sizeof(T));
    blocks_.push_back(std::make_unique<T[]>(count));
    objects_ += count;
    idle_.reserve(objects_); // so that release() cannot allocate
    for (std::size_t i = count; i-- > 0;)
      idle_.push_back(&blocks_.back()[i]);
  }
  // Nothing is in use.
  void rest()
  {
    if (objects_ > std::max(kept, 4 * most_)) {
      show_all();
      blocks_ = std::vector<std::unique_ptr<T[]>>();
      idle_ = std::vector<T*>();
      objects_ = 0;
    }
    most_ = 0;
  }
  void show_all()
  {
    for (T* object : idle_)
      ASAN_UNPOISON_MEMORY_REGION(object, sizeof *object);
  }

  std::size_t objects_ = 0;
  std::size_t most_ = 0; // in use since the last rest
  std::vector<std::unique_ptr<T[]>> blocks_;
  std::vector<T*> idle_;
};

} // namespace umwelt::sim
