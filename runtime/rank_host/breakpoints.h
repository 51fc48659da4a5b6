// SPDX-License-Identifier: LGPL-2.1-or-later
// int3 in the code of ranks, where the loops are that wait (waiting_loops.h).
//
// Code comes and goes without anybody being told: dlclose(3), munmap(2), a mapping on top of another. So nothing is
// written where the code is not known to be what it was: the thread that is there has just met it, or it is compared
// first (code_memory.h).
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/rank_host/code_memory.h"

namespace umwelt::rank_host
{

struct Rank;

class Breakpoints
{
public:
  using Code = std::array<unsigned char, 8>;
  struct Point {
    const Rank* rank;
    bool pause;      // in place of one, which need not be made up for
    bool looks;      // what comes between two visits of a thread that waits can write nothing
    unsigned misses; // visits in a row by threads that did not wait
    unsigned most_misses;
    std::array<std::int64_t, 15>
        round; // by how much it changes each general register once round its loop, all but %rsp
    Code code; // as it was, as far as it reaches in memory
    std::size_t bytes;
  };

  // The breakpoint that was set at `pc`; null: none. It is still there if a thread has just met it.
  Point* find(std::uintptr_t pc);
  [[nodiscard]] bool contains(std::uintptr_t pc) const { return points_.contains(pc); }
  // The program's own code at `pc`, as many bytes of it as are in memory.
  std::size_t read_code(std::uintptr_t pc, Code& code) const;
  // Whether it is still there. One that has gone with its code is forgotten.
  bool stands(std::uintptr_t pc);
  // Makes one where the running thread is about to go on. False: the code cannot be written.
  bool set(std::uintptr_t pc, const Rank& rank, unsigned most_misses);
  void clear(std::uintptr_t pc);
  // Takes it away until put_back(), if its code is still there by then.
  void lift(std::uintptr_t pc);
  // All of a rank's; the same.
  void lift_all(const Rank& rank);
  void put_back();

  // The thread that has met it is to execute what was there before; one at a time.
  void step_over(std::uintptr_t pc);
  // It has. False: nobody was to.
  bool stepped_over();

private:
  [[nodiscard]] bool holds(std::uintptr_t pc, const Point& point) const;

  const CodeMemory memory_;
  std::unordered_map<std::uintptr_t, Point> points_;
  std::vector<std::pair<std::uintptr_t, Point>> lifted_;
  std::uintptr_t over_ = 0; // where one is away while its instruction is executed
};

} // namespace umwelt::rank_host
