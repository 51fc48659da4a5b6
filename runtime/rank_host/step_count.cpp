// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/rank_host/step_count.h"

#include <sys/mman.h>

#include "runtime/engine/burst_meter.h"
#include "runtime/rank_host/machine_context.h"
#include "runtime/rank_host/path_times.h"
#include "runtime/rank_host/rank_host.h"

namespace umwelt::rank_host
{

namespace
{

constexpr std::uintptr_t page_bytes = 4096;
constexpr std::uint64_t vector_bytes = 32; // that an instruction of a copy moves

// The program may be about to jump to where nothing is.
bool is_there(std::uintptr_t page)
{
  unsigned char present = 0;
  return mincore(reinterpret_cast<void*>(page), page_bytes, &present) == 0;
}

bool is_system_call(const unsigned char* code)
{
  return code[0] == 0x0f && (code[1] == 0x05 || code[1] == 0x34);
}

// With a prefix that repeats it: bytes per element, 0: it is none. Intel SDM, volume 2, REP.
unsigned string_element(const unsigned char* code)
{
  if (code[0] != 0xf3 && code[0] != 0xf2)
    return 0;
  const bool wide = (code[1] & 0xf8) == 0x48; // REX.W
  const unsigned char operation = code[wide ? 2 : 1];
  switch (operation) {
  case 0xa4: // movs, cmps, stos, lods, scas of bytes
  case 0xa6:
  case 0xaa:
  case 0xac:
  case 0xae:
    return 1;
  case 0xa5: // of words
  case 0xa7:
  case 0xab:
  case 0xad:
  case 0xaf:
    return wide ? 8 : 4;
  default:
    return 0;
  }
}

} // namespace

void StepCount::begin(Thread& thread)
{
  thread_ = &thread;
  spoilt_ = false;
  instructions_ = steps_ = elements_ = 0;
  last_ = page_ = 0;
}

void StepCount::step(ucontext_t& context)
{
  const std::uintptr_t pc = pc_of(context);
  constexpr std::uintptr_t longest_instruction = 15;
  const std::uintptr_t page = (pc + longest_instruction) & ~(page_bytes - 1);
  if (page != page_ && !(is_there(pc & ~(page_bytes - 1)) && is_there(page)))
    spoilt_ = true;
  page_ = page;
  if (!spoilt_) {
    const auto* code = reinterpret_cast<const unsigned char*>(pc);
    const unsigned element = string_element(code);
    if (pc == last_ && element != 0)
      elements_ += element;
    else
      ++instructions_;
    last_ = pc;
    spoilt_ = is_system_call(code) || ++steps_ >= PathTimes::most_steps;
  }
  if (spoilt_)
    set_trap_flag(context, false);
  const std::uint64_t passed = counted();
  thread_->rank.gate.clock.burst_start =
      engine::BurstMeter::ticks() - static_cast<std::uint64_t>(static_cast<double>(passed) * ticks_);
}

std::uint64_t StepCount::counted() const
{
  return instructions_ + elements_ / vector_bytes;
}

std::uint64_t StepCount::end()
{
  thread_ = nullptr;
  return spoilt_ ? 0 : counted();
}

} // namespace umwelt::rank_host
