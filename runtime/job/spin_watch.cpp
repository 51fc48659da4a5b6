// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/spin_watch.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <utility>

#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/engine/burst_meter.h"
#include "runtime/engine/thread_pointer.h"
#include "runtime/job/job.h"
#include "runtime/job/rank.h"

namespace umwelt::job
{

namespace
{

constexpr long period_ns = 4'000'000;        // of CPU time; the kernel looks at such timers once a tick
constexpr long quick_period_ns = 50'000;     // of wall clock, for one that has just been spinning
constexpr std::uint64_t longest_loop = 256;  // bytes of code
constexpr std::size_t red_zone = 128;        // below the stack pointer (psABI 3.2.2)
constexpr std::size_t stack_looked_at = 512; // bytes above it, as far as its page goes
constexpr std::size_t page = 4096;
constexpr int number = SIGVTALRM;

SpinWatch* watch = nullptr;

std::uint64_t hash(std::uint64_t seed, const void* data, std::size_t size)
{
  const auto* words = static_cast<const std::uint64_t*>(data);
  for (std::size_t i = 0; i < size / sizeof *words; ++i)
    seed = (seed ^ words[i]) * 0x9e3779b97f4a7c15ULL;
  return seed;
}

// 0: off
void set_timer(timer_t timer, long nanoseconds)
{
  itimerspec period{};
  period.it_interval.tv_nsec = period.it_value.tv_nsec = nanoseconds;
  timer_settime(timer, 0, &period, nullptr);
}

std::uint64_t distance(std::uint64_t a, std::uint64_t b)
{
  return std::max(a, b) - std::min(a, b);
}

// rsp changes in a loop that calls something; then it is not one of a few instructions.
constexpr std::array kept_by_calls = {REG_RBX, REG_RBP, REG_RSP, REG_R12, REG_R13, REG_R14, REG_R15};

} // namespace

SpinWatch::Look SpinWatch::look(const ucontext_t& context)
{
  Look result{};
  for (std::size_t i = 0; i < result.registers.size(); ++i)
    result.registers[i] = static_cast<std::uint64_t>(context.uc_mcontext.gregs[i]);
  result.instruction = static_cast<std::uint64_t>(context.uc_mcontext.gregs[REG_RIP]);
  if (context.uc_mcontext.fpregs != nullptr)
    result.memory = hash(0, context.uc_mcontext.fpregs->_xmm, sizeof context.uc_mcontext.fpregs->_xmm);
  const std::uint64_t stack = (result.registers[REG_RSP] & ~std::uint64_t{7}) - red_zone;
  const std::uint64_t page_end = (result.registers[REG_RSP] | (page - 1)) + 1;
  const std::uint64_t end = std::min(stack + red_zone + stack_looked_at, page_end);
  result.memory = hash(result.memory, reinterpret_cast<const void*>(stack), end - stack); // NOLINT(*-int-to-ptr)
  return result;
}

bool SpinWatch::same(const Look& a, const Look& b)
{
  if (a.memory != b.memory || distance(a.instruction, b.instruction) > longest_loop)
    return false;
  if (a.instruction == b.instruction)
    return a.registers == b.registers;
  return std::all_of(kept_by_calls.begin(), kept_by_calls.end(),
                     [&](std::size_t i) { return a.registers[i] == b.registers[i]; });
}

void SpinWatch::look_again(bool soon)
{
  if (std::exchange(soon_, soon) != soon)
    set_timer(again_, soon ? quick_period_ns : 0);
}

bool SpinWatch::spins(const Rank& rank, const ucontext_t& context)
{
  const Look now = look(context);
  const std::uint64_t ticks = engine::BurstMeter::ticks();
  const std::uint64_t before = std::exchange(last_, ticks);
  if (burst_ != rank.gate.clock.burst_start) {
    look_again(false); // it has crossed since, or another rank runs
    burst_ = rank.gate.clock.burst_start;
    computed_ = burst_;
    count_ = 0;
  } else if (!std::all_of(seen_.begin(), seen_.begin() + count_,
                          [&now](const Look& seen) { return same(seen, now); })) {
    computed_ = before;
    count_ = 0;
  }
  const auto near = [&now](std::uint64_t site) { return distance(site, now.instruction) <= longest_loop; };
  const bool known = std::any_of(sites_.begin(), sites_.end(), near);
  // At one instruction all registers must have been seen to be the same; without that, one more look instead of the last.
  const bool twice = std::any_of(seen_.begin(), seen_.begin() + count_,
                                 [&now](const Look& seen) { return seen.instruction == now.instruction; });
  if (count_ + 1 < (known ? known_looks : looks) || !twice) {
    seen_[std::min(count_, looks - 2)] = now;
    count_ = std::min(count_ + 1, looks - 1);
    return false;
  }
  if (!known)
    sites_[site_++ % sites_.size()] = now.instruction;
  count_ = 0;
  return true;
}

// On the rank's own stack, which another rank's handler cannot overwrite while this one is parked.
void SpinWatch::on_tick(int, siginfo_t*, void* context)
{
  const engine::ThreadPointer before = engine::read_thread_pointer();
  if (before == engine::runtime_thread_pointer()) {
    watch->look_again(false);
    return;
  }
  engine::write_thread_pointer(engine::runtime_thread_pointer());
  Rank* rank = watch->job_.current();
  if (rank != nullptr && rank->phase == Rank::Phase::running && !watch->job_.scheduler().stopping() &&
      watch->spins(*rank, *static_cast<ucontext_t*>(context))) {
    watch->job_.spinning(*rank, watch->computed_);
    // What has reached its memory may not be what it waits for; then it does nothing but spin again.
    watch->burst_ = rank->gate.clock.burst_start;
    watch->computed_ = watch->burst_;
    watch->count_ = 0;
    watch->look_again(true);
  }
  engine::write_thread_pointer(before);
}

SpinWatch::SpinWatch(Job& job) : job_(job)
{
  watch = this;
  struct sigaction action {
  };
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_NODEFER;
  action.sa_sigaction = on_tick;
  sigaction(number, &action, nullptr);
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = number;
  event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
  if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer_) != 0 ||
      timer_create(CLOCK_MONOTONIC, &event, &again_) != 0)
    throw std::system_error(errno, std::generic_category(), "timer that watches ranks");
  set_timer(timer_, period_ns);
}

SpinWatch::~SpinWatch()
{
  timer_delete(timer_);
  timer_delete(again_);
  signal(number, SIG_IGN);
  watch = nullptr;
}

} // namespace umwelt::job
