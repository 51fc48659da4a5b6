// SPDX-License-Identifier: LGPL-2.1-or-later
// Stack of a simulated thread: reserved, committed on touch, with an inaccessible guard page below.
#pragma once

#include <cstddef>

namespace umwelt::engine
{

class Stack
{
public:
  // Throws std::system_error when the address space cannot be had.
  explicit Stack(std::size_t bytes);
  ~Stack();
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;

  [[nodiscard]] void* top() const { return top_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  // Whether it is what a new one of so many bytes would be.
  [[nodiscard]] bool fits(std::size_t bytes) const;
  // Gives the memory back: nothing runs on it any more.
  void discard();
  // True for an address in the guard page: the thread has used up its stack.
  [[nodiscard]] bool guards(const void* address) const;

private:
  char* base_ = nullptr; // the guard page
  char* top_ = nullptr;
  std::size_t size_ = 0; // usable bytes, without the guard
};

} // namespace umwelt::engine
