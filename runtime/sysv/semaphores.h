// SPDX-License-Identifier: LGPL-2.1-or-later
// semget(2) and its kin on one node: sets of semaphores, operations on several at once, SEM_UNDO.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <span>
#include <vector>

#include <sys/sem.h>

#include "runtime/base/time.h"
#include "runtime/sysv/table.h"
#include "runtime/sysv/waiting.h"

namespace umwelt::sysv
{

class Semaphores
{
public:
  struct Caller {
    int pid;
    std::int64_t now; // seconds since the epoch
    Waiting* waiting;
  };

  // Results are those of the system calls, a negative errno on failure.
  int get(key_t key, int count, int flags, const Caller& caller);
  int operate(int id, std::span<const sembuf> operations, sim::SimTime deadline, const Caller& caller);
  // `values`: for GETALL, SETALL; as many as the set has.
  int control(int id, int number, int command, int value, semid_ds* status, std::span<unsigned short> values,
              const Caller& caller);
  // Semaphores of a set; a negative errno.
  int count(int id);
  // The process has ended: its operations with SEM_UNDO are undone.
  void forget(const Caller& caller);

private:
  struct Semaphore {
    int value = 0;
    int pid = 0; // of the last operation
  };
  struct Pending {
    std::span<const sembuf> operations;
    int pid;
    Waiting* waiting;
    int result = 1; // 1: not yet
    unsigned short blocked_on = 0;
    bool for_zero = false;
  };
  struct Set {
    ipc_perm permissions{};
    std::vector<Semaphore> semaphores;
    std::int64_t operated = 0, changed = 0; // seconds
    std::list<Pending*> pending;
    std::map<int, std::vector<int>> undo; // by pid: what is added at its end
  };

  static int attempt(Set& set, Pending& pending);
  static void serve_pending(Set& set, const Caller& caller);

  Table<Set> table_;
};

} // namespace umwelt::sysv
