// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/hints.h"

#include <algorithm>
#include <array>
#include <span>

#include <fmt/format.h>

namespace umwelt::job
{

namespace
{

using namespace std::string_view_literals;

struct Kind {
  std::span<const std::string_view> calls; // how their names begin
  std::string_view who;
  std::string_view step;
};

constexpr std::array network = {"Ptl"sv, "MPI_"sv};
constexpr std::array memory = {"a loop that waits for memory"sv};
constexpr std::array threads_of_rank = {"umw_thread_wait"sv, "umw_thread_join"sv, "umw_futex"sv};
constexpr std::array shared_objects = {"umw_object_wait"sv, "umw_condition_wait"sv, "umw_barrier_wait"sv};
constexpr std::array file_locks = {"umw_file_lock"sv};
constexpr std::array sysv = {"umw_sem_operate"sv, "umw_msg_send"sv, "umw_msg_receive"sv};
constexpr std::array bootstrap = {"umw_fence"sv,  "umw_pmi"sv,  "umw_key_get"sv,          "umw_pair_get"sv,
                                  "umw_lookup"sv, "umw_meet"sv, "PMI2_Info_GetNodeAttr"sv};
constexpr std::array signals = {"umw_signal_wait"sv};
constexpr std::array descriptors = {"umw_descriptor_wait"sv, "umw_socket"sv};

constexpr std::array kinds = {
    Kind{network, "in MPI or Portals", "look for the message or the collective that the other side never enters"},
    Kind{threads_of_rank, "waiting for another thread of the rank (pthread_join, lock, condition, semaphore, barrier)",
         "look in the backtraces of the rank's other threads for the one that was to end, unlock, signal or post"},
    Kind{memory, "in a loop that looks at memory", "look for who was to write there"},
    Kind{shared_objects, "waiting for a lock, condition, semaphore or barrier that ranks of the node share",
         "look for the rank that holds it, or was to signal, post or come"},
    Kind{file_locks, "waiting for the lock of a file", "look for the rank that holds it (fcntl, lockf, flock)"},
    Kind{sysv, "waiting for System V semaphores or messages", "look for the rank that was to release or to send"},
    Kind{bootstrap, "waiting for other ranks in PMIx or PMI (a fence, as in MPI_Init and MPI_Finalize, or a key)",
         "look for the ranks that are elsewhere, or have ended, and were to come there"},
    Kind{signals, "waiting for a signal", "look for who was to send it"},
    Kind{descriptors, "waiting for a descriptor (pipe, socket, file)",
         "look for who was to write to it, to read from it, or to connect"}};

bool is_of(const Kind& kind, const WaitingThread& thread)
{
  return std::any_of(kind.calls.begin(), kind.calls.end(),
                     [&thread](std::string_view begin) { return thread.call.starts_with(begin); });
}

std::string list(const std::vector<int>& ranks)
{
  constexpr std::size_t most = 8;
  const auto shown = std::span(ranks).first(std::min(most, ranks.size()));
  return fmt::format("rank{} {}{}", ranks.size() > 1 ? "s" : "", fmt::join(shown, ", "),
                     ranks.size() > most ? fmt::format(" and {} more", ranks.size() - most) : "");
}

// Steps for those of the threads that `which` accepts, one a line; empty: none.
template <class Which> std::vector<std::string> steps(const std::vector<WaitingThread>& threads, Which which)
{
  std::vector<std::string> lines;
  for (const Kind& kind : kinds) {
    std::vector<int> ranks;
    for (const WaitingThread& thread : threads)
      if (which(thread) && is_of(kind, thread) && (ranks.empty() || ranks.back() != thread.rank))
        ranks.push_back(thread.rank);
    if (!ranks.empty())
      lines.push_back(fmt::format("{} {}: {}", list(ranks), kind.who, kind.step));
  }
  return lines;
}

} // namespace

std::string next_steps(const std::vector<WaitingThread>& threads)
{
  std::vector<std::string> lines = steps(threads, [](const WaitingThread& thread) {
    return !thread.wakes_by_itself && (thread.is_main || !is_of(kinds.back(), thread));
  });
  if (lines.empty())
    lines = steps(threads, [](const WaitingThread&) { return true; });
  if (lines.empty())
    return "Next step: look where the ranks are";
  if (lines.size() == 1)
    return "Next step: " + lines.front();
  return fmt::format("Next step, one for each kind of place:\n  {}", fmt::join(lines, "\n  "));
}

} // namespace umwelt::job
