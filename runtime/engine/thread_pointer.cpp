// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/engine/thread_pointer.h"

#include <asm/prctl.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace umwelt::engine
{

namespace detail
{

constexpr unsigned long hwcap2_fsgsbase = 1UL << 1; // Documentation/arch/x86/elf_auxvec

bool have_fsgsbase = (getauxval(AT_HWCAP2) & hwcap2_fsgsbase) != 0;
ThreadPointer runtime_thread_pointer = 0;

// A raw system call: errno lives behind the register that is being changed.
void write_by_system_call(ThreadPointer value)
{
  long result = SYS_arch_prctl;
  asm volatile("syscall" : "+a"(result) : "D"(ARCH_SET_FS), "S"(value) : "rcx", "r11", "memory");
}

} // namespace detail

void adopt_runtime_thread_pointer()
{
  detail::runtime_thread_pointer = read_thread_pointer();
}

} // namespace umwelt::engine
