// SPDX-License-Identifier: LGPL-2.1-or-later
// The Portals functions under their own names in namespace counted: each counts its calls and its successes, so that a
// random test can show that it reaches all of them.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/portals/api/api.h"

namespace umwelt::portals::test
{

struct CallCount {
  const char* function;
  std::uint64_t calls = 0;
  std::uint64_t successes = 0;
};

namespace counted
{

enum class Function {
#define UMW_CALL(result, name, kind, version, level, note, ...) name,
#define UMW_CALL_VOID(name, kind, version, level, note, ...) name,
#include "preload/abi/tables/portals.def"
#undef UMW_CALL
#undef UMW_CALL_VOID
};

inline std::array counts = std::to_array<CallCount>({
#define UMW_CALL(result, name, kind, version, level, note, ...) {#name},
#define UMW_CALL_VOID(name, kind, version, level, note, ...) {#name},
#include "preload/abi/tables/portals.def"
#undef UMW_CALL
#undef UMW_CALL_VOID
});

inline int note(Function function, int result)
{
  CallCount& count = counts[static_cast<std::size_t>(function)];
  ++count.calls;
  // Polls succeed by answering, and PtlHandleIsEqual has no result code.
  count.successes += result == PTL_OK || result == PTL_EQ_DROPPED || function == Function::PtlHandleIsEqual ? 1 : 0;
  return result;
}

#define UMW_CALL(result, name, kind, version, level, remark, ...)                                                      \
  inline int name(Process& process __VA_OPT__(, ) UMW_LIST(UMW_PARAMETER, __VA_ARGS__))                                \
  {                                                                                                                    \
    return note(Function::name, api::name(process __VA_OPT__(, ) UMW_LIST(UMW_NAME, __VA_ARGS__)));                    \
  }
#define UMW_CALL_VOID(name, kind, version, level, remark, ...)                                                         \
  inline void name(Process& process __VA_OPT__(, ) UMW_LIST(UMW_PARAMETER, __VA_ARGS__))                               \
  {                                                                                                                    \
    api::name(process __VA_OPT__(, ) UMW_LIST(UMW_NAME, __VA_ARGS__));                                                 \
    note(Function::name, PTL_OK);                                                                                      \
  }
#include "preload/abi/tables/portals.def"
#undef UMW_CALL
#undef UMW_CALL_VOID

} // namespace counted
} // namespace umwelt::portals::test
