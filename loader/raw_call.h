// SPDX-License-Identifier: LGPL-2.1-or-later
// A system call by itself: where %fs, and so errno, is nobody's yet or somebody else's.
#pragma once

namespace umwelt::loader
{

// The kernel's result; -errno on failure.
inline long raw_call(long number, long a = 0, long b = 0, long c = 0, long d = 0)
{
  long result = number;
  register long fourth asm("r10") = d;
  asm volatile("syscall" : "+a"(result) : "D"(a), "S"(b), "d"(c), "r"(fourth) : "rcx", "r11", "memory");
  return result;
}

} // namespace umwelt::loader
