// SPDX-License-Identifier: LGPL-2.1-or-later
// Copies within this process that leave pages alone which nobody ever wrote.
//
// A page of private anonymous memory that does not exist reads as zeros. What it would be copied to has to read as
// zeros too, and does so without memory: pages that do not exist there stay so, others are given back. So matrices
// whose computation is skipped (--kernels) travel without being there, and the bytes are the same as those of memcpy.
//
// Two system calls of Linux 6.11 tell exactly what exists: PROCMAP_QUERY what kind of mapping it is, PAGEMAP_SCAN which
// pages hold something (and not the zero page, which reading leaves behind). That takes up to half as long as a copy
// from cache, so mincore(2), which looks at presence alone, is asked first, and the page in the middle; and programs
// whose first 64 copies are of memory that is all there are asked about every 16th only. Kernels without these calls
// get ordinary copies.
#pragma once

#include <cstddef>

namespace umwelt::portals
{

// Smaller copies cost less than the question.
constexpr std::size_t least_sparse = 128 * 1024;

// As memcpy of ranges that do not overlap, unless it returns false: then nothing was done. Another process's memory
// that is mapped here is not looked through. Memory that userfaultfd(2) fills must not be given.
[[nodiscard]] bool copy_sparsely(void* to, const void* from, std::size_t size);

} // namespace umwelt::portals
