// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/gate/services.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "preload/abi/time_units.h"
#include "runtime/bootstrap/namespaces.h"
#include "runtime/job/job.h"
#include "runtime/job/node_now.h"
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
  return duration < 0 ? sim::never : umw_time_after(rank.job.scheduler().now(), duration);
}

// One of the others may wait for a key.
void call_all(const Rank& rank)
{
  for (const auto& other : rank.job.ranks())
    other->notify_all();
}

// The program has got somewhere by the call. What it polled for in vain before says nothing of what it polls for now:
// MPI libraries take several looks at their network for each step of what they have under way.
void made_progress(Rank& rank)
{
  rank.job.polling().productive(rank);
}

// A client of PMI asks its launcher and gets an answer.
void pass_request(const Rank& rank)
{
  rank.job.scheduler().sleep(bootstrap::request_time);
}

// Null: -ENOENT.
std::int64_t copied(const std::string* value, void* buffer, std::uint64_t capacity)
{
  if (value == nullptr)
    return -ENOENT;
  std::memcpy(buffer, value->data(), std::min<std::size_t>(capacity, value->size()));
  return static_cast<std::int64_t>(value->size());
}

// Of that name; none: the rank's own. Null: there is none.
const bootstrap::Namespace* job_of(const Rank& rank, const char* name)
{
  return *name == '\0' ? rank.facts->space : rank.job.namespaces().find(name);
}

static_assert(bootstrap::kvs_name_max == UMW_PMI_NAME_MAX && bootstrap::key_max == UMW_PMI_KEY_MAX &&
              bootstrap::value_max == UMW_PMI_VALUE_MAX);

} // namespace

// Crossing has settled the burst.
std::int64_t umw_clock_settle(Rank& rank, int)
{
  return rank.job.scheduler().now();
}

std::int64_t umw_sleep(Rank& rank, std::int64_t duration)
{
  rank.allow_switch();
  engine::Scheduler& scheduler = rank.job.scheduler();
  const SimTime begin = scheduler.now();
  const SimTime until = umw_time_after(begin, duration);
  job::Thread& thread = rank.running();
  thread.sleeps = true;
  while (!rank.signal_due(thread) && !thread.cancelled && scheduler.now() < until)
    if (until == sim::never || !scheduler.pass(until - scheduler.now()))
      scheduler.block(until);
  thread.sleeps = thread.cancelled = false;
  if (scheduler.now() >= until)
    rank.job.timed_out(thread);
  return std::max<SimTime>(duration - (scheduler.now() - begin), 0);
}

int umw_yield(Rank& rank, int)
{
  rank.job.scheduler().yield();
  rank.job.polling().empty(rank);
  return 0;
}

int umw_not_loaded(Rank& rank, const char* message, int gave_up)
{
  rank.job.not_loaded(rank, message, gave_up != 0);
}

int umw_started(Rank& rank, int)
{
  rank.job.started(rank);
  return 0;
}

int umw_exit(Rank& rank, int status, int kind, const char* message)
{
  switch (kind) {
  case UMW_EXIT_ABORT:
    rank.job.aborted(rank, status, "MPI_Abort", message);
  case UMW_EXIT_PMI:
    rank.job.aborted(rank, status, "PMI_Abort", message);
  default:
    rank.job.exited(rank, status);
  }
}

int umw_exec_find(Rank&, const char*, const void*, const void*)
{
  return -ENOSYS; // answered where the rank is carried, as umw_exec
}

int umw_exec(Rank&, int)
{
  return -ENOSYS;
}

int umw_exec_allowed(Rank& rank, int)
{
  return rank.job.may_change_program(rank);
}

int umw_exec_done(Rank& rank, const void* text, std::uint64_t size)
{
  rank.job.changed_program(rank, rank_host::ProgramChange::unpack({static_cast<const char*>(text), size}));
  return 0;
}

int umw_die(Rank&, int, const void*, const void*)
{
  return -ENOSYS; // rank_host::RankHost::call() has answered
}

int umw_died(Rank& rank, int number, const char* report)
{
  rank.job.died(rank, number, report);
}

