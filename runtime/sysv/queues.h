// SPDX-License-Identifier: LGPL-2.1-or-later
// msgget(2) and its kin on one node.
#pragma once

#include <cstdint>
#include <list>
#include <string>

#include <sys/msg.h>

#include "runtime/sysv/table.h"
#include "runtime/sysv/waiting.h"

namespace umwelt::sysv
{

class Queues
{
public:
  struct Caller {
    int pid;
    std::int64_t now; // seconds since the epoch
    Waiting* waiting;
  };

  // Results are those of the system calls, a negative errno on failure.
  int get(key_t key, int flags, const Caller& caller);
  int send(int id, long type, std::string text, int flags, const Caller& caller);
  // The message goes into `type` and `text`; bytes, at most `size`.
  std::int64_t receive(int id, long& type, std::string& text, std::uint64_t size, int flags, const Caller& caller);
  int control(int id, int command, msqid_ds* status, const Caller& caller);
  // The process has ended: it waits no more.
  void forget(int pid);

private:
  struct Message {
    long type;
    std::string text;
  };
  struct Waiter {
    int pid;
    Waiting* waiting;
    bool removed = false; // the queue is gone
  };
  struct Queue {
    ipc_perm permissions{};
    std::list<Message> messages;
    std::list<Waiter*> waiters;
    std::uint64_t bytes = 0, most_bytes = 0;
    int sender = 0, receiver = 0;
    std::int64_t sent = 0, received = 0, changed = 0; // seconds
  };

  static std::list<Message>::iterator choose(Queue& queue, long type, int flags);
  static int wait(Queue& queue, const Caller& caller);
  static void wake_all(Queue& queue, const Caller& caller);

  Table<Queue> table_;
};

} // namespace umwelt::sysv
