// SPDX-License-Identifier: LGPL-2.1-or-later
// System V IPC: shared memory, semaphores and message queues of the rank's node.
#include <cstring>
#include <string>
#include <vector>

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
  const sim::SimTime deadline = duration < 0 ? sim::never : rank.job.scheduler().now() + duration;
  return node_of(rank).semaphores.operate(id, {static_cast<const sembuf*>(operations), count}, deadline,
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

} // namespace umwelt::gate::services
