// SPDX-License-Identifier: LGPL-2.1-or-later
// What an instruction of a rank's loop does, as far as it has to be known (Intel SDM volume 2, chapter 2 and appendix
// A).
#pragma once

#include <cstddef>
#include <span>

namespace umwelt::rank_host
{

// Whether the instruction at the beginning of `code` certainly writes to no memory: a load, comparison, test, jump,
// pause or load fence, as in loops that wait for somebody else. False: it may write, or is not one of these.
bool only_looks(std::span<const unsigned char> code);

} // namespace umwelt::rank_host
