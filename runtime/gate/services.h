// SPDX-License-Identifier: LGPL-2.1-or-later
// The services of preload/abi/tables/services.def; arguments and results as declared there. Each family has a file of
// its own: *_services.cpp.
#pragma once

#include "preload/abi/gate.h"

namespace umwelt::job
{
class Rank;
}

namespace umwelt::gate::services
{

#define UMW_SERVICE(result_type, name, kind, note, ...)                                                                \
  result_type name(job::Rank& rank __VA_OPT__(, UMW_LIST(UMW_PARAMETER, __VA_ARGS__)));
#include "preload/abi/tables/services.def"
#undef UMW_SERVICE

} // namespace umwelt::gate::services
