// SPDX-License-Identifier: LGPL-2.1-or-later
// Where a thread must not be taken from its core, nor stepped through: in the runtime's or the shim's own code, which
// counts on that, and where the program would notice.
#pragma once

#include <ucontext.h>

namespace umwelt::rank_host
{

struct Thread;

[[nodiscard]] bool no_preempt(const Thread& thread, const ucontext_t& context);

// Whether it may hold a lock of the C library's own (malloc's, a stream's, ld.so's), on which another thread of the
// rank would wait in the kernel, for ever: threads of a process take turns on one OS thread. Such a lock is held while
// code of the C library runs, but for ld.so's, which the shim has made one of the simulation (linker_lock.c). With
// dlmopen that is every rank's and as it was: dlsym and dladdr hold it, and whoever calls a function for the first time
// wants it.
[[nodiscard]] bool may_hold_lock(const Thread& thread, const ucontext_t& context);

} // namespace umwelt::rank_host
