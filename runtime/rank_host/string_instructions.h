// SPDX-License-Identifier: LGPL-2.1-or-later
// Repeated string instructions (`rep movsb`, `rep stosb`: copies and fills of the C library), executed at once where a
// thread goes on instruction by instruction: they trap after every element.
#pragma once

#include <cstdint>

#include <ucontext.h>

namespace umwelt::rank_host
{

// The thread stands before such an instruction: does what it does and lets the thread stand behind it. The bytes it has
// written; 0: it is none, or one that has to be executed by the thread itself, since it faults or overlaps itself, say.
// Intel SDM, volume 2, "REP", "MOVS", "STOS".
[[nodiscard]] std::uint64_t execute_string_instruction(ucontext_t& context);

} // namespace umwelt::rank_host
