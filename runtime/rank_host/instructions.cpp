// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/rank_host/instructions.h"

namespace umwelt::rank_host
{

namespace
{

constexpr bool is_rex(unsigned char byte)
{
  return (byte & 0xf0) == 0x40;
}

constexpr unsigned extension(unsigned char modrm) // of the opcode
{
  return modrm >> 3 & 7;
}

} // namespace

bool only_looks(std::span<const unsigned char> code)
{
  std::size_t at = 0;
  const auto next = [&]() -> unsigned { return at < code.size() ? code[at++] : 0; };
  unsigned opcode = next();
  if (opcode == 0xf3)
    return next() == 0x90; // pause
  if (opcode == 0x66)
    opcode = next();
  if (is_rex(static_cast<unsigned char>(opcode)))
    opcode = next();
  if (opcode >= 0x70 && opcode <= 0x7f) // jcc rel8
    return true;
  switch (opcode) {
  case 0x38: // cmp
  case 0x39:
  case 0x3a:
  case 0x3b:
  case 0x3c:
  case 0x3d:
  case 0x63: // movsxd
  case 0x84: // test
  case 0x85:
  case 0x8a: // mov from memory
  case 0x8b:
  case 0x90: // nop
  case 0xa8: // test
  case 0xa9:
  case 0xe9: // jmp
  case 0xeb:
    return true;
  case 0x80: // cmp with a constant
  case 0x81:
  case 0x83:
    return extension(static_cast<unsigned char>(next())) == 7;
  case 0xf6: // test with a constant
  case 0xf7:
    return extension(static_cast<unsigned char>(next())) == 0;
  case 0x0f:
    break;
  default:
    return false;
  }
  opcode = next();
  switch (opcode) {
  case 0x1f: // nop
  case 0xb6: // movzx
  case 0xb7:
  case 0xbe: // movsx
  case 0xbf:
    return true;
  case 0xae:
    return next() == 0xe8; // lfence
  default:
    return opcode >= 0x80 && opcode <= 0x8f; // jcc rel32
  }
}

} // namespace umwelt::rank_host
