// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/rank_host/step_count.h"

#include <algorithm>
#include <array>
#include <span>

#include <gnu/libc-version.h>
#include <link.h>

#include "runtime/engine/burst_meter.h"
#include "runtime/rank_host/machine_context.h"
#include "runtime/rank_host/rank_host.h"
#include "runtime/rank_host/string_instructions.h"

// Of this program, by the linker.
extern "C" const char __executable_start; // NOLINT(bugprone-reserved-identifier)
extern "C" const char etext;

namespace umwelt::rank_host
{

namespace
{

constexpr std::size_t longest_instruction = 15;
constexpr std::size_t chunk = 256; // of code that is looked at; more is several pieces of straight code
using End = StraightCode::End;

std::vector<loader::AddressRange> code_of_c_library()
{
  std::vector<loader::AddressRange> code;
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* found) {
        const auto here = reinterpret_cast<std::uintptr_t>(&gnu_get_libc_version);
        for (const ElfW(Phdr) & segment : std::span(object->dlpi_phdr, object->dlpi_phnum)) {
          const std::uintptr_t begin = object->dlpi_addr + segment.p_vaddr;
          if (segment.p_type == PT_LOAD && here - begin < segment.p_memsz)
            static_cast<std::vector<loader::AddressRange>*>(found)->push_back({begin, begin + segment.p_memsz});
        }
        return 0;
      },
      &code);
  return code;
}

bool is_runtime(std::uintptr_t pc)
{
  return pc >= reinterpret_cast<std::uintptr_t>(&__executable_start) && pc < reinterpret_cast<std::uintptr_t>(&etext);
}

} // namespace

StepCount::StepCount(const Pace& pace, double ticks_per_ps)
    : pace_(pace), ticks_per_ps_(ticks_per_ps), c_library_(code_of_c_library())
{
}

void StepCount::begin(Thread& thread)
{
  thread_ = &thread;
  returned_ = false;
  instructions_ = copied_ = steps_ = 0;
  next_ = 0;
  codes_.clear();
}

void StepCount::step(ucontext_t& context)
{
  set_trap_flag(context, false);
  if (is_runtime(pc_of(context))) {
    set_trap_flag(context, true);
    tell_clock();
    return;
  }
  add(1);
  advance(context);
}

bool StepCount::met(ucontext_t& context, std::uintptr_t pc)
{
  if (!patches_.contains(pc))
    return false;
  context.uc_mcontext.gregs[REG_RIP] = static_cast<greg_t>(pc);
  if (pc != next_) { // by a signal's handler, say
    spoil();
    return true;
  }
  add(on_the_way_);
  if (end_ == End::none) {
    unpatch(pc);
    advance(context);
  } else if (execute(context, end_)) {
    advance(context);
  } else {
    step_next(context);
  }
  return true;
}

// From where the thread stands to the next end of straight code.
void StepCount::advance(ucontext_t& context)
{
  while (++steps_ < PathTimes::most_steps) {
    const std::uintptr_t pc = pc_of(context);
    if (is_runtime(pc)) { // it comes back, or makes the call that ends the burst
      if (returned_)      // from the program's handler of a signal
        break;
      const auto stack = static_cast<std::uintptr_t>(context.uc_mcontext.gregs[REG_RSP]);
      next_ = *reinterpret_cast<const std::uintptr_t*>(stack);
      on_the_way_ = 0;
      end_ = End::none;
      if (!patch(next_))
        break;
      return tell_clock();
    }
    if (loader::lies_in(pc, c_library_))
      break;
    const StraightCode& code = code_at(pc);
    if (code.end == End::system_call || code.end == End::unreadable || (code.end == End::none && code.bytes == 0))
      break;
    if (code.bytes == 0 && execute(context, code.end))
      continue;
    if (code.bytes == 0 || loader::lies_in(pc, thread_->rank.of_process)) { // no breakpoint there: others run it, too
      step_next(context);
      return;
    }
    next_ = pc + code.bytes;
    on_the_way_ = code.instructions;
    end_ = code.end;
    if (!patch(next_))
      break;
    return tell_clock();
  }
  spoil();
}

const StraightCode& StepCount::code_at(std::uintptr_t pc)
{
  const auto [known, is_new] = codes_.try_emplace(pc);
  if (is_new) {
    std::array<unsigned char, chunk> bytes{};
    const std::size_t there = memory_.read(pc, bytes);
    for (std::size_t i = 0; i < there; ++i)
      if (bytes[i] == CodeMemory::int3)
        if (const auto patch = patches_.find(pc + i); patch != patches_.end())
          bytes[i] = patch->second;
    known->second = straight_code(std::span(bytes).first(there));
  }
  return known->second;
}

// What ends straight code. False: the thread has to.
bool StepCount::execute(ucontext_t& context, End end)
{
  if (end == End::string) {
    const std::uint64_t bytes = execute_string_instruction(context);
    add(bytes > 0 ? 1 : 0, bytes);
    return bytes > 0;
  }
  const std::uintptr_t pc = pc_of(context);
  std::array<unsigned char, longest_instruction> code{};
  const std::size_t there = memory_.read(pc, code);
  if (const auto patch = patches_.find(pc); patch != patches_.end())
    code[0] = patch->second;
  const greg_t stack = context.uc_mcontext.gregs[REG_RSP];
  if (!take_branch(context, std::span(code).first(there), memory_))
    return false;
  returned_ = context.uc_mcontext.gregs[REG_RSP] > stack;
  add(1);
  return true;
}

void StepCount::step_next(ucontext_t& context)
{
  unpatch(pc_of(context));
  set_trap_flag(context, true);
  tell_clock();
}

bool StepCount::patch(std::uintptr_t pc)
{
  if (patches_.contains(pc))
    return true;
  unsigned char byte = 0;
  if (memory_.read(pc, {&byte, 1}) != 1 || byte == CodeMemory::int3 || !memory_.write(pc, CodeMemory::int3))
    return false;
  patches_.emplace(pc, byte);
  return true;
}

void StepCount::unpatch(std::uintptr_t pc)
{
  const auto patch = patches_.find(pc);
  if (patch == patches_.end())
    return;
  if (memory_.is_patched(pc)) // the program may have written other code
    (void)memory_.write(pc, patch->second);
  patches_.erase(patch);
}

void StepCount::unpatch_all()
{
  while (!patches_.empty())
    unpatch(patches_.begin()->first);
}

void StepCount::spoil()
{
  thread_->counted_in_vain = std::max<std::uint64_t>(steps_, 1);
  unpatch_all(); // a microsecond each, of thousands perhaps
  tell_clock();
  thread_ = nullptr;
}

// But for what the shim charges itself.
void StepCount::add(std::uint64_t instructions, std::uint64_t copied)
{
  if (thread_->rank.gate.paused != 0)
    return;
  instructions_ += instructions;
  copied_ += copied;
}

void StepCount::tell_clock()
{
  thread_->rank.gate.clock.burst_start =
      engine::BurstMeter::ticks() - static_cast<std::uint64_t>(static_cast<double>(time()) * ticks_per_ps_);
}

sim::SimTime StepCount::time() const
{
  return static_cast<sim::SimTime>(instructions_) * pace_.instruction +
         static_cast<sim::SimTime>(static_cast<double>(copied_) * pace_.copied_byte);
}

Count StepCount::end()
{
  thread_ = nullptr;
  unpatch_all();
  return {time(), steps_};
}

} // namespace umwelt::rank_host
