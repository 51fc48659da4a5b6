// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/engine/syscalls.h"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#endif

#include "runtime/engine/thread_pointer.h"

// Constants newer than the headers of Debian 12 need not be there (linux/prctl.h, linux/signal.h).
#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#define PR_SYS_DISPATCH_OFF 0
#define PR_SYS_DISPATCH_ON 1
#endif

// The way back from a handler has the very bytes of the C library's, by which debuggers know a signal frame, and says
// like it where each register was saved: in the ucontext that the stack pointer is at (DW_CFA_expression, DW_OP_breg7
// offset).
asm(R"(
.pushsection .text.umw_syscalls, "ax", @progbits
.globl umw_syscalls_begin, umw_syscalls_end, umw_raw_syscall, umw_restorer
.hidden umw_syscalls_begin, umw_syscalls_end, umw_restorer
umw_syscalls_begin:
.type umw_raw_syscall, @function
umw_raw_syscall:
  mov %rdi, %rax
  mov %rsi, %rdi
  mov %rdx, %rsi
  mov %rcx, %rdx
  mov %r8, %r10
  mov %r9, %r8
  mov 8(%rsp), %r9
  syscall
  ret
.size umw_raw_syscall, . - umw_raw_syscall
.cfi_startproc
.cfi_signal_frame
  .cfi_escape 0xf, 0x4, 0x77, 0xa0, 0x1, 0x6 # the frame above is where the interrupted stack pointer says
  .cfi_escape 0x10, 0x8, 0x2, 0x77, 0x28 # r8
  .cfi_escape 0x10, 0x9, 0x2, 0x77, 0x30 # r9
  .cfi_escape 0x10, 0xa, 0x2, 0x77, 0x38 # r10
  .cfi_escape 0x10, 0xb, 0x3, 0x77, 0xc0, 0x0 # r11
  .cfi_escape 0x10, 0xc, 0x3, 0x77, 0xc8, 0x0 # r12
  .cfi_escape 0x10, 0xd, 0x3, 0x77, 0xd0, 0x0 # r13
  .cfi_escape 0x10, 0xe, 0x3, 0x77, 0xd8, 0x0 # r14
  .cfi_escape 0x10, 0xf, 0x3, 0x77, 0xe0, 0x0 # r15
  .cfi_escape 0x10, 0x5, 0x3, 0x77, 0xe8, 0x0 # rdi
  .cfi_escape 0x10, 0x4, 0x3, 0x77, 0xf0, 0x0 # rsi
  .cfi_escape 0x10, 0x6, 0x3, 0x77, 0xf8, 0x0 # rbp
  .cfi_escape 0x10, 0x3, 0x3, 0x77, 0x80, 0x1 # rbx
  .cfi_escape 0x10, 0x1, 0x3, 0x77, 0x88, 0x1 # rdx
  .cfi_escape 0x10, 0x0, 0x3, 0x77, 0x90, 0x1 # rax
  .cfi_escape 0x10, 0x2, 0x3, 0x77, 0x98, 0x1 # rcx
  .cfi_escape 0x10, 0x7, 0x3, 0x77, 0xa0, 0x1 # rsp
  .cfi_escape 0x10, 0x10, 0x3, 0x77, 0xa8, 0x1 # rip
  nop # unwinders look one byte before the return address
.type umw_restorer, @function
umw_restorer:
  mov $15, %rax
  syscall
  nop
.cfi_endproc
.size umw_restorer, . - umw_restorer
umw_syscalls_end:
.popsection
)");

extern "C" {
extern const char umw_syscalls_begin[];
extern const char umw_syscalls_end[];
void umw_restorer();
}

namespace umwelt::engine
{

namespace detail
{
volatile char syscall_selector = 0;
} // namespace detail

bool enable_syscall_dispatch()
{
  detail::syscall_selector = 0;
  return prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, umw_syscalls_begin,
               umw_syscalls_end - umw_syscalls_begin, &detail::syscall_selector) == 0;
}

void disable_syscall_dispatch()
{
  detail::syscall_selector = 0;
  prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_OFF, 0, 0, 0);
}

namespace
{

// It would hand the request on to the kernel, which then sends back its own system calls.
bool under_valgrind()
{
#ifdef RUNNING_ON_VALGRIND
  return RUNNING_ON_VALGRIND != 0;
#else
  return false;
#endif
}

} // namespace

bool have_syscall_dispatch()
{
  static const bool answer = [] {
    const bool can = !under_valgrind() && enable_syscall_dispatch();
    if (can)
      disable_syscall_dispatch();
    return can;
  }();
  return answer;
}

void install_handler(int signal, SignalHandler handler, int flags)
{
  // struct kernel_sigaction of x86-64 (arch/x86/include/uapi/asm/signal.h)
  struct {
    SignalHandler handler;
    std::uint64_t flags;
    void (*restorer)();
    std::uint64_t mask;
  } action{};
  constexpr std::uint64_t restorer_given = 0x04000000; // SA_RESTORER
  action.handler = handler;
  action.flags = static_cast<std::uint64_t>(flags) | SA_SIGINFO | SA_NODEFER | restorer_given;
  action.restorer = umw_restorer;
  syscall(SYS_rt_sigaction, signal, &action, nullptr, sizeof action.mask);
}

} // namespace umwelt::engine
