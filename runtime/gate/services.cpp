// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/gate/services.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include <unistd.h>

#include "loader/stub.h"
#include "runtime/job/job.h"
#include "runtime/job/pmi_socket.h"
#include "runtime/job/rank.h"

namespace umwelt::gate::services
{

using job::Rank;
using sim::SimTime;

namespace
{

SimTime deadline(const Rank& rank, std::int64_t duration)
{
  return duration < 0 ? sim::never : rank.job.scheduler().now() + duration;
}

} // namespace

// Crossing has settled the burst.
std::int64_t umw_clock_settle(Rank& rank, int)
{
  return rank.job.scheduler().now();
}

int umw_sleep(Rank& rank, std::int64_t duration)
{
  rank.job.scheduler().sleep(duration);
  return 0;
}

int umw_yield(Rank& rank, int)
{
  rank.job.scheduler().yield();
  rank.job.polling().empty(rank);
  return 0;
}

int umw_started(Rank& rank, int)
{
  rank.job.started(rank);
  return 0;
}

int umw_exit(Rank& rank, int status, int kind, const char* message)
{
  switch (kind) {
  case UMW_EXIT_SIGNAL:
    rank.job.died(rank, status, nullptr, nullptr);
  case UMW_EXIT_ABORT:
    rank.job.aborted(rank, status, "MPI_Abort", message);
  default:
    rank.job.exited(rank, status);
  }
}

int umw_warn(Rank& rank, const char* text)
{
  rank.job.warn(rank, text);
  return 0;
}

int umw_change_directory(Rank& rank, const char* path, int fd)
{
  return rank.job.change_directory(rank, path, fd);
}

int umw_joined(Rank& rank, int)
{
  rank.joined = true;
  return 0;
}

int umw_left(Rank& rank, int)
{
  rank.joined = false;
  return 0;
}

int umw_key_put(Rank& rank, const char* key, const void* data, std::uint64_t size)
{
  rank.job.keys().put(static_cast<std::size_t>(rank.index), key, std::string(static_cast<const char*>(data), size));
  return 0;
}

int umw_key_commit(Rank& rank, int)
{
  rank.job.keys().commit(static_cast<std::size_t>(rank.index));
  for (const auto& other : rank.job.ranks())
    other->notify_all(); // one of them may wait for a key
  return 0;
}

std::int64_t umw_key_get(Rank& rank, int whose, const char* key, void* buffer, std::uint64_t capacity, int wait)
{
  const auto asking = static_cast<std::size_t>(rank.index);
  const auto asked = static_cast<std::size_t>(whose);
  if (whose < 0 || asked >= rank.job.ranks().size())
    return -ENOENT;
  const std::string* value = rank.job.keys().get(asking, asked, key);
  while (value == nullptr && wait != 0 && rank.job.ranks()[asked]->phase != Rank::Phase::ended &&
         !rank.job.keys().committed(asked)) {
    rank.wait(sim::never);
    value = rank.job.keys().get(asking, asked, key);
  }
  if (value == nullptr)
    return -ENOENT;
  std::memcpy(buffer, value->data(), std::min<std::size_t>(capacity, value->size()));
  return static_cast<std::int64_t>(value->size());
}

int umw_fence(Rank& rank, int)
{
  rank.job.fence(rank);
  return 0;
}

int umw_pmi_serve(Rank& rank, int)
{
  rank.pmi->serve();
  return 0;
}

int umw_pmi_wait(Rank& rank, int)
{
  rank.pmi->wait();
  return 0;
}

int umw_loader_lock(Rank& rank, int take)
{
  if (take != 0)
    rank.job.lock_loader(rank);
  else
    rank.job.unlock_loader(rank);
  return 0;
}

int umw_stub_create(Rank& rank, const char* const* needed, int count, char* path, std::uint64_t capacity)
{
  const std::string name = rank.job.new_stub_path();
  if (name.size() >= capacity)
    return -ENAMETOOLONG;
  try {
    loader::write_stub(name, std::vector<std::string>(needed, needed + count));
  } catch (const std::system_error& error) {
    return -error.code().value();
  }
  std::strcpy(path, name.c_str());
  return 0;
}

int umw_stub_remove(Rank& rank, const char* path)
{
  return rank.job.plan().options.keep_temps || unlink(path) == 0 ? 0 : -errno;
}

int umw_thread_create(Rank& rank, umw_thread_start start, void* argument, std::uint64_t stack_bytes,
                      std::uint64_t* thread)
{
  return rank.job.create_thread(rank, start, argument, stack_bytes, *thread);
}

int umw_thread_end(Rank& rank, int)
{
  rank.job.end_thread(rank);
}

int umw_thread_join(Rank& rank, std::uint64_t thread)
{
  rank.job.join_thread(rank, thread);
  return 0;
}

int umw_thread_wait(Rank& rank, std::uint64_t seen, std::int64_t duration)
{
  if (rank.gate.wakes != seen) // while this thread's own burst was being charged
    return 0;
  return rank.wait(deadline(rank, duration)) ? 0 : 1;
}

int umw_thread_wake(Rank& rank, int)
{
  rank.notify_all();
  return 0;
}

int umw_affinity_get(Rank& rank, int tid, unsigned char* bits, std::uint64_t bytes)
{
  return rank.job.get_affinity(rank, tid, bits, bytes);
}

int umw_affinity_set(Rank& rank, int tid, const unsigned char* bits, std::uint64_t bytes)
{
  return rank.job.set_affinity(rank, tid, bits, bytes);
}

std::int64_t umw_futex(Rank& rank, std::uint32_t* word, int operation, std::uint32_t value, std::uint64_t fourth,
                       std::uint32_t* second_word, std::uint32_t sixth)
{
  return rank.job.futexes().call(rank.running(), word, operation, value, fourth, second_word, sixth);
}

int umw_descriptor_wait(Rank& rank, std::uint64_t seen, std::int64_t duration)
{
  if (rank.gate.wakes != seen)
    return 0;
  return rank.wait_in_background(deadline(rank, duration)) ? 0 : 1;
}

} // namespace umwelt::gate::services
