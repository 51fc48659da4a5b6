// SPDX-License-Identifier: LGPL-2.1-or-later
// System V IPC and message queues of POSIX of each node (runtime/sysv), and how its calls block a thread of a rank.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "runtime/base/timeline.h"
#include "runtime/sysv/posix_queues.h"
#include "runtime/sysv/queues.h"
#include "runtime/sysv/segments.h"
#include "runtime/sysv/semaphores.h"

namespace umwelt::job
{

class Job;
class Rank;
struct Thread;

// A call of the running thread of `rank`.
class SysvCall final : public sysv::Waiting, private sim::Event
{
public:
  explicit SysvCall(Rank& rank);
  ~SysvCall() override;
  SysvCall(const SysvCall&) = delete;
  SysvCall& operator=(const SysvCall&) = delete;

  End wait(sim::SimTime deadline) override;
  // When the core of the thread can see what that one has done.
  void wake(Waiting& by) override;

  [[nodiscard]] sysv::Semaphores::Caller semaphores();
  [[nodiscard]] sysv::Queues::Caller queues();
  [[nodiscard]] sysv::PosixQueues::Caller posix_queues();

private:
  void fire() override;

  Rank& rank_;
  Thread& thread_;
  bool woken_ = false;
};

class SysvHost
{
public:
  struct Node {
    Node(const std::string& directory, Job& job, std::uint32_t node);
    sysv::Segments segments;
    sysv::Semaphores semaphores;
    sysv::Queues queues;
    sysv::PosixQueues posix_queues;
  };
  [[nodiscard]] Node& of(const Rank& rank);
  // The rank has ended.
  void forget(Rank& rank);
  // execve(2): segments are detached; adjustments of semaphores stay, semop(2).
  void program_changed(Rank& rank);
  // Seconds since the epoch, as the rank sees them.
  [[nodiscard]] static std::int64_t now(const Rank& rank);

private:
  std::map<std::uint32_t, std::unique_ptr<Node>> nodes_;
};

} // namespace umwelt::job
