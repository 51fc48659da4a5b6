// SPDX-License-Identifier: LGPL-2.1-or-later
// rdtsc and rdtscp in the code of programs: each is replaced by int3 in the rank's own copy when it is loaded, and
// tells simulated time (time_stamp_counter.h). prctl(PR_SET_TSC) would make every time stamp of the runtime itself a
// system call or a fault.
//
// What the rank opens later (dlopen) may read the counter in its constructors: before these run, the dynamic linker
// calls an empty function (r_debug::r_brk), for debuggers, whose `ret` is replaced by int3, too.
//
// Where instructions begin is not known without following the code, and the two or three bytes also occur by chance.
// What is taken for one is followed at once by the shift of its upper half by 32 bits, as compilers generate for
// __rdtsc() and everybody writes after the asm, or by copies of both halves; that does not occur by chance. Looked at
// are the program and the libraries it brings along; those below /lib and /usr keep the machine's counter, but for
// libpsm2.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include <link.h>

namespace umwelt::rank_host
{

struct Rank;

class TimeStamps
{
public:
  struct Site {
    std::uintptr_t address; // in the file's own terms
    unsigned bytes;         // of the instruction
  };

  TimeStamps();
  ~TimeStamps();
  TimeStamps(const TimeStamps&) = delete;
  TimeStamps& operator=(const TimeStamps&) = delete;

  // Those in the executable segments of a file, none if it cannot be read.
  static std::vector<Site> find(const std::string& path);

  // Takes over those of a rank that has been loaded, or that has opened or closed something since.
  void take_over(const Rank& rank);
  // From now on its linker stops when that has happened.
  void watch_linker(const Rank& rank);
  // Whether `pc` is where a linker stops then. May be asked by threads that load a rank.
  [[nodiscard]] bool is_notice(std::uintptr_t pc) const { return notices_.contains(pc); }
  // Bytes of the instruction that was at `pc`; 0: there was none.
  [[nodiscard]] unsigned at(std::uintptr_t pc) const;
  // The code is as it came from its files, until the same with false: for fork(2).
  void original_code(const Rank& rank, bool original) const;

private:
  struct Taken {
    const Rank* rank;
    unsigned bytes;
  };

  void put(const Rank& rank, std::uintptr_t pc, unsigned bytes);

  const int memory_; // /proc/self/mem
  std::unordered_map<std::string, std::vector<Site>> files_;
  std::unordered_map<std::uintptr_t, Taken> taken_;
  std::unordered_map<std::uintptr_t, const Rank*> notices_; // null: of all ranks that are loaded by dlmopen
};

} // namespace umwelt::rank_host
