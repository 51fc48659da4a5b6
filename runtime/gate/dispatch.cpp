// SPDX-License-Identifier: LGPL-2.1-or-later
// One server function per operation, generated from the tables in preload/tables.
#include "runtime/gate/dispatch.h"

#include "runtime/engine/thread_pointer.h"
#include "runtime/gate/services.h"
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
  bool progress; // does something, rather than looking or waiting
  bool looks;    // only looks, and is asked again at once if there was nothing
};

constexpr bool only_looks(std::uint32_t operation)
{
  return operation == UMW_OP_PtlEQGet || operation == UMW_OP_PtlEQPoll || operation == UMW_OP_PtlCTGet ||
         operation == UMW_OP_umw_yield;
}

// Calls that a rank may repeat for ever without getting anywhere.
constexpr bool only_looks_or_waits(std::uint32_t operation)
{
  switch (operation) {
  case UMW_OP_PtlEQGet:
  case UMW_OP_PtlEQPoll:
  case UMW_OP_PtlEQWait:
  case UMW_OP_PtlCTGet:
  case UMW_OP_PtlCTPoll:
  case UMW_OP_PtlCTWait:
  case UMW_OP_PtlNIStatus:
  case UMW_OP_PtlAtomicSync:
  case UMW_OP_umw_clock_settle:
  case UMW_OP_umw_yield:
  case UMW_OP_umw_thread_wait:
  case UMW_OP_umw_descriptor_wait:
  case UMW_OP_umw_pmi_wait:
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
  {#name, serve_##name, !only_looks_or_waits(UMW_OP_##name), only_looks(UMW_OP_##name)},
#define UMW_CALL_VOID(name, ...) {#name, serve_##name, !only_looks_or_waits(UMW_OP_##name), only_looks(UMW_OP_##name)},
#define UMW_SERVICE(result, name, ...)                                                                                 \
  {#name, serve_##name, !only_looks_or_waits(UMW_OP_##name), only_looks(UMW_OP_##name)},
constexpr Operation operations[] = {
#include "preload/tables/portals.def"
#include "preload/tables/services.def"
};
#undef UMW_CALL
#undef UMW_CALL_VOID
#undef UMW_SERVICE
static_assert(sizeof operations / sizeof *operations == UMW_OP_COUNT);

} // namespace

void cross(umw_gate* gate, std::uint32_t operation, void* arguments)
{
  engine::Crossing crossing;
  Rank& rank = *static_cast<Rank*>(gate->runtime);
  const Operation& called = operations[operation];
  rank.set_last_call(called.name);
  rank.running().poll.trapped = false;
  rank.enter(called.looks);
  if (called.progress) {
    rank.running().poll.idle = false;
    rank.job.polling().progress();
    if (changes_queues(operation))
      ++gate->activity;
  }
  if (rank.output->collects())
    rank.output->pass_on(false);
  if (rank.job.traces_calls()) [[unlikely]]
    rank.job.trace_call(rank, called.name);
  called.serve(rank, arguments);
  rank.leave();
  crossing.watch_syscalls(rank.job.dispatches(rank));
}

} // namespace umwelt::gate
