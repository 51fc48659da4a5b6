// SPDX-License-Identifier: LGPL-2.1-or-later
// A first-in first-out queue in one array that grows to the run's working size and then never allocates again
// (std::deque allocates a block every few dozen pushes).
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace umwelt::sim
{

template <class T> class Ring
{
public:
  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] const T& front() const { return slots_[head_]; }
  // From the front on.
  [[nodiscard]] T& operator[](std::size_t index) { return slots_[(head_ + index) & (slots_.size() - 1)]; }
  [[nodiscard]] const T& operator[](std::size_t index) const { return slots_[(head_ + index) & (slots_.size() - 1)]; }

  void push(T value)
  {
    if (count_ == slots_.size())
      grow();
    slots_[(head_ + count_) & (slots_.size() - 1)] = std::move(value);
    ++count_;
  }
  T pop()
  {
    T value = std::move(slots_[head_]);
    head_ = (head_ + 1) & (slots_.size() - 1);
    --count_;
    return value;
  }

private:
  void grow()
  {
    std::vector<T> larger(slots_.empty() ? 8 : slots_.size() * 2); // a power of two: indexes wrap with a mask
    for (std::size_t i = 0; i < count_; ++i)
      larger[i] = std::move(slots_[(head_ + i) & (slots_.size() - 1)]);
    slots_ = std::move(larger);
    head_ = 0;
  }

  std::vector<T> slots_;
  std::size_t head_ = 0;
  std::size_t count_ = 0;
};

} // namespace umwelt::sim
