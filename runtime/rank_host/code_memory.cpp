// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/rank_host/code_memory.h"

#include <algorithm>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace umwelt::rank_host
{

namespace
{
constexpr std::uintptr_t page = 4096;
} // namespace

CodeMemory::CodeMemory() : memory_(open("/proc/self/mem", O_RDWR | O_CLOEXEC))
{
}

CodeMemory::~CodeMemory()
{
  if (memory_ >= 0)
    close(memory_);
}

std::size_t CodeMemory::read(std::uintptr_t address, std::span<unsigned char> bytes) const
{
  const ssize_t found = pread(memory_, bytes.data(), bytes.size(), static_cast<off_t>(address));
  return static_cast<std::size_t>(std::max<ssize_t>(found, 0));
}

bool CodeMemory::write(std::uintptr_t address, std::span<const unsigned char> bytes) const
{
  const auto put = [&] {
    return pwrite(memory_, bytes.data(), bytes.size(), static_cast<off_t>(address)) ==
           static_cast<ssize_t>(bytes.size());
  };
  // Kernels may be told to respect protections there (proc_mem.force_override).
  return put() ||
         (mprotect(reinterpret_cast<void*>(address & ~(page - 1)), page, PROT_READ | PROT_WRITE | PROT_EXEC) == 0 &&
          put());
}

bool CodeMemory::is_patched(std::uintptr_t pc) const
{
  unsigned char byte = 0;
  return read(pc, {&byte, 1}) == 1 && byte == int3;
}

} // namespace umwelt::rank_host
