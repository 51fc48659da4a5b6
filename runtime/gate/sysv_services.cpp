// SPDX-License-Identifier: LGPL-2.1-or-later
// System V IPC and message queues of POSIX of the rank's node.
#include <cstring>
#include <string>
#include <vector>

#include "preload/abi/time_units.h"
#include "runtime/gate/services.h"
#include "runtime/job/job.h"
#include "runtime/job/rank.h"
#include "runtime/job/sysv_host.h"

namespace umwelt::gate::services
{

using job::Rank;
using job::SysvCall;
using job::SysvHost;

namespace
{
SysvHost::Node& node_of(const Rank& rank)
{
  return rank.job.sysv().of(rank);
}

sim::SimTime deadline(const Rank& rank, std::int64_t duration)
{
  return duration < 0 ? sim::never : umw_time_after(rank.job.scheduler().now(), duration);
}
} // namespace

int umw_shm_get(Rank& rank, int key, std::uint64_t size, int flags)
{
  return node_of(rank).segments.get(key, size, flags, rank.gate.pid, SysvHost::now(rank));
}

std::int64_t umw_shm_attach(Rank& rank, int id, int flags)
{
  return node_of(rank).segments.attach(id, flags, rank.gate.pid, SysvHost::now(rank));
}

int umw_shm_detach(Rank& rank, int id)
{
  return node_of(rank).segments.detach(id, rank.gate.pid, SysvHost::now(rank));
}

int umw_shm_control(Rank& rank, int id, int command, void* status)
{
  return node_of(rank).segments.control(id, command, static_cast<shmid_ds*>(status), rank.gate.pid,
                                        SysvHost::now(rank));
}

int umw_sem_get(Rank& rank, int key, int count, int flags)
{
  SysvCall call(rank);
  return node_of(rank).semaphores.get(key, count, flags, call.semaphores());
}

int umw_sem_operate(Rank& rank, int id, const void* operations, std::uint64_t count, std::int64_t duration)
{
  SysvCall call(rank);
  return node_of(rank).semaphores.operate(id, {static_cast<const sembuf*>(operations), count}, deadline(rank, duration),
                                          call.semaphores());
}

int umw_sem_count(Rank& rank, int id)
{
  return node_of(rank).semaphores.count(id);
}

int umw_sem_control(Rank& rank, int id, int number, int command, int value, void* status, void* values,
                    std::uint64_t count)
{
  SysvCall call(rank);
  return node_of(rank).semaphores.control(id, number, command, value, static_cast<semid_ds*>(status),
                                          {static_cast<unsigned short*>(values), count}, call.semaphores());
}

int umw_msg_get(Rank& rank, int key, int flags)
{
  SysvCall call(rank);
  return node_of(rank).queues.get(key, flags, call.queues());
}

int umw_msg_send(Rank& rank, int id, std::int64_t type, const void* text, std::uint64_t size, int flags)
{
  SysvCall call(rank);
  return node_of(rank).queues.send(id, type, std::string(static_cast<const char*>(text), size), flags, call.queues());
}

std::int64_t umw_msg_receive(Rank& rank, int id, std::int64_t* type, void* text, std::uint64_t size, int flags)
{
  SysvCall call(rank);
  long wanted = *type;
  std::string message;
  const std::int64_t result = node_of(rank).queues.receive(id, wanted, message, size, flags, call.queues());
  *type = wanted;
  if (result > 0)
    std::memcpy(text, message.data(), message.size());
  return result;
}

int umw_msg_control(Rank& rank, int id, int command, void* status)
{
  SysvCall call(rank);
  return node_of(rank).queues.control(id, command, static_cast<msqid_ds*>(status), call.queues());
}

int umw_queue_open(Rank& rank, const char* name, int flags, int mode, const std::int64_t* shape, int fd)
{
  SysvCall call(rank);
  const int own = rank.job.descriptor_of(rank, fd);
  if (own < 0)
    return own;
  sysv::PosixQueues::Shape wanted{};
  if (shape != nullptr)
    wanted = {shape[0], shape[1]};
  return node_of(rank).posix_queues.open(name, flags, static_cast<unsigned>(mode), shape != nullptr ? &wanted : nullptr,
                                         own, call.posix_queues());
}

int umw_queue_close(Rank& rank, int number)
{
  return node_of(rank).posix_queues.close(number);
}

int umw_queue_unlink(Rank& rank, const char* name)
{
  return node_of(rank).posix_queues.unlink(name);
}

int umw_queue_attributes(Rank& rank, int number, int flags, std::int64_t* before)
{
  sysv::PosixQueues::Attributes found{};
  const int status = node_of(rank).posix_queues.attributes(number, flags, found);
  before[0] = found.flags;
  before[1] = found.shape.most_messages;
  before[2] = found.shape.longest_message;
  before[3] = found.messages;
  return status;
}

int umw_queue_send(Rank& rank, int number, const void* text, std::uint64_t size, std::uint32_t priority,
                   std::int64_t duration)
{
  SysvCall call(rank);
  return node_of(rank).posix_queues.send(number, std::string(static_cast<const char*>(text), size), priority,
                                         deadline(rank, duration), call.posix_queues());
}

std::int64_t umw_queue_receive(Rank& rank, int number, void* text, std::uint64_t room, std::uint32_t* priority,
                               std::int64_t duration)
{
  SysvCall call(rank);
  std::string message;
  const std::int64_t result = node_of(rank).posix_queues.receive(number, room, message, *priority,
                                                                 deadline(rank, duration), call.posix_queues());
  if (result > 0)
    std::memcpy(text, message.data(), message.size());
  return result;
}

int umw_queue_notify(Rank& rank, int number, int signal, int tid, std::uint64_t value)
{
  SysvCall call(rank);
  const sysv::PosixQueues::Notice notice{signal, tid, value};
  return node_of(rank).posix_queues.notify(number, signal < 0 ? nullptr : &notice, call.posix_queues());
}

} // namespace umwelt::gate::services
