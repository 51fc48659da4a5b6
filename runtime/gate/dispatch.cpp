// SPDX-License-Identifier: LGPL-2.1-or-later
// One server function per operation, generated from the tables in preload/tables.
#include "runtime/gate/dispatch.h"

#include <utility>

#include "runtime/gate/services.h"
#include "runtime/job/interruptions.h"
#include "runtime/job/job.h"
#include "runtime/job/rank.h"
#include "runtime/job/standard_output.h"
#include "runtime/portals/api.h"

namespace umwelt::gate
{

namespace
{

using job::Rank;

#define UMW_CALL(result_type, name, version, level, note, ...)                                                         \
  void serve_##name(Rank& rank, void* arguments)                                                                       \
  {                                                                                                                    \
    auto* a = static_cast<umw_args_##name*>(arguments);                                                                \
    a->result = portals::api::name(*rank.portals __VA_OPT__(, UMW_LIST(UMW_MEMBER, __VA_ARGS__)));                     \
  }
#define UMW_CALL_VOID(name, version, level, note, ...)                                                                 \
  void serve_##name(Rank& rank, void* arguments)                                                                       \
  {                                                                                                                    \
    [[maybe_unused]] auto* a = static_cast<umw_args_##name*>(arguments);                                               \
    portals::api::name(*rank.portals __VA_OPT__(, UMW_LIST(UMW_MEMBER, __VA_ARGS__)));                                 \
  }
#include "preload/tables/portals.def"
#undef UMW_CALL
#undef UMW_CALL_VOID

#define UMW_SERVICE(result_type, name, note, ...)                                                                      \
  void serve_##name(Rank& rank, void* arguments)                                                                       \
  {                                                                                                                    \
    auto* a = static_cast<umw_args_##name*>(arguments);                                                                \
    a->result = services::name(rank, UMW_LIST(UMW_MEMBER, __VA_ARGS__));                                               \
  }
#include "preload/tables/services.def"
#undef UMW_SERVICE

struct Operation {
  const char* name;
  void (*serve)(Rank& rank, void* arguments);
  bool acts;     // does something, rather than looking or waiting,
  bool progress; // namely what others may wait for
  bool looks;    // only looks, and is asked again at once if there was nothing
  bool ahead;    // may be served ahead of the timeline
  bool starts;   // a step of the start of a rank, before which the others are to take theirs
};

constexpr bool only_looks(std::uint32_t operation)
{
  return operation == UMW_OP_PtlEQGet || operation == UMW_OP_PtlEQPoll || operation == UMW_OP_PtlCTGet ||
         operation == UMW_OP_PtlAtomicSync || operation == UMW_OP_PtlNIAtomicSync || operation == UMW_OP_umw_yield ||
         operation == UMW_OP_umw_look_again || operation == UMW_OP_umw_slice_park ||
         operation == UMW_OP_umw_slice_pause;
}

constexpr bool asks_for_events(std::uint32_t operation)
{
  switch (operation) {
  case UMW_OP_PtlEQGet:
  case UMW_OP_PtlEQPoll:
  case UMW_OP_PtlEQWait:
  case UMW_OP_PtlCTGet:
  case UMW_OP_PtlCTPoll:
  case UMW_OP_PtlCTWait:
    return true;
  default:
    return false;
  }
}

// The data path: commands are handed to the NIC when their date comes, and what has been seen already cannot go away.
constexpr bool served_ahead(std::uint32_t operation)
{
  switch (operation) {
  case UMW_OP_PtlPut:
  case UMW_OP_PtlGet:
  case UMW_OP_PtlAtomic:
  case UMW_OP_PtlFetchAtomic:
  case UMW_OP_PtlSwap:
    return true;
  default:
    return asks_for_events(operation);
  }
}

// Where the thread was interrupted rather than calling.
constexpr bool interrupts(std::uint32_t operation)
{
  return operation == UMW_OP_umw_slice_park || operation == UMW_OP_umw_slice_pause || operation == UMW_OP_umw_slice_cut;
}

// Loading, and what MPI libraries do while they start: most of the work lies between these.
constexpr bool belongs_to_start(std::uint32_t operation)
{
  switch (operation) {
  case UMW_OP_umw_started:
  case UMW_OP_umw_exec_done:
  case UMW_OP_umw_joined:
  case UMW_OP_umw_left:
  case UMW_OP_umw_key_put:
  case UMW_OP_PtlInit:
  case UMW_OP_PtlNIInit:
  case UMW_OP_PtlNIFini:
  case UMW_OP_PtlEQAlloc:
    return true;
  default:
    return false;
  }
}

// Calls that a rank may repeat for ever without getting anywhere.
constexpr bool only_looks_or_waits(std::uint32_t operation)
{
  if (interrupts(operation) || asks_for_events(operation))
    return true;
  switch (operation) {
  case UMW_OP_PtlNIStatus:
  case UMW_OP_PtlAtomicSync:
  case UMW_OP_PtlNIAtomicSync:
  case UMW_OP_umw_look_again:
  case UMW_OP_umw_clock_settle:
  case UMW_OP_umw_yield:
  case UMW_OP_umw_thread_wait:
  case UMW_OP_umw_object_wait:
  case UMW_OP_umw_sem_operate:
  case UMW_OP_umw_file_lock:
  case UMW_OP_umw_msg_send:
  case UMW_OP_umw_msg_receive:
  case UMW_OP_umw_condition_wait:
  case UMW_OP_umw_barrier_wait:
  case UMW_OP_umw_descriptor_wait:
  case UMW_OP_umw_pmi_wait:
  case UMW_OP_umw_signal_wait:
    return true;
  default:
    return false;
  }
}

// Others get nowhere by these alone: whoever a wake-up is for says so when it goes on (umw_gate::got_on, Futexes::wake).
constexpr bool may_be_in_vain(std::uint32_t operation)
{
  switch (operation) {
  case UMW_OP_umw_sleep:
  case UMW_OP_umw_thread_wake:
  case UMW_OP_umw_futex:
  case UMW_OP_umw_signal_mask:
  case UMW_OP_umw_signal_pending:
  case UMW_OP_umw_timer_get:
  case UMW_OP_umw_affinity_get:
  case UMW_OP_umw_node_file:
    return true;
  default:
    return false;
  }
}

// What the shim remembers of a queue is no longer true: its handle may be given out again.
constexpr bool changes_queues(std::uint32_t operation)
{
  return operation == UMW_OP_PtlEQAlloc || operation == UMW_OP_PtlEQFree || operation == UMW_OP_PtlNIInit ||
         operation == UMW_OP_PtlNIFini || operation == UMW_OP_PtlInit || operation == UMW_OP_PtlFini ||
         operation == UMW_OP_PtlAbort;
}

#define UMW_CALL(result, name, ...)                                                                                    \
  {#name,                                                                                                              \
   serve_##name,                                                                                                       \
   !only_looks_or_waits(UMW_OP_##name),                                                                                \
   !only_looks_or_waits(UMW_OP_##name) && !may_be_in_vain(UMW_OP_##name),                                              \
   only_looks(UMW_OP_##name),                                                                                          \
   served_ahead(UMW_OP_##name),                                                                                        \
   belongs_to_start(UMW_OP_##name)},
#define UMW_CALL_VOID(name, ...) UMW_CALL(, name)
#define UMW_SERVICE(result, name, ...) UMW_CALL(, name)
constexpr Operation operations[] = {
#include "preload/tables/portals.def"
#include "preload/tables/services.def"
};
#undef UMW_CALL
#undef UMW_CALL_VOID
#undef UMW_SERVICE
static_assert(sizeof operations / sizeof *operations == UMW_OP_COUNT);

} // namespace

namespace
{

// Where computing takes no time, calls that take none either must not keep the others from running for ever: a loop of try-locks, say. So
// many of them take as long as that many clock reads.
constexpr unsigned most_calls_at_once = 10'000;

void let_time_pass(Rank& rank, job::PollState& poll)
{
  engine::Scheduler& scheduler = rank.job.scheduler();
  poll.at_once = poll.date == scheduler.now() ? poll.at_once + 1 : 0;
  poll.date = scheduler.now();
  if (poll.at_once < most_calls_at_once || rank.gate.stays != 0)
    return;
  poll.at_once = 0;
  scheduler.sleep(most_calls_at_once * rank.gate.clock.read_cost_ps);
}

} // namespace

bool serve(Rank& rank, std::uint32_t operation, void* arguments, std::int64_t measured)
{
  const Operation& called = operations[operation];
  job::Thread& thread = rank.running();
  thread.kernel_id = static_cast<std::uint32_t>(rank.gate.kernel_tid);
  thread.blocked = rank.gate.blocked; // a handler for a fault may have begun
  thread.descriptors_seen = rank.gate.descriptor_seen;
  if (!interrupts(operation)) {
    rank.set_last_call(called.name);
    ++rank.statistics.crossings;
  } else {
    job::count_interruption(rank);
    rank.set_last_call(called.looks ? "a loop that waits for memory to change" : "its own code");
  }
  if (std::exchange(rank.gate.got_on, 0U) != 0) {
    thread.poll.idle = false;
    if (!rank.memory_peers.empty())
      thread.poll.empty = 0; // a message without a call (preload/node_memory.c)
    rank.job.polling().progress();
  }
  if (rank.gate.line_open != 0 || rank.job.output().keeps_lines(rank.carrier)) [[unlikely]]
    rank.job.output().burst_ended(rank.carrier, rank.index); // before others may run
  rank.enter(called.looks, called.ahead, measured);
  if (called.acts) {
    thread.poll.idle = false;
    thread.poll.acted = true;
    job::Polling::end_rounds(rank);
    if (called.progress)
      rank.job.polling().progress();
    else
      rank.job.polling().acted(thread.poll);
    if (changes_queues(operation))
      ++rank.gate.activity;
  }
  if (!rank.memory_peers.empty() && called.acts && operation != UMW_OP_umw_memory_copy)
    rank.job.shared_memory().may_have_written(rank, 0);
  if (rank.output->collects())
    rank.output->pass_on(false);
  if (rank.job.traces_calls()) [[unlikely]]
    rank.job.trace_call(rank, called.name);
  called.serve(rank, arguments);
  if (!rank.job.cpu().measured() && rank.phase == Rank::Phase::running)
    let_time_pass(rank, thread.poll);
  // A cell makes a new thread when the one that asks for it goes on.
  const bool waited = thread.actor->take_waited() && operation != UMW_OP_umw_thread_create;
  return (waited || called.starts) && rank.phase == Rank::Phase::running && rank.gate.stays == 0;
}

} // namespace umwelt::gate