int umw_warn(Rank& rank, const char* text)
{
  rank.job.warn(rank, text);
  return 0;
}

int umw_node_file(Rank& rank, const char* path)
{
  const rank_host::FileMask usual;
  try {
    rank.job.files().make(job::node_now(rank), path);
    return 0;
  } catch (const std::exception& error) {
    rank.job.warn(
        rank,
        fmt::format("{}: expected to make the node's own version of it, got: {}. Next step: see that there is room in "
                    "the directory for temporary files (TMPDIR)",
                    path, error.what()));
    return -EIO;
  }
}

int umw_burst_paused(Rank&, int)
{
  return -ENOSYS; // rank_host::RankHost::call() has answered
}

int umw_pause_was_long(Rank&, std::uint64_t)
{
  return -ENOSYS; // likewise
}

int umw_original_code(Rank&, int)
{
  return -ENOSYS; // likewise
}

std::uint64_t umw_stack_top(Rank&, int)
{
  return 0; // likewise
}

int umw_file_mask(Rank&, int)
{
  return -ENOSYS; // as below
}

int umw_change_directory(Rank&, const char*, int)
{
  return -ENOSYS; // rank_host::RankHost::call() has answered
}

int umw_joined(Rank& rank, int)
{
  return rank.job.join(rank);
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
  call_all(rank);
  return 0;
}

std::int64_t umw_key_get(Rank& rank, const char* job, int whose, const char* key, void* buffer, std::uint64_t capacity,
                         int wait)
{
  const auto asking = static_cast<std::size_t>(rank.index);
  const bootstrap::Namespace* space = job_of(rank, job);
  if (space == nullptr)
    return -ENOENT;
  if (whose == -1)
    return copied(rank.job.keys().get_of_any(asking, space->first, space->size, key), buffer, capacity);
  if (whose < 0 || static_cast<std::size_t>(whose) >= space->size)
    return -ENOENT;
  const std::size_t asked = space->first + static_cast<std::size_t>(whose);
  const std::string* value = rank.job.keys().get(asking, asked, key);
  while (value == nullptr && wait != 0 && rank.job.ranks()[asked]->phase != Rank::Phase::ended &&
         !rank.job.keys().committed(asked)) {
    rank.wait(sim::never);
    value = rank.job.keys().get(asking, asked, key);
  }
  return copied(value, buffer, capacity);
}

int umw_job_size(Rank& rank, const char* job)
{
  const bootstrap::Namespace* space = job_of(rank, job);
  return space == nullptr ? -ENOENT : static_cast<int>(space->size);
}

