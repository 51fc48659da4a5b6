// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/engine/stack.h"

#include <cerrno>
#include <system_error>

#include <sanitizer/asan_interface.h>
#include <sys/mman.h>
#include <unistd.h>

namespace umwelt::engine
{

namespace
{
const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));

std::size_t whole_pages(std::size_t bytes)
{
  return (bytes + page - 1) / page * page;
}
} // namespace

Stack::Stack(std::size_t bytes) : size_(whole_pages(bytes))
{
  void* memory = mmap(nullptr, size_ + page, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED)
    throw std::system_error(errno, std::generic_category(), "stack of a simulated thread");
  base_ = static_cast<char*>(memory);
  top_ = base_ + page + size_;
  mprotect(base_, page, PROT_NONE);
}

Stack::~Stack()
{
  // What was left behind on it has not cleaned up after itself, and what comes to lie here next would inherit that.
  ASAN_UNPOISON_MEMORY_REGION(base_, size_ + page);
  munmap(base_, size_ + page);
}

bool Stack::fits(std::size_t bytes) const
{
  return size_ == whole_pages(bytes);
}

void Stack::discard()
{
  ASAN_UNPOISON_MEMORY_REGION(base_, size_ + page);
  madvise(base_ + page, size_, MADV_DONTNEED);
}

bool Stack::guards(const void* address) const
{
  const char* byte = static_cast<const char*>(address);
  return byte >= base_ && byte < base_ + page;
}

} // namespace umwelt::engine
