// SPDX-License-Identifier: LGPL-2.1-or-later
// Zydis for the code of ranks: x86-64.
#pragma once

#include <Zydis/Zydis.h>

namespace umwelt::entries
{

inline const ZydisDecoder& decoder()
{
  static const ZydisDecoder decoder = [] {
    ZydisDecoder made;
    ZydisDecoderInit(&made, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    return made;
  }();
  return decoder;
}

} // namespace umwelt::entries
