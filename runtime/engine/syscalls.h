// SPDX-License-Identifier: LGPL-2.1-or-later
// System calls that ranks make without asking the shim: an inline `syscall` instruction in libgomp, a futex wait inside
// the C library. One of these could block the one OS thread that runs everything.
//
// Syscall User Dispatch (Linux 5.11, Documentation/admin-guide/syscall-user-dispatch.rst) makes the kernel raise SIGSYS
// instead of doing such a call while a byte in memory, the selector, says so. Crossing (thread_pointer.h) moves it, so
// the runtime's own calls go through. Code between umw_syscalls_begin and umw_syscalls_end is exempt: there the handler
// does calls in the rank's place, and there every handler of the runtime returns through, for rt_sigreturn is a system
// call too.
#pragma once

#include <csignal>
#include <cstdint>

namespace umwelt::engine
{

namespace detail
{
extern volatile char syscall_selector; // SYSCALL_DISPATCH_FILTER_ALLOW or _BLOCK
} // namespace detail

// Turns the dispatch on for the calling thread, with every call allowed for now. False: this kernel cannot.
bool enable_syscall_dispatch();
void disable_syscall_dispatch();
// Whether the kernel can; asks it once.
bool have_syscall_dispatch();

constexpr int si_user_dispatch = 2; // si_code of SIGSYS, SYS_USER_DISPATCH in Linux' siginfo.h

using SignalHandler = void (*)(int, siginfo_t*, void*);
// As sigaction(2) with SA_SIGINFO | SA_NODEFER, an empty mask and a return path that is exempt from the dispatch.
void install_handler(int signal, SignalHandler handler, int flags);

extern "C" std::int64_t umw_raw_syscall(std::int64_t number, std::int64_t a, std::int64_t b, std::int64_t c,
                                        std::int64_t d, std::int64_t e, std::int64_t f);

} // namespace umwelt::engine
