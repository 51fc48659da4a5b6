/* SPDX-License-Identifier: LGPL-2.1-or-later
 * A trap that the kernel calls a single step (TRAP_TRACE, TRAP_BRKPT) though nothing steps; with an argument, a
 * breakpoint. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

/* Of the kernel, not of Umwelt: a process may send itself what looks like a trap of the kernel's
 * (rt_tgsigqueueinfo(2)). */
static long raw(long number, long a, long b, long c, long d)
{
  register long fourth __asm__("r10") = d;
  __asm__ volatile("syscall" : "+a"(number) : "D"(a), "S"(b), "d"(c), "r"(fourth) : "rcx", "r11", "memory");
  return number;
}

int main(int argc, char** argv)
{
  (void)argv;
  if (argc > 1) {
    __asm__ volatile("int3");
    return 1;
  }
  for (int code = TRAP_BRKPT; code <= TRAP_TRACE; ++code) {
    siginfo_t information;
    memset(&information, 0, sizeof information);
    information.si_signo = SIGTRAP;
    information.si_code = code;
    if (raw(SYS_rt_tgsigqueueinfo, raw(SYS_getpid, 0, 0, 0, 0), raw(SYS_gettid, 0, 0, 0, 0), SIGTRAP,
            (long)&information) != 0) {
      puts("rt_tgsigqueueinfo: expected success");
      return 1;
    }
  }
  return 0;
}
