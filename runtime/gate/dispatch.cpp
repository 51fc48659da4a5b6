// SPDX-License-Identifier: LGPL-2.1-or-later
// One server function per operation, generated from the tables in preload/abi/tables.
#include "runtime/gate/dispatch.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "runtime/gate/services.h"
#include "runtime/job/interruptions.h"
#include "runtime/job/job.h"
#include "runtime/job/rank.h"
#include "runtime/job/standard_output.h"
#include "runtime/portals/api/api.h"

namespace umwelt::gate
{

namespace
{

using job::Rank;

#define UMW_CALL(result_type, name, kind, version, level, note, ...)                                                   \
  void serve_##name(Rank& rank, void* arguments)                                                                       \
  {                                                                                                                    \
    auto* a = static_cast<umw_args_##name*>(arguments);                                                                \
    a->result = portals::api::name(*rank.portals __VA_OPT__(, UMW_LIST(UMW_MEMBER, __VA_ARGS__)));                     \
  }
#define UMW_CALL_VOID(name, kind, version, level, note, ...)                                                           \
  void serve_##name(Rank& rank, void* arguments)                                                                       \
  {                                                                                                                    \
    [[maybe_unused]] auto* a = static_cast<umw_args_##name*>(arguments);                                               \
    portals::api::name(*rank.portals __VA_OPT__(, UMW_LIST(UMW_MEMBER, __VA_ARGS__)));                                 \
  }
#include "preload/abi/tables/portals.def"
#undef UMW_CALL
#undef UMW_CALL_VOID

#define UMW_SERVICE(result_type, name, kind, note, ...)                                                                \
  void serve_##name(Rank& rank, void* arguments)                                                                       \
  {                                                                                                                    \
    auto* a = static_cast<umw_args_##name*>(arguments);                                                                \
    a->result = services::name(rank, UMW_LIST(UMW_MEMBER, __VA_ARGS__));                                               \
  }
#include "preload/abi/tables/services.def"
#undef UMW_SERVICE

// The column `kind` of the tables: one of these,
enum Kind : unsigned {
  looks = 1, // only looks, and is asked again at once if there was nothing
  waits = 2, // looks or waits: a rank may repeat it for ever without getting anywhere
  tries = 4, // does something, but others get nowhere by it alone: whoever a wake-up is for says so when it goes on
             // (umw_gate::made_progress, Futexes::wake)
  acts = 8,  // does something that others may wait for
  // and any of these:
  ahead = 16,  // the data path, may be served ahead of the timeline: commands are handed to the NIC when their time
               // comes, and what has been seen already cannot go away
  starts = 32, // a step of the start of a rank, before which the others are to take theirs: most of the work lies
               // between these
  queues = 64, // what the shim remembers of an event queue is no longer true: its handle may be given out again
  interrupts = 128, // the thread was interrupted rather than calling
  brief = 256 // a short burst before it is charged later: between giving up a lock and what follows, others would run
              // who were due before it was given up
};

struct Operation {
  const char* name;
  void (*serve)(Rank& rank, void* arguments);
  unsigned kind;
};

constexpr bool is_one_of_four(unsigned kind)
{
  return std::has_single_bit(kind & (looks | waits | tries | acts));
}

#define UMW_CALL(result, name, kind, ...) {#name, serve_##name, kind},
#define UMW_CALL_VOID(name, kind, ...) {#name, serve_##name, kind},
#define UMW_SERVICE(result, name, kind, ...) {#name, serve_##name, kind},
constexpr Operation operations[] = {
#include "preload/abi/tables/portals.def"
#include "preload/abi/tables/services.def"
};
#undef UMW_CALL
#undef UMW_CALL_VOID
#undef UMW_SERVICE
static_assert(sizeof operations / sizeof *operations == UMW_OP_COUNT);
static_assert(std::ranges::all_of(operations,
                                  [](const Operation& operation) { return is_one_of_four(operation.kind); }));

// Where computing takes no time, calls that take none either must not keep the others from running for ever: a loop of
// try-locks, say. So many of them take as long as that many clock reads.
constexpr unsigned most_calls_at_once = 10'000;

void let_time_pass(Rank& rank, job::PollState& poll)
{
  engine::Scheduler& scheduler = rank.job.scheduler();
  poll.at_once = poll.time == scheduler.now() ? poll.at_once + 1 : 0;
  poll.time = scheduler.now();
  if (poll.at_once < most_calls_at_once || rank.gate.no_switch != 0)
    return;
  poll.at_once = 0;
  scheduler.sleep(most_calls_at_once * rank.gate.clock.read_cost_ps);
}

bool serve(Rank& rank, std::uint32_t operation, void* arguments, const rank_host::Burst& burst)
{
  const Operation& called = operations[operation];
  const auto is = [kind = called.kind](unsigned kinds) { return (kind & kinds) != 0; };
  job::Thread& thread = rank.running();
  thread.kernel_id = static_cast<std::uint32_t>(rank.gate.kernel_tid);
  thread.blocked = rank.gate.blocked; // a handler for a fault may have begun
  thread.descriptors_seen = rank.gate.descriptor_seen;
  if (!is(interrupts)) {
    rank.set_last_call(called.name);
    ++rank.statistics.crossings;
  } else {
    job::count_interruption(rank);
    rank.set_last_call(is(looks) ? "a loop that waits for memory to change" : "its own code");
  }
  if (const std::uint32_t progress = std::exchange(rank.gate.made_progress, 0U); progress != 0) {
    if ((progress & UMW_GOT_ON) != 0) {
      thread.poll.idle = false;
      if (!rank.memory_peers.empty()) { // a message, or pieces of one, without a call (preload/memory/node_memory.c)
        thread.poll.empty = 0;
        thread.poll.told = false;
      }
    }
    rank.job.polling().progress();
  }
  if (rank.gate.line_open != 0 || rank.job.output().keeps_lines(rank.worker)) [[unlikely]]
    rank.job.output().burst_ended(rank.worker, rank.index); // before others may run
  rank.enter(is(looks | brief), is(ahead), burst);
  if (is(acts | tries)) {
    if (job::Details* const details = rank.job.details(); details != nullptr)
      details->path().acted(static_cast<std::size_t>(rank.index));
    thread.poll.idle = false;
    thread.poll.acted = true;
    job::Polling::end_rounds(rank);
    if (is(acts))
      rank.job.polling().progress();
    else
      rank.job.polling().acted(thread.poll);
    if (is(queues))
      ++rank.gate.activity;
  }
  if (!rank.memory_peers.empty() && is(acts | tries) && operation != UMW_OP_umw_memory_copy)
    rank.job.shared_memory().may_have_written(rank, 0);
  if (rank.output->collects())
    rank.output->pass_on(false);
  if (rank.job.traces_calls()) [[unlikely]]
    rank.job.trace_call(rank, called.name);
  called.serve(rank, arguments);
  if (operation != UMW_OP_umw_memory_copy) // what it writes from now on nobody has been told of
    thread.poll.told = false;
  if (!rank_host::Cpu::measures(rank.gate.clock) && rank.phase == Rank::Phase::running)
    let_time_pass(rank, thread.poll);
  // A worker process makes a new thread when the one that asks for it goes on.
  const bool waited = thread.actor->take_waited() && operation != UMW_OP_umw_thread_create;
  return (waited || is(starts)) && rank.phase == Rank::Phase::running && rank.gate.no_switch == 0;
}

} // namespace

job::Server server()
{
  return {serve};
}

} // namespace umwelt::gate
