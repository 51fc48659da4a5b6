// SPDX-License-Identifier: LGPL-2.1-or-later
// `umwelt openmpi`: which Open MPI a program has, and whether there are Portals components for it; builds them.
#pragma once

#include <string>

#include "runtime/base/environment.h"
#include "runtime/openmpi/components.h"

namespace umwelt::openmpi
{

// `what`: a program, or a libmpi.so.40. `source`: to build from; empty: nothing is built. Prints what it found; the
// exit code: whether there are components now. Throws loader::Refusal and UsageError.
int examine(const Parts& parts, const std::string& what, const std::string& source, const Lookup& environment);

} // namespace umwelt::openmpi
