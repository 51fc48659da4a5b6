// SPDX-License-Identifier: LGPL-2.1-or-later
// shmget(2) and its kin on one node. A segment is a file in the node's directory, which ranks map; what the kernel
// keeps besides is here.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <sys/shm.h>

#include "runtime/sysv/table.h"

namespace umwelt::sysv
{

class Segments
{
public:
  // Files come into `directory`, which exists.
  explicit Segments(std::string directory) : directory_(std::move(directory)) {}

  // Results are those of the system calls, a negative errno on failure; `now`: seconds since the epoch, `pid`: who
  // calls.
  int get(key_t key, std::uint64_t size, int flags, int pid, std::int64_t now);
  std::int64_t attach(int id, int flags, int pid, std::int64_t now); // bytes
  int detach(int id, int pid, std::int64_t now);
  int control(int id, int command, shmid_ds* status, int pid, std::int64_t now);
  // The process has ended: what it has attached it no longer has.
  void forget(int pid, std::int64_t now);

private:
  struct Segment {
    ipc_perm permissions{};
    shmid_ds status{};
    std::map<int, unsigned> attached; // how often, by pid
  };

  [[nodiscard]] std::string path(int id) const;
  void end_if_unused(int id);

  std::string directory_;
  Table<Segment> table_;
};

} // namespace umwelt::sysv
