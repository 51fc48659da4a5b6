// SPDX-License-Identifier: LGPL-2.1-or-later
// The kernel copies, so that memory that is not there or not to be written is an error it returns, no fault here.
#include "runtime/rank_host/string_instructions.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <sys/uio.h>
#include <unistd.h>

#include "runtime/rank_host/machine_context.h"

namespace umwelt::rank_host
{

namespace
{

constexpr greg_t direction_flag = 0x400;

struct StringInstruction {
  unsigned bytes = 0; // of its code; 0: it is none
  unsigned width = 0; // of an element
  bool copies = false;
};

StringInstruction decode(const unsigned char* code)
{
  if (code[0] != 0xf3)
    return {};
  const bool wide = code[1] == 0x48; // REX.W
  const unsigned bytes = wide ? 3 : 2;
  switch (code[bytes - 1]) {
  case 0xa4:
    return {bytes, 1, true};
  case 0xa5:
    return {bytes, wide ? 8U : 4U, true};
  case 0xaa:
    return {bytes, 1, false};
  case 0xab:
    return {bytes, wide ? 8U : 4U, false};
  default:
    return {};
  }
}

bool copy(std::uintptr_t to, std::uintptr_t from, std::uint64_t bytes)
{
  const iovec there{reinterpret_cast<void*>(to), bytes};
  const iovec here{reinterpret_cast<void*>(from), bytes};
  return process_vm_writev(getpid(), &here, 1, &there, 1, 0) == static_cast<ssize_t>(bytes);
}

bool fill(std::uintptr_t to, greg_t value, unsigned width, std::uint64_t bytes)
{
  std::array<unsigned char, 4096> pattern;
  for (std::size_t at = 0; at < pattern.size(); at += width)
    std::memcpy(&pattern[at], &value, width);
  for (std::uint64_t done = 0; done < bytes; done += pattern.size())
    if (!copy(to + done, reinterpret_cast<std::uintptr_t>(pattern.data()),
              std::min<std::uint64_t>(bytes - done, pattern.size())))
      return false;
  return true;
}

} // namespace

std::uint64_t execute_string_instruction(ucontext_t& context)
{
  auto& registers = context.uc_mcontext.gregs;
  const StringInstruction instruction = decode(reinterpret_cast<const unsigned char*>(pc_of(context)));
  const std::uint64_t bytes = static_cast<std::uint64_t>(registers[REG_RCX]) * instruction.width;
  if (bytes == 0 || (registers[REG_EFL] & direction_flag) != 0)
    return 0;
  const auto to = static_cast<std::uintptr_t>(registers[REG_RDI]);
  const auto from = static_cast<std::uintptr_t>(registers[REG_RSI]);
  if (instruction.copies) {
    if (to - from < bytes || from - to < bytes || !copy(to, from, bytes))
      return 0;
    registers[REG_RSI] += static_cast<greg_t>(bytes);
  } else if (!fill(to, registers[REG_RAX], instruction.width, bytes)) {
    return 0;
  }
  registers[REG_RDI] += static_cast<greg_t>(bytes);
  registers[REG_RCX] = 0;
  registers[REG_RIP] += instruction.bytes;
  return bytes;
}

} // namespace umwelt::rank_host
