// SPDX-License-Identifier: LGPL-2.1-or-later
// An OS thread for what the kernel knows of a rank's main thread. ld.so registers its thread control block with the
// kernel (set_tid_address, robust list, rseq): were it the runtime's thread, the rank's registrations would take the
// place of the runtime's. So ld.so runs on a thread of its own until the first initialiser of the shim hands over
// (preload/process/start.c): that thread is a donor then: it supplies the thread control block and sleeps, and the rank
// goes on from the same place in the runtime's thread. The kernel's id of the sleeping thread remains the rank's main
// thread's: owner of its mutexes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "preload/abi/gate.h"

namespace umwelt::loader
{

// Lets a thread with all signals but faults blocked begin with that function, which does not return; `handover` says
// how it ends. Throws std::system_error.
void start_parked_thread(void (*function)(void*), void* argument, std::size_t stack_bytes, umw_handover& handover);

// Returns when it is no longer loading.
void wait_for_handover(umw_handover& handover);

// By the thread itself: it has come to an end, and sleeps from now on. Uses no thread-local storage.
[[noreturn]] void end_parked_thread(umw_handover& handover, umw_loading ending, int status);

// In a signal handler, first of all: a fault of a thread that has not handed over. Returns if it is another's.
void fault_of_parked_thread(int signal);

} // namespace umwelt::loader
