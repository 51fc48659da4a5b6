// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/rank_host/breakpoints.h"

#include <span>
#include <utility>

namespace umwelt::rank_host
{

namespace
{
constexpr unsigned char int3 = CodeMemory::int3;
} // namespace

// Whether the code is there as it was before the breakpoint.
bool Breakpoints::holds(std::uintptr_t pc, const Point& point) const
{
  std::array<unsigned char, 8> now{};
  if (memory_.read(pc, std::span(now).first(point.bytes)) != point.bytes)
    return false;
  for (std::size_t i = 0; i < point.bytes; ++i) {
    const auto other = points_.find(pc + i);
    if (now[i] != point.code[i] && (i == 0 || other == points_.end() || now[i] != int3))
      return false;
  }
  return true;
}

std::size_t Breakpoints::read_code(std::uintptr_t pc, Code& code) const
{
  const std::size_t bytes = memory_.read(pc, code);
  for (std::size_t i = 0; i < bytes; ++i)
    if (const auto point = points_.find(pc + i); point != points_.end() && code[i] == int3)
      code[i] = point->second.code[0];
  return bytes;
}

Breakpoints::Point* Breakpoints::find(std::uintptr_t pc)
{
  const auto found = points_.find(pc);
  return found != points_.end() ? &found->second : nullptr;
}

bool Breakpoints::stands(std::uintptr_t pc)
{
  const auto found = points_.find(pc);
  if (found == points_.end() || pc == over_ || memory_.is_patched(pc))
    return found != points_.end();
  points_.erase(found);
  return false;
}

bool Breakpoints::set(std::uintptr_t pc, const Rank& rank, unsigned most_misses)
{
  Point point{&rank, false, false, 0, most_misses, {}, {}, 0};
  point.bytes = read_code(pc, point.code);
  if (point.bytes < 2)
    return false;
  point.pause = point.code[0] == 0xf3 && point.code[1] == 0x90;
  if (!memory_.write(pc, int3))
    return false;
  points_.insert_or_assign(pc, point);
  return true;
}

void Breakpoints::clear(std::uintptr_t pc)
{
  const auto found = points_.find(pc);
  if (found == points_.end())
    return;
  if (memory_.is_patched(pc))
    (void)memory_.write(pc, found->second.code[0]);
  points_.erase(found);
  if (over_ == pc)
    over_ = 0;
}

void Breakpoints::lift(std::uintptr_t pc)
{
  if (const auto found = points_.find(pc); found != points_.end()) {
    lifted_.emplace_back(pc, found->second);
    clear(pc);
  }
}

void Breakpoints::lift_all(const Rank& rank)
{
  std::vector<std::uintptr_t> all;
  for (const auto& [pc, point] : points_)
    if (point.rank == &rank)
      all.push_back(pc);
  for (const std::uintptr_t pc : all)
    lift(pc);
}

void Breakpoints::put_back()
{
  for (const auto& [pc, point] : std::exchange(lifted_, {}))
    if (!points_.contains(pc) && holds(pc, point) && memory_.write(pc, int3))
      points_.emplace(pc, point);
}

void Breakpoints::step_over(std::uintptr_t pc)
{
  stepped_over(); // another thread, which has made a system call instead
  if (const auto found = points_.find(pc); found != points_.end() && memory_.write(pc, found->second.code[0]))
    over_ = pc;
}

bool Breakpoints::stepped_over()
{
  const std::uintptr_t pc = std::exchange(over_, 0);
  if (pc == 0)
    return false;
  if (const auto found = points_.find(pc);
      found != points_.end() && (!holds(pc, found->second) || !memory_.write(pc, int3)))
    points_.erase(found);
  return true;
}

} // namespace umwelt::rank_host
