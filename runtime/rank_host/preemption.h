// SPDX-License-Identifier: LGPL-2.1-or-later
// Where a thread must not be taken from its core, nor stepped through: in the runtime's or the shim's own code, which
// counts on that, and where the program would notice.
#pragma once

#include <ucontext.h>

namespace umwelt::rank_host
{

struct Thread;

[[nodiscard]] bool no_preempt(const Thread& thread, const ucontext_t& context);

} // namespace umwelt::rank_host
