// SPDX-License-Identifier: LGPL-2.1-or-later
// Portals components for an Open MPI that somebody has built, by CMake and that machine's compiler
// (preload/openmpi/own/CMakeLists.txt).
#pragma once

#include <filesystem>

#include "runtime/base/environment.h"
#include "runtime/openmpi/components.h"

namespace umwelt::openmpi
{

// Makes them, in place of those that are there, and says where they are. `source`: of that very release, a directory
// (configured or not) or an archive. Takes half a minute, and some minutes more where Open MPI has to be configured
// again, which a line on standard error announces. Throws loader::Refusal, with the end of what the tools said, if it
// fails: then nothing is kept but the log that the message names.
std::filesystem::path build(const Parts& parts, const std::filesystem::path& library,
                            const std::filesystem::path& source, const Lookup& environment);

} // namespace umwelt::openmpi
