// SPDX-License-Identifier: LGPL-2.1-or-later
// Threads that go on without a call and are interrupted for others to run (rank_host/slices.h): counted, and a hint for
// users who have too many of them.
#pragma once

namespace umwelt::job
{

class Rank;

// The running thread of `rank` has been interrupted. Where a rank has more threads than this machine has cores, and
// they spin so much that it shows, the user is told once what to do.
void count_interruption(Rank& rank);

} // namespace umwelt::job
