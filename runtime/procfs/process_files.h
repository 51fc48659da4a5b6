// SPDX-License-Identifier: LGPL-2.1-or-later
// Directories of processes below /proc: what they are on the simulated machine, and for the rest what the process that
// carries them is in this one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "runtime/procfs/machine_files.h"

namespace umwelt::procfs
{

constexpr std::int64_t ps_per_tick = 10'000'000'000; // USER_HZ is 100

struct ProcessFacts {
  struct Thread {
    int tid;
    char state;   // R or S
    Mask allowed; // cores
    unsigned core;
  };
  int pid;
  int parent;
  int session;
  pid_t host_pid; // on this machine
  std::string program;
  std::vector<std::string> argv;
  std::vector<std::string> environment;
  std::string directory;       // working directory
  std::int64_t started_ticks;  // after the node
  std::int64_t cpu_ticks;      // it has computed
  unsigned sockets;            // of the node
  std::vector<Thread> threads; // the first is the main one
};

// The process that `path` is about, "/proc/1000" or below; 0: none.
int process_of(std::string_view path);

// Makes what `path`, "/proc/1000/status", names of the process in `directory`, or brings it up to date: one file, the
// directories of its threads, or with the directory of the process, and what the machine's process has to show, all of
// it. Throws std::exception.
void make_process_files(const std::string& directory, const ProcessFacts& facts, std::string_view path);

} // namespace umwelt::procfs
