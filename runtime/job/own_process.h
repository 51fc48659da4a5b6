// SPDX-License-Identifier: LGPL-2.1-or-later
// The runtime's own process as one that carries ranks: their requests are served at once.
#pragma once

#include <csignal>
#include <cstdint>
#include <memory>
#include <utility>

#include "runtime/base/time.h"
#include "runtime/rank_host/rank_host.h"

namespace umwelt::job
{

class Job;

class OwnProcess final : public rank_host::RankHost
{
public:
  OwnProcess(Job& job, engine::Scheduler& scheduler, rank_host::Cpu& cpu) : RankHost(scheduler, cpu), job_(job) {}
  void begin(const rank_host::Work& work) { begin_slices(work); }
  void end() { end_slices(); }

  [[nodiscard]] rank_host::Thread* running() const override;
  void request(rank_host::Thread& thread, std::uint32_t operation, void* arguments) override;
  void on_request(int signal, const ucontext_t* context) override;
  [[noreturn]] void on_own_fault(int signal, const siginfo_t& information, const ucontext_t& context) override;

private:
  Job& job_;
};

} // namespace umwelt::job
