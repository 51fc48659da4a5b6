// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "runtime/procfs/node_now.h"

namespace umwelt::job
{

class Rank;

// What its node is like for the rank that looks.
procfs::NodeNow node_now(const Rank& rank);

} // namespace umwelt::job
