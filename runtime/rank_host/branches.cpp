// SPDX-License-Identifier: LGPL-2.1-or-later
// Intel SDM, volume 2: "CALL", "Jcc", "JMP", "RET"; volume 1, appendix B: conditions.
#include "runtime/rank_host/branches.h"

#include <array>
#include <cstring>
#include <optional>

#include "runtime/entries/decoder.h"
#include "runtime/rank_host/machine_context.h"

namespace umwelt::rank_host
{

namespace
{

using entries::decoder;

constexpr std::size_t word = 8;

std::optional<StraightCode::End> end_of(const ZydisDecodedInstruction& instruction)
{
  switch (instruction.meta.category) {
  case ZYDIS_CATEGORY_COND_BR:
  case ZYDIS_CATEGORY_UNCOND_BR:
  case ZYDIS_CATEGORY_CALL:
  case ZYDIS_CATEGORY_RET:
    return StraightCode::End::branch;
  case ZYDIS_CATEGORY_STRINGOP:
    if ((instruction.attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE)) != 0)
      return StraightCode::End::string;
    return std::nullopt;
  case ZYDIS_CATEGORY_SYSCALL:
  case ZYDIS_CATEGORY_SYSRET:
  case ZYDIS_CATEGORY_INTERRUPT:
    return StraightCode::End::system_call;
  default:
    return std::nullopt;
  }
}

bool holds(unsigned condition, greg_t flags)
{
  const auto flag = [flags](unsigned bit) { return (flags >> bit & 1) != 0; };
  const bool carry = flag(0);
  const bool parity = flag(2);
  const bool zero = flag(6);
  const bool sign = flag(7);
  const bool overflow = flag(11);
  const std::array<bool, 8> conditions{
      overflow, carry, zero, carry || zero, sign, parity, sign != overflow, zero || sign != overflow};
  return conditions[condition >> 1] != ((condition & 1) != 0);
}

// Its number among the general registers of a signal's context; nothing: it is none of 64 bits.
std::optional<int> number_of(ZydisRegister name)
{
  constexpr std::array<int, 16> numbers{REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                        REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
  if (name < ZYDIS_REGISTER_RAX || name > ZYDIS_REGISTER_R15)
    return std::nullopt;
  return numbers[static_cast<std::size_t>(name - ZYDIS_REGISTER_RAX)];
}

std::optional<std::uint64_t> load(const CodeMemory& memory, std::uint64_t address)
{
  std::array<unsigned char, word> bytes{};
  if (memory.read(address, bytes) != bytes.size())
    return std::nullopt;
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data(), bytes.size());
  return value;
}

bool store(const CodeMemory& memory, std::uint64_t address, std::uint64_t value)
{
  std::array<unsigned char, word> bytes{};
  std::memcpy(bytes.data(), &value, bytes.size());
  return memory.write(address, bytes);
}

// What a register holds, 0: none is named.
std::optional<std::uint64_t> value_of(const ucontext_t& context, ZydisRegister name, std::uint64_t next)
{
  if (name == ZYDIS_REGISTER_NONE)
    return 0;
  if (name == ZYDIS_REGISTER_RIP)
    return next;
  const std::optional<int> number = number_of(name);
  if (!number)
    return std::nullopt;
  return static_cast<std::uint64_t>(context.uc_mcontext.gregs[*number]);
}

std::optional<std::uint64_t> target(const ucontext_t& context, const ZydisDecodedOperand& operand, std::uint64_t next,
                                    const CodeMemory& memory)
{
  switch (operand.type) {
  case ZYDIS_OPERAND_TYPE_IMMEDIATE:
    return next + operand.imm.value.u;
  case ZYDIS_OPERAND_TYPE_REGISTER:
    return value_of(context, operand.reg.value, next);
  case ZYDIS_OPERAND_TYPE_MEMORY: {
    const std::optional<std::uint64_t> base = value_of(context, operand.mem.base, next);
    const std::optional<std::uint64_t> index = value_of(context, operand.mem.index, next);
    if (operand.mem.segment == ZYDIS_REGISTER_FS || operand.mem.segment == ZYDIS_REGISTER_GS || !base || !index)
      return std::nullopt;
    return load(memory, *base + *index * operand.mem.scale + static_cast<std::uint64_t>(operand.mem.disp.value));
  }
  default:
    return std::nullopt;
  }
}

} // namespace

StraightCode straight_code(std::span<const unsigned char> code)
{
  StraightCode found;
  while (found.bytes < code.size()) {
    ZydisDecodedInstruction instruction;
    const auto rest = code.subspan(found.bytes);
    const ZyanStatus status =
        ZydisDecoderDecodeInstruction(&decoder(), nullptr, rest.data(), rest.size(), &instruction);
    if (status == ZYDIS_STATUS_NO_MORE_DATA)
      return found;
    if (!ZYAN_SUCCESS(status)) {
      found.end = StraightCode::End::unreadable;
      return found;
    }
    if (const auto end = end_of(instruction)) {
      found.end = *end;
      return found;
    }
    ++found.instructions;
    found.bytes += instruction.length;
  }
  return found;
}

bool take_branch(ucontext_t& context, std::span<const unsigned char> code, const CodeMemory& memory)
{
  ZydisDecodedInstruction instruction;
  std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands;
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder(), code.data(), code.size(), &instruction, operands.data())) ||
      instruction.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR || instruction.address_width != 64)
    return false;
  auto& registers = context.uc_mcontext.gregs;
  const std::uint64_t next = pc_of(context) + instruction.length;
  const auto stack = static_cast<std::uint64_t>(registers[REG_RSP]);
  const auto go_to = [&](std::uint64_t pc, std::uint64_t new_stack) {
    registers[REG_RIP] = static_cast<greg_t>(pc);
    registers[REG_RSP] = static_cast<greg_t>(new_stack);
    return true;
  };
  if (instruction.meta.category == ZYDIS_CATEGORY_RET) {
    const std::optional<std::uint64_t> caller = load(memory, stack);
    if (instruction.mnemonic != ZYDIS_MNEMONIC_RET || !caller)
      return false;
    const bool takes_more = instruction.opcode == 0xc2; // off the stack
    return go_to(*caller, stack + word + (takes_more ? operands[0].imm.value.u : 0));
  }
  if (instruction.operand_count_visible != 1)
    return false;
  if (instruction.meta.category == ZYDIS_CATEGORY_COND_BR) {
    const bool near = instruction.opcode_map == ZYDIS_OPCODE_MAP_0F;
    const unsigned base = near ? 0x80 : 0x70;
    if (instruction.opcode < base || instruction.opcode > base + 15)
      return false; // by a register, or a transaction
    const bool taken = holds(instruction.opcode & 15, registers[REG_EFL]);
    return go_to(taken ? next + operands[0].imm.value.u : next, stack);
  }
  const std::optional<std::uint64_t> to = target(context, operands[0], next, memory);
  if (!to)
    return false;
  if (instruction.meta.category == ZYDIS_CATEGORY_UNCOND_BR)
    return instruction.mnemonic == ZYDIS_MNEMONIC_JMP && go_to(*to, stack);
  return store(memory, stack - word, next) && go_to(*to, stack - word);
}

} // namespace umwelt::rank_host
