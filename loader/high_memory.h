// SPDX-License-Identifier: LGPL-2.1-or-later
// Address space above everything that ranks load. In a process of its own a program lies low, and what it maps "some
// gigabytes above my data" comes to lie there. Ranks are loaded from the top down, with no room above them. So room is
// reserved before the first of them, and the shim puts there what would otherwise come to lie below
// (preload/memory/memory.c).
#pragma once

#include "preload/abi/gate.h"

namespace umwelt::loader
{

// Reserves it, the first time: up to 1 TiB of addresses, no memory; nothing where `ulimit -v` is small. What is loaded
// from then on lies below. A child process inherits it, and gives out its own share.
umw_high_memory& high_memory();

// Before processes that carry ranks are forked: half of it becomes memory that they and this one share, where possible.
void share_high_memory();
// In process `index` of `count`: its share of that; elsewhere nothing is accessible. A process beyond these has none.
void take_high_memory(unsigned index, unsigned count);

} // namespace umwelt::loader
