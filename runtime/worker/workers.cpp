// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/worker/workers.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <numeric>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loader/high_memory.h"
#include "runtime/base/descriptor.h"
#include "runtime/engine/host_load.h"
#include "runtime/rank_host/slices.h"

namespace umwelt::worker
{

namespace
{

constexpr std::chrono::seconds report_timeout(10); // for a report
constexpr unsigned most_late = 128;                // worker processes at the same time
constexpr unsigned most_late_ranks = 16'384;       // in all

Doorbell* runtimes_doorbell = nullptr;
volatile std::sig_atomic_t child_ended = 0;

void on_child(int)
{
  child_ended = 1;
  if (runtimes_doorbell != nullptr)
    runtimes_doorbell->ring();
}

std::int64_t cpu_time(pid_t pid)
{
  clockid_t clock{};
  timespec time{};
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) != 0)
    return 0;
  return time.tv_sec * 1'000'000'000LL + time.tv_nsec;
}

// To the main thread: the others only lend their thread control blocks.
int send_signal(pid_t process, int number)
{
  return static_cast<int>(syscall(SYS_tgkill, process, process, number));
}

void add(timeval& sum, const timeval& part)
{
  sum.tv_sec += part.tv_sec;
  sum.tv_usec += part.tv_usec;
  if (sum.tv_usec >= 1'000'000) {
    ++sum.tv_sec;
    sum.tv_usec -= 1'000'000;
  }
}

} // namespace

int Workers::report_signal()
{
  return SIGRTMAX - 2;
}

Workers::Workers(unsigned workers, unsigned ranks, unsigned jobs)
    : board_(workers + most_late, ranks + most_late_ranks), jobs_(jobs), first_late_(workers), workers_(workers)
{
}

Workers::~Workers()
{
  stop();
  for (const State& worker : workers_)
    if (worker.report >= 0)
      close(worker.report);
}

void Workers::start(const std::function<void(unsigned)>& body, bool share_memory)
{
  runtimes_doorbell = &board_.doorbell();
  struct sigaction action {
  };
  action.sa_handler = on_child;
  action.sa_flags = SA_RESTART | SA_NOCLDSTOP;
  sigaction(SIGCHLD, &action, nullptr);
  ::signal(report_signal(), SIG_IGN); // until a worker process can answer
  std::fflush(nullptr);               // or each would write it once more
  if (share_memory)
    loader::share_high_memory();
  for (unsigned i = 0; i < count(); ++i)
    fork_worker(i, body);
}

void Workers::fork_worker(unsigned index, const std::function<void(unsigned)>& body)
{
  const pid_t runtime = getpid();
  State& worker = workers_[index];
  worker.report = memfd_create("umwelt-report", MFD_CLOEXEC);
  worker.pid = worker.report < 0 ? -1 : fork();
  if (worker.pid < 0)
    throw std::system_error(errno, std::generic_category(), fmt::format("worker {} of {}", index, count()));
  if (worker.pid > 0)
    return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(
      PR_SET_PTRACER,
      PR_SET_PTRACER_ANY); // ranks of a node copy from each other (process_vm_readv), in worker processes side by side
  if (getppid() != runtime)
    _exit(0);
  ::signal(SIGCHLD, SIG_DFL);
  loader::take_high_memory(index, first_late_);
  prctl(PR_SET_NAME, fmt::format("umwelt-worker{}", index).c_str());
  body(index);
  _exit(0);
}

unsigned Workers::late_left() const
{
  const auto late = static_cast<unsigned>(std::count_if(workers_.begin() + first_late_, workers_.end(),
                                                        [](const State& worker) { return worker.pid > 0; }));
  return most_late - late;
}

unsigned Workers::reserve()
{
  for (unsigned i = first_late_; i < count(); ++i)
    if (workers_[i].pid < 0 && !std::exchange(workers_[i].reserved, true))
      return i;
  if (count() == board_.workers())
    throw std::runtime_error(
        fmt::format("expected at most {} worker processes of ranks that others have started", most_late));
  workers_.emplace_back().reserved = true;
  return count() - 1;
}

