// SPDX-License-Identifier: LGPL-2.1-or-later
// The Portals functions as the gate calls them: those of preload/abi/tables/portals.def, each with the process that
// calls as first argument and otherwise with the arguments and results of preload/abi/portals4.h.
//
// Pointers lead into this address space; what describes memory of the program inside a structure (start, scatter/gather
// lists) leads into Process::memory(). Functions that wait do so through Host::wait on the calling simulated thread.
#pragma once

#include "preload/abi/portals4.h"
#include "preload/abi/table.h"

namespace umwelt::portals
{

class Process;

namespace api
{

#define UMW_CALL(result, name, kind, version, level, note, ...)                                                        \
  result name(Process& process __VA_OPT__(, ) UMW_LIST(UMW_PARAMETER, __VA_ARGS__));
#define UMW_CALL_VOID(name, kind, version, level, note, ...)                                                           \
  void name(Process& process __VA_OPT__(, ) UMW_LIST(UMW_PARAMETER, __VA_ARGS__));
#include "preload/abi/tables/portals.def"
#undef UMW_CALL
#undef UMW_CALL_VOID

} // namespace api
} // namespace umwelt::portals
