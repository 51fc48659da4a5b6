// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/sysv/posix_queues.h"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace umwelt::sysv
{

namespace
{

// /proc/sys/fs/mqueue, and the bounds of the super-user (HARD_MSGMAX, HARD_MSGSIZEMAX of Linux).
constexpr PosixQueues::Shape usual{10, 8192};
constexpr PosixQueues::Shape largest{65536, 16 << 20};
constexpr std::size_t most_queues = 256;
constexpr unsigned most_priorities = 32768; // MQ_PRIO_MAX
constexpr std::size_t longest_name = 255;   // NAME_MAX

// As the C library and the kernel's mq_open() see it; 0 or a negative errno.
int check(const std::string& name)
{
  if (name.empty() || name.front() != '/')
    return -EINVAL;
  if (name.size() == 1)
    return -ENOENT;
  if (name.size() - 1 > longest_name)
    return -ENAMETOOLONG;
  return name.find('/', 1) != std::string::npos || name == "/." || name == "/.." ? -EACCES : 0;
}

bool may_be(const PosixQueues::Shape& shape)
{
  const PosixQueues::Shape& bound = geteuid() == 0 ? largest : usual;
  return shape.most_messages > 0 && shape.longest_message > 0 && shape.most_messages <= bound.most_messages &&
         shape.longest_message <= bound.longest_message;
}

bool reads(int flags)
{
  return (flags & O_ACCMODE) != O_WRONLY;
}

bool writes(int flags)
{
  return (flags & O_ACCMODE) != O_RDONLY;
}

} // namespace

PosixQueues::PosixQueues(std::function<void(int, const Notice&, int)> tell, std::function<void(int, int, bool)> ready)
    : tell_(std::move(tell)), ready_(std::move(ready))
{
}

PosixQueues::~PosixQueues()
{
  for (const auto& [number, open] : open_)
    ::close(open.fd);
}

PosixQueues::Open* PosixQueues::find(int number)
{
  const auto entry = open_.find(number);
  return entry == open_.end() ? nullptr : &entry->second;
}

void PosixQueues::show(const Queue& queue, bool readable) const
{
  for (const auto& [number, open] : open_)
    if (open.queue.get() == &queue)
      ready_(open.pid, open.fd, readable);
}

int PosixQueues::open(const std::string& name, int flags, unsigned mode, const Shape* shape, int fd,
                      const Caller& caller)
{
  const auto refuse = [fd](int error) {
    ::close(fd);
    return error;
  };
  if (const int error = check(name); error != 0)
    return refuse(error);
  if ((flags & O_ACCMODE) == O_ACCMODE)
    return refuse(-EINVAL);
  const auto known = names_.find(name);
  std::shared_ptr<Queue> queue;
  if (known == names_.end()) {
    if ((flags & O_CREAT) == 0)
      return refuse(-ENOENT);
    if (shape != nullptr && !may_be(*shape))
      return refuse(-EINVAL);
    if (names_.size() >= most_queues && geteuid() != 0)
      return refuse(-ENOSPC);
    queue = std::make_shared<Queue>();
    queue->shape = shape != nullptr ? *shape : usual;
    queue->owner = geteuid();
    queue->mode = mode;
    names_[name] = queue;
  } else {
    queue = known->second;
    if ((flags & O_CREAT) != 0 && (flags & O_EXCL) != 0)
      return refuse(-EEXIST);
    const unsigned wanted = (reads(flags) ? 04U : 0U) | (writes(flags) ? 02U : 0U); // all ranks are of the same user
    if (geteuid() != 0 && (wanted & ~(queue->mode >> 6)) != 0)
      return refuse(-EACCES);
  }
  const int number = next_++;
  open_[number] = {queue, caller.pid, flags & (O_ACCMODE | O_NONBLOCK), fd};
  if (!queue->messages.empty())
    ready_(caller.pid, fd, true);
  return number;
}

int PosixQueues::close(int number)
{
  const Open* open = find(number);
  if (open == nullptr)
    return -EBADF;
  if (open->queue->told == open->pid)
    open->queue->told = 0;
  ::close(open->fd);
  open_.erase(number);
  return 0;
}

int PosixQueues::unlink(const std::string& name)
{
  if (const int error = check(name); error != 0)
    return error;
  const auto known = names_.find(name);
  if (known == names_.end())
    return -ENOENT;
  names_.erase(known);
  return 0;
}

int PosixQueues::attributes(int number, int flags, Attributes& before)
{
  Open* open = find(number);
  if (open == nullptr)
    return -EBADF;
  if (flags >= 0 && (flags & ~O_NONBLOCK) != 0)
    return -EINVAL;
  before = {open->flags & O_NONBLOCK, open->queue->shape, static_cast<std::int64_t>(open->queue->messages.size())};
  if (flags >= 0)
    open->flags = (open->flags & ~O_NONBLOCK) | flags;
  return 0;
}

// 0: look again; a negative errno.
int PosixQueues::wait(std::list<Waiter>& waiters, const Open& open, sim::SimTime deadline, const Caller& caller)
{
  if ((open.flags & O_NONBLOCK) != 0)
    return -EAGAIN;
  const auto self = waiters.insert(waiters.end(), {caller.pid, caller.waiting});
  const Waiting::End end = caller.waiting->wait(deadline);
  waiters.erase(self);
  return end == Waiting::End::woken ? 0 : end == Waiting::End::deadline ? -ETIMEDOUT : -EINTR;
}

int PosixQueues::send(int number, std::string text, unsigned priority, sim::SimTime deadline, const Caller& caller)
{
  if (priority >= most_priorities)
    return -EINVAL;
  const Open* open = find(number);
  if (open == nullptr || !writes(open->flags))
    return -EBADF;
  const std::shared_ptr<Queue> queue = open->queue; // which others may close meanwhile
  if (static_cast<std::int64_t>(text.size()) > queue->shape.longest_message)
    return -EMSGSIZE;
  while (static_cast<std::int64_t>(queue->messages.size()) >= queue->shape.most_messages)
    if (const int error = wait(queue->senders, *open, deadline, caller); error != 0)
      return error;
    else if (find(number) != open)
      return -EBADF;
  const auto behind = std::find_if(queue->messages.begin(), queue->messages.end(),
                                   [priority](const Message& message) { return message.priority < priority; });
  queue->messages.insert(behind, {priority, std::move(text)});
  if (queue->messages.size() == 1) {
    show(*queue, true);
    if (queue->receivers.empty() && queue->told != 0)
      tell_(std::exchange(queue->told, 0), queue->notice, caller.pid);
  }
  for (const Waiter& waiter : queue->receivers)
    waiter.waiting->wake(*caller.waiting);
  return 0;
}

std::int64_t PosixQueues::receive(int number, std::uint64_t room, std::string& text, unsigned& priority,
                                  sim::SimTime deadline, const Caller& caller)
{
  const Open* open = find(number);
  if (open == nullptr || !reads(open->flags))
    return -EBADF;
  const std::shared_ptr<Queue> queue = open->queue;
  if (room < static_cast<std::uint64_t>(queue->shape.longest_message))
    return -EMSGSIZE;
  while (queue->messages.empty())
    if (const int error = wait(queue->receivers, *open, deadline, caller); error != 0)
      return error;
    else if (find(number) != open)
      return -EBADF;
  Message message = std::move(queue->messages.front());
  queue->messages.pop_front();
  if (queue->messages.empty())
    show(*queue, false);
  for (const Waiter& waiter : queue->senders)
    waiter.waiting->wake(*caller.waiting);
  priority = message.priority;
  text = std::move(message.text);
  return static_cast<std::int64_t>(text.size());
}

int PosixQueues::notify(int number, const Notice* notice, const Caller& caller)
{
  const Open* open = find(number);
  if (open == nullptr)
    return -EBADF;
  Queue& queue = *open->queue;
  if (notice == nullptr) {
    if (queue.told == caller.pid)
      queue.told = 0;
    return 0;
  }
  if (queue.told != 0)
    return -EBUSY;
  queue.told = caller.pid;
  queue.notice = *notice;
  return 0;
}

void PosixQueues::forget(int pid)
{
  for (auto entry = open_.begin(); entry != open_.end();) {
    if (entry->second.pid != pid) {
      ++entry;
      continue;
    }
    Queue& queue = *entry->second.queue;
    if (queue.told == pid)
      queue.told = 0;
    for (std::list<Waiter>* waiters : {&queue.receivers, &queue.senders})
      waiters->remove_if([pid](const Waiter& waiter) { return waiter.pid == pid; });
    ::close(entry->second.fd);
    entry = open_.erase(entry);
  }
}

} // namespace umwelt::sysv
