// SPDX-License-Identifier: LGPL-2.1-or-later
// mq_overview(7) on one node: queues by name, and what processes have opened of them.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>

#include "runtime/sysv/waiting.h"

namespace umwelt::sysv
{

class PosixQueues
{
public:
  struct Caller {
    int pid;
    Waiting* waiting;
  };
  // What a process wants to be told when a message comes into an empty queue, mq_notify(3).
  struct Notice {
    int signal;       // 0: nothing, but nobody else is told either
    std::int32_t tid; // 0: the process
    std::uint64_t value;
  };
  struct Shape {
    std::int64_t most_messages, longest_message; // bytes
  };
  // As mq_getattr(3) has them.
  struct Attributes {
    int flags;
    Shape shape;
    std::int64_t messages;
  };
  // `tell`: the process is told of a message of `sender`. `ready`: its descriptor has become, or is no longer,
  // readable.
  PosixQueues(std::function<void(int pid, const Notice&, int sender)> tell,
              std::function<void(int pid, int fd, bool readable)> ready);
  ~PosixQueues();
  PosixQueues(const PosixQueues&) = delete;
  PosixQueues& operator=(const PosixQueues&) = delete;

  // Results are those of the system calls, a negative errno on failure. `deadline` sim::never: no time-out.

  // Number of what was opened; `fd` is closed with it, or if this fails. `shape` null: the usual one.
  int open(const std::string& name, int flags, unsigned mode, const Shape* shape, int fd, const Caller& caller);
  int close(int number);
  int unlink(const std::string& name);
  // `flags` negative: they stay.
  int attributes(int number, int flags, Attributes& before);
  int send(int number, std::string text, unsigned priority, sim::SimTime deadline, const Caller& caller);
  std::int64_t receive(int number, std::uint64_t room, std::string& text, unsigned& priority, sim::SimTime deadline,
                       const Caller& caller);
  // Null: no longer.
  int notify(int number, const Notice* notice, const Caller& caller);
  // The process has ended: it waits no more, and has nothing open.
  void forget(int pid);

private:
  struct Message {
    unsigned priority;
    std::string text;
  };
  struct Waiter {
    int pid;
    Waiting* waiting;
  };
  struct Queue {
    Shape shape;
    unsigned owner, mode;
    std::list<Message> messages; // highest priority first, then oldest first
    std::list<Waiter> receivers, senders;
    int told = 0; // pid of the process that wants a notice; 0: none
    Notice notice{};
  };
  struct Open {
    std::shared_ptr<Queue> queue;
    int pid;
    int flags;
    int fd;
  };

  [[nodiscard]] Open* find(int number);
  static int wait(std::list<Waiter>& waiters, const Open& open, sim::SimTime deadline, const Caller& caller);
  void show(const Queue& queue, bool readable) const;

  std::function<void(int, const Notice&, int)> tell_;
  std::function<void(int, int, bool)> ready_;
  std::map<std::string, std::shared_ptr<Queue>> names_;
  std::map<int, Open> open_;
  int next_ = 0;
};

} // namespace umwelt::sysv
