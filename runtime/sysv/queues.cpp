// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/sysv/queues.h"

#include <algorithm>
#include <utility>

namespace umwelt::sysv
{

namespace
{
constexpr std::size_t most_queues = 32000;     // MSGMNI
constexpr std::size_t longest_message = 8192;  // MSGMAX
constexpr std::uint64_t most_of_queue = 16384; // MSGMNB
} // namespace

int Queues::get(key_t key, int flags, const Caller& caller)
{
  return table_.get(
      key, flags, most_queues, [](const Queue&) { return 0; },
      [&caller](const ipc_perm& permissions, int) {
        auto queue = std::make_unique<Queue>();
        queue->permissions = permissions;
        queue->most_bytes = most_of_queue;
        queue->changed = caller.now;
        return queue;
      });
}

// 0: look again; a negative errno.
int Queues::wait(Queue& queue, const Caller& caller)
{
  Waiter self{caller.pid, caller.waiting};
  queue.waiters.push_back(&self);
  const Waiting::End end = caller.waiting->wait(sim::never);
  if (self.removed)
    return -EIDRM;
  queue.waiters.remove(&self);
  return end == Waiting::End::signal ? -EINTR : 0;
}

void Queues::wake_all(Queue& queue, const Caller& caller)
{
  for (const Waiter* waiter : queue.waiters)
    waiter->waiting->wake(*caller.waiting);
}

int Queues::send(int id, long type, std::string text, int flags, const Caller& caller)
{
  if (type < 1 || text.size() > longest_message)
    return -EINVAL;
  Queue* queue = table_.find(id);
  if (queue == nullptr)
    return -EINVAL;
  if (!grants(queue->permissions, writable))
    return -EACCES;
  while (queue->bytes + text.size() > queue->most_bytes || queue->messages.size() >= queue->most_bytes) {
    if ((flags & IPC_NOWAIT) != 0)
      return -EAGAIN;
    if (const int error = wait(*queue, caller); error != 0)
      return error;
  }
  queue->bytes += text.size();
  queue->messages.push_back({type, std::move(text)});
  queue->sender = caller.pid;
  queue->sent = caller.now;
  wake_all(*queue, caller);
  return 0;
}

std::list<Queues::Message>::iterator Queues::choose(Queue& queue, long type, int flags)
{
  std::list<Message>& all = queue.messages;
  if (type == 0)
    return all.begin();
  if (type > 0)
    return std::find_if(all.begin(), all.end(), [type, except = (flags & MSG_EXCEPT) != 0](const Message& message) {
      return (message.type == type) != except;
    });
  const auto lowest =
      std::min_element(all.begin(), all.end(), [](const Message& a, const Message& b) { return a.type < b.type; });
  return lowest != all.end() && lowest->type <= -type ? lowest : all.end();
}

std::int64_t Queues::receive(int id, long& type, std::string& text, std::uint64_t size, int flags, const Caller& caller)
{
  Queue* queue = table_.find(id);
  if (queue == nullptr)
    return -EINVAL;
  if (!grants(queue->permissions, readable))
    return -EACCES;
  for (;;) {
    const auto message = choose(*queue, type, flags);
    if (message != queue->messages.end()) {
      if (message->text.size() > size && (flags & MSG_NOERROR) == 0)
        return -E2BIG;
      queue->bytes -= message->text.size();
      type = message->type;
      text = message->text.substr(0, size);
      queue->messages.erase(message);
      queue->receiver = caller.pid;
      queue->received = caller.now;
      wake_all(*queue, caller);
      return static_cast<std::int64_t>(text.size());
    }
    if ((flags & IPC_NOWAIT) != 0)
      return -ENOMSG;
    if (const int error = wait(*queue, caller); error != 0)
      return error;
  }
}

int Queues::control(int id, int command, msqid_ds* status, const Caller& caller)
{
  Queue* queue = table_.find(id);
  if (queue == nullptr)
    return -EINVAL;
  switch (command) {
  case IPC_STAT:
    if (!grants(queue->permissions, readable))
      return -EACCES;
    *status = {};
    status->msg_perm = queue->permissions;
    status->msg_stime = queue->sent;
    status->msg_rtime = queue->received;
    status->msg_ctime = queue->changed;
    status->__msg_cbytes = queue->bytes;
    status->msg_qnum = queue->messages.size();
    status->msg_qbytes = queue->most_bytes;
    status->msg_lspid = queue->sender;
    status->msg_lrpid = queue->receiver;
    return 0;
  case IPC_SET:
    if (!may_change(queue->permissions) || (status->msg_qbytes > most_of_queue && geteuid() != 0))
      return -EPERM;
    change(queue->permissions, status->msg_perm);
    queue->most_bytes = status->msg_qbytes;
    queue->changed = caller.now;
    wake_all(*queue, caller);
    return 0;
  case IPC_RMID:
    if (!may_change(queue->permissions))
      return -EPERM;
    for (Waiter* waiter : queue->waiters)
      waiter->removed = true;
    wake_all(*queue, caller);
    table_.remove(id);
    return 0;
  default:
    return -EINVAL;
  }
}

void Queues::forget(int pid)
{
  for (auto& [id, queue] : table_.objects())
    queue->waiters.remove_if([pid](const Waiter* waiter) { return waiter->pid == pid; });
}

} // namespace umwelt::sysv
