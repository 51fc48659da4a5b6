// SPDX-License-Identifier: LGPL-2.1-or-later
// Whether pages that are only read are all one page of the kernel's, which counts as none of the process. Kernels of
// some virtual machines give each a page of its own at once.
#pragma once

#include <fstream>
#include <string>

#include <sys/mman.h>

namespace umwelt
{

inline bool kernel_shares_a_zero_page()
{
  constexpr long pages = 1000;
  constexpr long page = 4096;
  const auto anonymous = [] { // KiB
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;)
      if (long kib = 0; word == "RssAnon:" && status >> kib)
        return kib;
    return 0L;
  };
  void* const start = mmap(nullptr, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED)
    return false;
  madvise(start, pages * page, MADV_NOHUGEPAGE);
  const long before = anonymous();
  for (long i = 0; i < pages; ++i)
    static_cast<void>(static_cast<const volatile char*>(start)[i * page]);
  const long after = anonymous();
  munmap(start, pages * page);
  return (after - before) * 1024 < pages * page / 2;
}

} // namespace umwelt
