// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/entries/moved_code.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "runtime/entries/decoder.h"

namespace umwelt::entries
{

namespace
{

constexpr unsigned char jump = 0xe9;

bool is_branch(const ZydisDecodedInstruction& instruction)
{
  return instruction.meta.category == ZYDIS_CATEGORY_COND_BR || instruction.meta.category == ZYDIS_CATEGORY_UNCOND_BR ||
         instruction.meta.category == ZYDIS_CATEGORY_CALL;
}

// The bytes in front of the distance of the same branch with 32 bits of it; empty: it has no such form.
std::vector<unsigned char> long_form(const ZydisDecodedInstruction& instruction)
{
  constexpr unsigned char two_bytes = 0x0f;
  const unsigned char opcode = instruction.opcode;
  if (instruction.opcode_map == ZYDIS_OPCODE_MAP_0F && opcode >= 0x80 && opcode <= 0x8f)
    return {two_bytes, opcode};
  if (instruction.opcode_map != ZYDIS_OPCODE_MAP_DEFAULT)
    return {};
  if (opcode >= 0x70 && opcode <= 0x7f)
    return {two_bytes, static_cast<unsigned char>(opcode + 0x10)};
  if (opcode == 0xeb)
    return {jump};
  if (opcode == jump || opcode == 0xe8)
    return {opcode};
  return {};
}

// Whether the code begins with so many bytes of what stands between functions.
bool is_padding(std::span<const unsigned char> code, std::size_t bytes)
{
  for (std::size_t at = 0; at < bytes;) {
    ZydisDecodedInstruction instruction;
    if (at >= code.size() || !ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder(), nullptr, code.data() + at,
                                                                         code.size() - at, &instruction)))
      return false;
    if (instruction.mnemonic != ZYDIS_MNEMONIC_NOP && instruction.mnemonic != ZYDIS_MNEMONIC_INT3)
      return false;
    at += instruction.length;
  }
  return true;
}

// Whether a branch of the function leads behind its first instruction, but not behind the first `moved` bytes.
bool comes_back(std::span<const unsigned char> function, std::size_t moved)
{
  for (std::size_t at = 0; at < function.size();) {
    ZydisDecodedInstruction instruction;
    std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands;
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder(), function.data() + at, function.size() - at, &instruction,
                                             operands.data()))) {
      ++at; // a table among the code
      continue;
    }
    at += instruction.length;
    if (!is_branch(instruction) || instruction.operand_count == 0 || operands[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE ||
        operands[0].imm.is_relative == ZYAN_FALSE)
      continue;
    const std::uint64_t target = at + operands[0].imm.value.u;
    if (target > 0 && target < moved)
      return true;
  }
  return false;
}

} // namespace

std::optional<MovedCode> MovedCode::of(std::span<const unsigned char> function, std::uint64_t address, std::string& why)
{
  MovedCode result;
  std::vector<unsigned char>& code = result.code_;
  const auto refuse = [&why](std::string text) {
    why = std::move(text);
    return std::nullopt;
  };
  // What begins with `opcode` and ends with a distance.
  const auto go_to = [&](std::span<const unsigned char> opcode, std::uint64_t target) {
    code.insert(code.end(), opcode.begin(), opcode.end());
    const std::size_t offset = code.size();
    code.resize(offset + sizeof(std::int32_t));
    result.distances_.push_back({offset, code.size(), target});
  };
  std::size_t at = 0;
  bool ends = false; // what follows is not reached
  while (at < call_bytes && !ends) {
    ZydisDecodedInstruction instruction;
    std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands;
    const auto rest = function.subspan(std::min(at, function.size()));
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder(), rest.data(), rest.size(), &instruction, operands.data())))
      return refuse(rest.empty() ? fmt::format("has {} bytes, {} are needed", at, call_bytes)
                                 : fmt::format("has bytes at +{} that are no instruction", at));
    const std::size_t next = at + instruction.length;
    const bool relative = (instruction.attributes & ZYDIS_ATTRIB_IS_RELATIVE) != 0;
    if (is_branch(instruction) && relative) {
      const auto opcode = long_form(instruction);
      if (opcode.empty())
        return refuse(fmt::format("has a branch at +{} that cannot be moved", at));
      go_to(opcode, address + next + operands[0].imm.value.u);
    } else {
      const std::size_t begin = code.size();
      code.insert(code.end(), rest.begin(), rest.begin() + instruction.length);
      if (relative) {
        if (instruction.raw.disp.size != 32)
          return refuse(fmt::format("has an instruction at +{} that cannot be moved", at));
        result.distances_.push_back({begin + instruction.raw.disp.offset, code.size(),
                                     address + next + static_cast<std::uint64_t>(instruction.raw.disp.value)});
      }
    }
    ends = instruction.meta.category == ZYDIS_CATEGORY_RET || instruction.meta.category == ZYDIS_CATEGORY_UNCOND_BR;
    at = next;
  }
  if (at < call_bytes && !is_padding(function.subspan(at), call_bytes - at))
    return refuse(fmt::format("ends after {} bytes, {} are needed", at, call_bytes));
  const std::size_t moved = std::max(at, call_bytes);
  if (comes_back(function, moved))
    return refuse(fmt::format("is gone back to, within its first {} bytes", moved));
  if (!ends)
    go_to(std::array<unsigned char, 1>{jump}, address + at);
  return result;
}

std::size_t MovedCode::bytes() const
{
  return code_.size();
}

std::optional<std::vector<unsigned char>> MovedCode::at(std::uint64_t place) const
{
  constexpr std::int64_t reach = std::numeric_limits<std::int32_t>::max();
  std::vector<unsigned char> copy = code_;
  for (const Distance& one : distances_) {
    const auto distance = static_cast<std::int64_t>(one.target - (place + one.next));
    if (distance > reach || distance < -reach)
      return std::nullopt;
    const auto narrow = static_cast<std::int32_t>(distance);
    std::memcpy(copy.data() + one.offset, &narrow, sizeof narrow);
  }
  return copy;
}

} // namespace umwelt::entries
