// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/net_models/count_allocations.h"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace
{
std::atomic<std::size_t> count{0};
std::atomic<std::size_t> live{0};
} // namespace

std::size_t allocations()
{
  return count;
}

std::size_t allocated_bytes()
{
  return live;
}

void* operator new(std::size_t size)
{
  ++count;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) {
    live += malloc_usable_size(memory);
    return memory;
  }
  throw std::bad_alloc();
}

// What std::stable_sort takes its buffer from.
void* operator new(std::size_t size, const std::nothrow_t& /*unused*/) noexcept
{
  ++count;
  void* memory = std::malloc(size == 0 ? 1 : size);
  live += malloc_usable_size(memory);
  return memory;
}

void operator delete(void* memory) noexcept
{
  live -= malloc_usable_size(memory);
  std::free(memory);
}

void operator delete(void* memory, std::size_t) noexcept
{
  operator delete(memory);
}

// The library's own call the ones above; a sanitizer's do not.
void* operator new[](std::size_t size)
{
  return operator new(size);
}

void operator delete[](void* memory) noexcept
{
  operator delete(memory);
}

void operator delete[](void* memory, std::size_t) noexcept
{
  operator delete(memory);
}