void Workers::fork_late(unsigned index, const std::function<void(unsigned)>& body)
{
  std::fflush(nullptr);
  fork_worker(index, body);
}

void Workers::close_others(unsigned worker, const std::vector<int>& kept) const
{
  std::vector<int> open;
  if (DIR* directory = opendir("/proc/self/fd")) {
    while (const dirent* entry = readdir(directory))
      open.push_back(std::atoi(entry->d_name)); // "." and ".." are 0
    closedir(directory);
  }
  for (const int fd : open)
    if (fd > 2 && fd != workers_[worker].report && fd != loader::high_memory().file &&
        std::find(kept.begin(), kept.end(), fd) == kept.end() && (fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0)
      close(fd);
}

void Workers::retire(unsigned index)
{
  if (!is_late(index))
    return;
  State& worker = workers_[index];
  kill(worker.pid, SIGKILL);
  reap(index);
  close(worker.report);
  worker = {};
  std::erase(computing_, index);
  std::erase_if(held_back_, [index](const Release& release) { return release.worker == index; });
  board_.clear(index);
}

rusage Workers::usage() const
{
  rusage sum = usage_;
  sum.ru_maxrss = std::accumulate(peaks_.begin(), peaks_.end(), 0L);
  return sum;
}

void Workers::reap(unsigned index)
{
  State& worker = workers_[index];
  int status = 0;
  rusage usage{};
  siginfo_t ended{};
  if (waitid(P_PID, static_cast<id_t>(worker.pid), &ended, WEXITED | WNOWAIT) == 0)
    waited_ += engine::waited_for_processor(worker.pid);
  if (wait4(worker.pid, &status, 0, &usage) != worker.pid)
    return;
  worker.pid = -1;
  add(usage_.ru_utime, usage.ru_utime);
  add(usage_.ru_stime, usage.ru_stime);
  peaks_.resize(workers_.size());
  peaks_[index] = std::max(peaks_[index], usage.ru_maxrss);
}

void Workers::stop()
{
  for (const State& worker : workers_)
    if (worker.pid > 0)
      kill(worker.pid, SIGKILL);
  for (unsigned i = 0; i < count(); ++i)
    if (workers_[i].pid > 0)
      reap(i);
  runtimes_doorbell = nullptr;
}

std::optional<unsigned> Workers::take_slot(unsigned index)
{
  State& worker = workers_[index];
  if (!worker.free_slots.empty()) {
    const unsigned slot = worker.free_slots.back();
    worker.free_slots.pop_back();
    board_.slot(index, slot).used = 0;
    return slot;
  }
  if (worker.slots == slots_per_worker)
    return std::nullopt;
  board_.slot(index, worker.slots).used = 0; // of an earlier worker process
  return worker.slots++;
}

void Workers::release(unsigned worker, unsigned slot, bool urgent)
{
  if (!urgent && workers_[worker].under_way == 0 && computing_.size() >= jobs_)
    held_back_.push_back({worker, slot});
  else
    send({worker, slot});
}

void Workers::send(const Release& release)
{
  State& worker = workers_[release.worker];
  if (worker.under_way++ == 0)
    computing_.push_back(release.worker);
  Mailbox& shared = board_.mailbox(release.worker);
  shared.to_worker.push(release.slot);
  shared.doorbell.ring();
}

bool Workers::collect(const std::function<void(unsigned, unsigned)>& arrived)
{
  bool any = false;
  heard_ = board_.doorbell().rings(); // before the rings are looked at
  for (std::size_t i = 0; i < computing_.size();) {
    const unsigned index = computing_[i];
    State& worker = workers_[index];
    std::uint32_t slot = 0;
    while (board_.mailbox(index).to_runtime.pop(slot)) {
      any = true;
      --worker.under_way;
      worker.watched = 0;
      arrived(index, slot);
    }
    if (worker.under_way > 0)
      ++i;
    else
      computing_.erase(computing_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  // Those of a worker process that computes already need not wait, and are behind nobody else's.
  for (auto next = held_back_.begin(); next != held_back_.end();) {
    if (workers_[next->worker].under_way == 0 && computing_.size() >= jobs_) {
      ++next;
      continue;
    }
    send(*next);
    next = held_back_.erase(next);
  }
  return any;
}

void Workers::wait(std::int64_t nanoseconds)
{
  board_.doorbell().wait(heard_, nanoseconds);
}

std::int64_t Workers::computed(unsigned index, unsigned slot)
{
  State& worker = workers_[index];
  const std::atomic<std::uint64_t>& computing = board_.mailbox(index).computing;
  const std::uint64_t turn = computing.load(std::memory_order_acquire);
  if (static_cast<std::uint32_t>(turn) != slot + 1)
    return 0;
  const std::int64_t now = cpu_time(worker.pid);
  if (worker.watched != turn) {
    worker.watched = turn;
    worker.watched_since = now;
  }
  return computing.load(std::memory_order_acquire) == turn ? now - worker.watched_since : 0;
}

Workers::Progress Workers::progress(unsigned index, unsigned slot)
{
  const auto computing = static_cast<std::uint32_t>(board_.mailbox(index).computing.load(std::memory_order_acquire));
  if (computing == slot + 1)
    return Progress::computes;
  return workers_[index].under_way > 0 ? Progress::waits : Progress::held_back;
}

void Workers::hurry(unsigned index, unsigned slot)
{
  board_.mailbox(index).urgent.store(slot + 1, std::memory_order_release);
  // One at a time: signals of this kind queue up for a process that does not get to run, and their handlers would nest.
  if (workers_[index].pid > 0 && board_.mailbox(index).hurried.exchange(1) == 0)
    send_signal(workers_[index].pid, rank_host::Slices::signal_number());
}

std::optional<Workers::Death> Workers::death()
{
  if (child_ended == 0)
    return std::nullopt;
  child_ended = 0;
  for (unsigned i = 0; i < count(); ++i) {
    siginfo_t information{};
    if (workers_[i].pid <= 0 ||
        waitid(P_PID, static_cast<id_t>(workers_[i].pid), &information, WEXITED | WNOHANG | WNOWAIT) != 0 ||
        information.si_pid == 0)
      continue;
    const int status =
        information.si_code == CLD_EXITED ? W_EXITCODE(information.si_status, 0) : W_EXITCODE(0, information.si_status);
    reap(i);
    child_ended = 1; // there may be more
    return Death{i, status};
  }
  return std::nullopt;
}

std::string Workers::report(unsigned index)
{
  const State& worker = workers_[index];
  Mailbox& shared = board_.mailbox(index);
  const std::uint32_t wanted = shared.reports_wanted.fetch_add(1) + 1;
  constexpr unsigned asked_again =
      100; // ms: it may have begun to run a rank just before it would have seen that it was asked
  const auto end = std::chrono::steady_clock::now() + report_timeout;
  for (unsigned waited = 0; shared.reports.load() != wanted; ++waited) {
    if (worker.pid <= 0 || (waited % asked_again == 0 && send_signal(worker.pid, report_signal()) != 0) ||
        std::chrono::steady_clock::now() > end)
      return {};
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return contents(worker.report);
}

int Workers::descriptor_of(unsigned index, int fd)
{
  const auto process = static_cast<int>(syscall(SYS_pidfd_open, workers_[index].pid, 0));
  if (process < 0)
    return -errno;
  const auto own = static_cast<int>(syscall(SYS_pidfd_getfd, process, fd, 0));
  const int error = errno;
  close(process);
  return own < 0 ? -error : own;
}

} // namespace umwelt::worker