int umw_meet(Rank& rank, const void* members, std::uint64_t bytes)
{
  const std::span runs(static_cast<const umw_members*>(members), bytes / sizeof(umw_members));
  std::vector<std::size_t> ranks;
  for (const umw_members& run : runs) {
    const bootstrap::Namespace* space = job_of(rank, run.job);
    if (space == nullptr)
      return -ENOENT;
    const auto first = static_cast<std::size_t>(run.first);
    const std::size_t count = run.count == 0 ? space->size : static_cast<std::size_t>(run.count);
    if (run.first < 0 || run.count < 0 || first + count > space->size)
      return -EINVAL;
    for (std::size_t i = 0; i < count; ++i)
      ranks.push_back(space->first + first + i);
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  if (!std::binary_search(ranks.begin(), ranks.end(), static_cast<std::size_t>(rank.index)))
    return -EINVAL;
  rank.job.meet(rank, ranks);
  made_progress(rank);
  return 0;
}

int umw_publish(Rank& rank, const char* key, const void* data, std::uint64_t size, int how)
{
  pass_request(rank);
  rank.job.published().add({key, std::string(static_cast<const char*>(data), size),
                            static_cast<std::size_t>(rank.index), rank.facts->space->number,
                            (how & UMW_PUBLISH_ONCE) != 0, (how & UMW_PUBLISH_IN_JOB) != 0});
  call_all(rank);
  made_progress(rank);
  return 0;
}

std::int64_t umw_lookup(Rank& rank, const char* key, void* buffer, std::uint64_t capacity, std::int64_t duration,
                        umw_members* owner)
{
  pass_request(rank);
  const SimTime until = deadline(rank, duration);
  bootstrap::Published& published = rank.job.published();
  const bootstrap::Publication* found = published.find(key, rank.facts->space->number);
  if (found == nullptr && duration != 0)
    rank.set_last_call("PMIx_Lookup");
  while (found == nullptr && duration != 0) {
    if (rank.job.scheduler().now() >= until)
      return -ETIMEDOUT;
    rank.wait_in_background(until); // who is to publish it may have to be let round first (Polling::another_round)
    rank.act_on_signals();
    found = published.find(key, rank.facts->space->number);
  }
  made_progress(rank);
  const std::int64_t size = copied(found != nullptr ? &found->value : nullptr, buffer, capacity);
  if (found == nullptr || static_cast<std::uint64_t>(size) > capacity)
    return size;
  const Rank& publisher = *rank.job.ranks()[found->owner];
  std::memcpy(owner->job, publisher.gate.job_name, sizeof owner->job);
  owner->first = publisher.number;
  owner->count = 1;
  published.read(*found);
  return size;
}

int umw_unpublish(Rank& rank, const char* key, int how)
{
  pass_request(rank);
  rank.job.published().remove(key, static_cast<std::size_t>(rank.index), (how & UMW_PUBLISH_IN_JOB) != 0);
  return 0;
}

std::int64_t umw_spawn(Rank& rank, const void* request, std::uint64_t bytes, void* buffer, std::uint64_t capacity)
{
  std::string name;
  const int status = rank.job.spawn(rank, {static_cast<const char*>(request), bytes}, name);
  return status < 0 ? status : copied(&name, buffer, capacity);
}

int umw_space_create(Rank& rank, const char* space)
{
  pass_request(rank);
  if (rank.job.spaces().find(space) != nullptr)
    return -EEXIST;
  rank.job.spaces()[space];
  return 0;
}

int umw_space_remove(Rank& rank, const char* space)
{
  pass_request(rank);
  return rank.job.spaces().remove(space) ? 0 : -ENXIO;
}

int umw_pair_put(Rank& rank, const char* space, const char* key, const char* value, int how)
{
  bootstrap::Spaces& spaces = rank.job.spaces();
  if (how != UMW_PAIR_LATER)
    pass_request(rank);
  if (std::string_view(space).starts_with(bootstrap::kvs_prefix) && spaces.find(space) == nullptr)
    return -ENXIO;
  switch (how) {
  case UMW_PAIR_LATER: // completes in the rank
    spaces.put(static_cast<std::size_t>(rank.index), space, key, value);
    return 0;
  case UMW_PAIR_NEW:
    if (!spaces[space].add(key, value))
      return -EEXIST;
    break;
  default:
    spaces[space].set(key, value);
  }
  call_all(rank);
  return 0;
}

int umw_pair_commit(Rank& rank, const char* space)
{
  pass_request(rank);
  if (rank.job.spaces().find(space) == nullptr)
    return -ENXIO;
  rank.job.spaces().commit(static_cast<std::size_t>(rank.index), space);
  call_all(rank);
  return 0;
}

std::int64_t umw_pair_get(Rank& rank, const char* space, const char* key, char* buffer, std::uint64_t capacity,
                          int wait)
{
  bootstrap::Spaces& spaces = rank.job.spaces();
  const auto asking = static_cast<std::size_t>(rank.index);
  pass_request(rank);
  const std::string* value = spaces.get(asking, space, key);
  if (value == nullptr && wait != 0)
    rank.set_last_call("PMI2_Info_GetNodeAttr"); // nothing else waits
  while (value == nullptr && wait != 0) {
    rank.wait(sim::never);
    rank.act_on_signals();
    value = spaces.get(asking, space, key);
  }
  if (value == nullptr && spaces.find(space) == nullptr)
    return -ENXIO;
  return copied(value, buffer, capacity);
}

std::int64_t umw_pair_at(Rank& rank, const char* space, int index, char* buffer, std::uint64_t capacity)
{
  pass_request(rank);
  const bootstrap::Space* found = rank.job.spaces().find(space);
  if (found == nullptr)
    return -ENXIO;
  const bootstrap::Space::Pair* pair = found->at(index);
  if (pair == nullptr)
    return -ENOENT;
  const std::string bytes = pair->key + '\0' + pair->value + '\0';
  return copied(&bytes, buffer, capacity);
}

int umw_pair_remove(Rank& rank, const char* space, const char* key)
{
  pass_request(rank);
  bootstrap::Space* found = rank.job.spaces().find(space);
  return found != nullptr && found->remove(key) ? 0 : -ENOENT;
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

int umw_pmi_wait(Rank& rank, int sockets, std::uint64_t seen)
{
  rank.pmi->wait([&] { return sockets != 0 && rank.gate.descriptor_news != seen; });
  return 0;
}

int umw_thread_create(Rank& rank, umw_thread_start start, void* argument, std::uint64_t stack_bytes,
                      std::uint64_t thread_pointer, int kernel_tid)
{
  return rank.job.create_thread(rank, start, argument, stack_bytes, thread_pointer, kernel_tid);
}

int umw_thread_end(Rank& rank, int)
{
  rank.job.end_thread(rank);
}

int umw_thread_join(Rank& rank, std::uint64_t thread, int wait)
{
  return rank.job.join_thread(rank, thread, wait != 0) ? 0 : -EBUSY;
}

int umw_thread_wait(Rank& rank, std::uint64_t seen, std::int64_t duration, std::uint64_t place, std::uint64_t self)
{
  if (rank.gate.wakes != seen || rank.signal_due(rank.running())) // while this thread's own burst was being charged
    return 0;
  return rank.wait_at(place, self, deadline(rank, duration)) ? 0 : 1;
}

int umw_thread_wake(Rank& rank, std::uint64_t place, std::uint32_t most)
{
  if (place != 0)
    rank.notify_at(place, most);
  else
    rank.notify_all();
  return 0;
}

int umw_thread_cancel(Rank& rank, int tid)
{
  job::Thread* thread = rank.job.find_thread(rank, tid);
  if (thread == nullptr)
    return -ESRCH;
  thread->cancelled = true;
  if (thread->sleeps)
    rank.job.scheduler().wake(*thread->actor);
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
  if (rank.gate.wakes != seen || rank.signal_due(rank.running()))
    return 0;
  job::Thread& thread = rank.running();
  const std::uint64_t changed = rank.changed;
  rank.falls_asleep(thread);
  thread.at_descriptors = true;
  const bool woken = rank.wait_in_background(deadline(rank, duration));
  thread.at_descriptors = false;
  rank.wakes_up(thread);
  if (rank.changed != changed)
    thread.poll.empty = 0;
  return woken ? 0 : 1;
}

int umw_memory_mapped(Rank& rank, std::uint64_t device, std::uint64_t inode, int more)
{
  rank.job.shared_memory().mapped(rank, {device, inode}, more != 0);
  return 0;
}

int umw_memory_copy(Rank& rank, std::uint64_t bytes, int writes)
{
  job::SharedMemory& memory = rank.job.shared_memory();
  memory.copy(rank, bytes, writes != 0 ? 0 : rank.gate.line_ps, writes != 0);
  return 0;
}

int umw_memory_peer(Rank& rank, int pid, std::uint64_t bytes, int writes)
{
  const auto& ranks = rank.job.ranks();
  const auto found = std::find_if(ranks.begin(), ranks.end(), [&](const auto& other) {
    return other->gate.pid == pid && other->node == rank.node && other->phase != Rank::Phase::ended;
  });
  if (found == ranks.end())
    return -ESRCH;
  job::SharedMemory& memory = rank.job.shared_memory();
  memory.copy(rank, bytes, memory.parameters().system_copy, writes != 0);
  return rank.job.workers() != nullptr ? rank.job.workers()->pid((*found)->worker) : getpid();
}

int umw_object_wait(Rank& rank, std::uint64_t device, std::uint64_t inode, std::uint64_t offset, std::uint64_t seen,
                    std::int64_t duration)
{
  return rank.job.shared_objects().wait(rank, {rank.node, device, inode, offset}, seen, deadline(rank, duration)) ? 0
                                                                                                                  : 1;
}

int umw_object_wake(Rank& rank, std::uint64_t device, std::uint64_t inode, std::uint64_t offset)
{
  rank.job.shared_objects().wake(rank, {rank.node, device, inode, offset});
  return 0;
}

int umw_condition_enter(Rank& rank, std::uint64_t device, std::uint64_t inode, std::uint64_t offset)
{
  rank.job.shared_objects().enter_condition(rank, {rank.node, device, inode, offset});
  return 0;
}

int umw_condition_wait(Rank& rank, std::int64_t duration)
{
  using Ending = job::SharedObjects::Ending;
  const Ending ending = rank.job.shared_objects().wait_for_condition(rank, deadline(rank, duration));
  return ending == Ending::signalled ? 0 : ending == Ending::deadline ? 1 : -EINTR;
}

int umw_condition_leave(Rank& rank, int)
{
  rank.job.shared_objects().leave_condition(rank);
  return 0;
}

int umw_condition_signal(Rank& rank, std::uint64_t device, std::uint64_t inode, std::uint64_t offset, int all)
{
  rank.job.shared_objects().signal(rank, {rank.node, device, inode, offset}, all != 0);
  return 0;
}

int umw_barrier_wait(Rank& rank, std::uint64_t device, std::uint64_t inode, std::uint64_t offset, std::uint32_t count)
{
  return rank.job.shared_objects().meet(rank, {rank.node, device, inode, offset}, count) ? 1 : 0;
}

// Other processes of the node are there for a rank, those of other nodes are not.
int umw_signal_send(Rank& rank, int pid, int tid, int number, int code, std::uint64_t value)
{
  const auto& ranks = rank.job.ranks();
  const auto found = std::find_if(ranks.begin(), ranks.end(), [&](const auto& other) {
    return other->gate.pid == pid && other->node == rank.node && other->phase != Rank::Phase::ended;
  });
  if (found == ranks.end())
    return -ESRCH;
  Rank& target = **found;
  job::Thread* thread = tid == 0 ? nullptr : rank.job.find_thread(target, tid);
  if (tid != 0 && thread == nullptr)
    return -ESRCH;
  if (number == 0)
    return 0;
  siginfo_t information{};
  information.si_signo = number;
  information.si_code = code;
  information.si_pid = rank.gate.pid;
  information.si_uid = getuid();
  if (code != SI_USER && code != SI_TKILL)
    information.si_value.sival_ptr = reinterpret_cast<void*>(value);
  target.send_signal(information, thread);
  return 0;
}

int umw_signal_take(Rank& rank, int restore, std::uint64_t* mask, void* information)
{
  job::Thread& thread = rank.running();
  if (restore != 0)
    thread.blocked = *mask;
  if (!rank.signal_due(thread))
    return 0;
  *mask = thread.blocked;
  const int number = rank.take_signal(~thread.blocked, *static_cast<siginfo_t*>(information));
  thread.blocked = job::all_signals;
  return number;
}

int umw_signal_mask(Rank& rank, int how, const std::uint64_t* set, std::uint64_t* old)
{
  job::Thread& thread = rank.running();
  const job::SignalSet before = thread.blocked;
  if (set != nullptr) {
    const job::SignalSet changed = *set & ~(job::set_of(SIGKILL) | job::set_of(SIGSTOP));
    switch (how) {
    case SIG_BLOCK:
      thread.blocked |= changed;
      break;
    case SIG_UNBLOCK:
      thread.blocked &= ~changed;
      break;
    case SIG_SETMASK:
      thread.blocked = changed;
      break;
    default:
      return -EINVAL;
    }
  }
  if (old != nullptr)
    *old = before;
  return 0;
}

std::uint64_t umw_signal_pending(Rank& rank, int)
{
  const job::Thread& thread = rank.running();
  return (thread.pending.signals() | rank.pending.signals()) & thread.blocked;
}

int umw_signal_ignore(Rank& rank, std::uint64_t set)
{
  rank.ignore_signals(set);
  return 0;
}

int umw_signal_wait(Rank& rank, std::uint64_t wanted, std::int64_t duration, void* information)
{
  job::Thread& thread = rank.running();
  siginfo_t taken{};
  int number = rank.take_signal(wanted, taken);
  if (number == 0 && duration != 0 && !rank.signal_due(thread) && !std::exchange(thread.cancelled, false)) {
    thread.waits_for = wanted;
    rank.wait(deadline(rank, duration));
    thread.waits_for = 0;
    number = rank.take_signal(wanted, taken);
  }
  if (number != 0 && information != nullptr)
    *static_cast<siginfo_t*>(information) = taken;
  return number;
}

int umw_timer_create(Rank& rank, int on_cpu_time, int number, int code, int tid, std::uint64_t value, int fd)
{
  if (tid != 0 && rank.job.find_thread(rank, tid) == nullptr)
    return -EINVAL;
  const int counter = fd < 0 ? -1 : rank.job.descriptor_of(rank, fd);
  if (fd >= 0 && counter < 0)
    return counter;
  return rank.timers.create(on_cpu_time != 0, {0, number, code, tid, value, counter});
}

int umw_timer_set(Rank& rank, int timer, int absolute, const std::int64_t* setting, std::int64_t* old)
{
  pollfd counter{rank.timers.descriptor(timer), POLLIN, 0};
  eventfd_t count = 0;
  if (counter.fd >= 0 && poll(&counter, 1, 0) == 1) // expiries of the former setting are forgotten, timerfd_create(2)
    eventfd_read(counter.fd, &count);
  job::Timers::Setting before{};
  const int status = rank.timers.set(timer, absolute != 0, setting[0], setting[1], before);
  if (status == 0 && old != nullptr) {
    old[0] = before.left;
    old[1] = before.interval;
  }
  return status;
}

int umw_timer_get(Rank& rank, int timer, std::int64_t* setting)
{
  job::Timers::Setting now{};
  const int status = rank.timers.get(timer, now);
  setting[0] = now.left;
  setting[1] = now.interval;
  return status;
}

int umw_timer_overrun(Rank& rank, int timer)
{
  return rank.timers.overrun(timer);
}

int umw_timer_delete(Rank& rank, int timer)
{
  const int counter = rank.timers.descriptor(timer);
  if (counter >= 0)
    close(counter);
  return rank.timers.remove(timer);
}

int umw_slice_park(Rank& rank, std::uint64_t seen, int idle)
{
  job::PollState& poll = rank.running().poll;
  poll.idle = poll.idle && idle != 0;
  rank.job.polling().park(rank, seen);
  poll.idle = true;
  return std::exchange(poll.forced_wakeup, false);
}

int umw_slice_pause(Rank& rank, std::uint64_t seen, int idle)
{
  job::PollState& poll = rank.running().poll;
  poll.idle = idle != 0;
  if (!poll.idle)
    rank.job.polling().progress();
  poll.at_memory = true;
  if (rank.gate.changes == seen)
    // Where computing takes no time, a loop that counts its rounds in memory must get on.
    poll.idle&& rank.job.cpu().measured() ? rank.job.polling().look_again(rank)
                                          : static_cast<void>(rank.job.polling().empty(rank));
  poll.at_memory = false;
  return std::exchange(poll.forced_wakeup, false);
}

int umw_look_again(Rank& rank, std::uint64_t seen, int idle)
{
  rank.set_last_call("PtlAtomicSync");
  job::PollState& poll = rank.running().poll;
  poll.idle = idle != 0;
  if (!poll.idle)
    rank.job.polling().progress();
  poll.at_memory = poll.calls = true;
  if (rank.gate.changes == seen)
    rank.job.polling().look_again(rank);
  poll.at_memory = poll.calls = false;
  poll.idle = true;
  return std::exchange(poll.forced_wakeup, false);
}

int umw_slice_cut(Rank& rank, int)
{
  if (!rank.job.cpu().measured())
    rank.job.polling().park_until_next(rank);
  else
    rank.job.scheduler().yield();
  return 0;
}

} // namespace umwelt::gate::services
