// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/calibrate/kernel_bench.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <new>
#include <numeric>
#include <random>
#include <stdexcept>

#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/usage_error.h"
#include "runtime/calibrate/kernel_caller.h"

namespace umwelt::calibrate
{
namespace
{

// What the processes share: how many are ready, how many have made their calls, and behind it the durations.
struct Board {
  std::atomic<unsigned> ready;
  std::atomic<unsigned> done;
};

class SharedBoard
{
public:
  explicit SharedBoard(std::size_t durations) : bytes_(sizeof(Board) + durations * sizeof(double))
  {
    void* const place = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (place == MAP_FAILED)
      throw std::runtime_error(fmt::format("memory for the measurements: expected {} bytes, got: {}. Measure fewer "
                                           "sizes (--count).",
                                           bytes_, std::strerror(errno)));
    board_ = new (place) Board{};
  }
  ~SharedBoard() { munmap(board_, bytes_); }
  SharedBoard(const SharedBoard&) = delete;
  SharedBoard& operator=(const SharedBoard&) = delete;

  [[nodiscard]] Board& operator*() const { return *board_; }
  [[nodiscard]] double* durations() const { return reinterpret_cast<double*>(board_ + 1); }

private:
  std::size_t bytes_;
  Board* board_ = nullptr;
};

void pin(int cpu)
{
  std::array<cpu_set_t, 64> masks{};
  CPU_SET_S(static_cast<std::size_t>(cpu), sizeof masks, masks.data());
  sched_setaffinity(0, sizeof masks, masks.data()); // refused: it stays where it is, which does no harm
}

std::uint32_t socket_of(int cpu)
{
  std::ifstream file(fmt::format("/sys/devices/system/cpu/cpu{}/topology/physical_package_id", cpu));
  int socket = 0;
  return file >> socket && socket > 0 ? static_cast<std::uint32_t>(socket) : 0;
}

struct Bench {
  const kernels::KernelFunction& kernel;
  void* function;
  const BenchWishes& wishes;
  std::vector<std::vector<double>> sizes;
  double largest;
  unsigned processes;
};

std::vector<std::size_t> own_order(std::size_t calls, std::uint64_t seed)
{
  std::vector<std::size_t> order(calls);
  std::iota(order.begin(), order.end(), 0);
  std::mt19937_64 random(seed);
  for (std::size_t i = calls; i > 1; --i)
    std::swap(order[i - 1], order[random() % i]);
  return order;
}

// The process of one core. It goes on until all have finished, so that none measures an idle machine.
void make_calls(const Bench& bench, unsigned number, Board& board, double* durations)
{
  Caller caller(bench.kernel, bench.function, bench.wishes.fixed, bench.largest, bench.wishes.sizes.seed);
  const std::size_t calls = bench.sizes.size() * bench.wishes.repetitions;
  const std::vector<std::size_t> order = own_order(calls, bench.wishes.sizes.seed + number);
  caller.measure(bench.sizes.front()); // the library sets itself up
  ++board.ready;
  while (board.ready < bench.processes)
    sched_yield();
  for (const std::size_t call : order)
    durations[call] = caller.measure(bench.sizes[call % bench.sizes.size()]);
  ++board.done;
  for (std::size_t i = 0; board.done < bench.processes; ++i)
    caller.measure(bench.sizes[order[i % calls] % bench.sizes.size()]);
}

[[noreturn]] void run_child(const Bench& bench, unsigned number, int cpu, pid_t parent, Board& board, double* durations)
{
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent)
    _exit(1);
  pin(cpu);
  try {
    make_calls(bench, number, board, durations);
  } catch (const std::exception& error) {
    fmt::print(stderr, "umwelt calibrate kernels: {}: {}\n", bench.kernel.name, error.what());
    _exit(1);
  }
  _exit(0);
}

// Waits for all of them; if one fails the others are ended. Throws std::runtime_error then.
void wait_for(std::vector<pid_t>& children, const std::string& kernel)
{
  int wrong = 0;
  for (std::size_t left = children.size(); left > 0; --left) {
    int status = 0;
    const pid_t ended = waitpid(-1, &status, 0);
    std::erase(children, ended);
    if (status == 0 || wrong != 0)
      continue;
    wrong = status;
    for (const pid_t child : children)
      kill(child, SIGKILL);
  }
  if (wrong != 0)
    throw std::runtime_error(
        fmt::format("kernel {}: expected the library's function to return, got: {}. Leave the kernel out, or try "
                    "smaller sizes.",
                    kernel,
                    WIFSIGNALED(wrong) ? fmt::format("signal {} ({})", WTERMSIG(wrong), strsignal(WTERMSIG(wrong)))
                                       : fmt::format("exit code {}", WEXITSTATUS(wrong))));
}

void require_memory(const Bench& bench)
{
  const double wanted = Caller::bytes_of(bench.kernel, bench.largest) / 8 * bench.processes; // what is written of it
  const double present = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  if (wanted > present / 2)
    throw UsageError(fmt::format("sizes of {}", bench.kernel.name),
                     fmt::format("operands that fit into half of the memory, {:.3g} GB", present / 2e9),
                     fmt::format("about {:.3g} GB on {} cores", wanted / 1e9, bench.processes),
                     "Give smaller sizes (--sizes), or --cores one.");
}

} // namespace

std::vector<int> usable_cpus()
{
  std::array<cpu_set_t, 64> masks{}; // of 1024 CPUs each; the kernel wants room for all it may ever have
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof masks, masks.data()) == 0)
    for (std::size_t cpu = 0; cpu < sizeof masks * 8; ++cpu)
      if (CPU_ISSET_S(cpu, sizeof masks, masks.data()))
        cpus.push_back(static_cast<int>(cpu));
  return cpus.empty() ? std::vector{0} : cpus;
}

KernelMeasurements measure(const kernels::KernelFunction& kernel, void* function, const BenchWishes& wishes)
{
  std::vector<int> cpus = usable_cpus();
  if (!wishes.all_cores)
    cpus.resize(1);
  Bench bench{kernel, function, wishes, draw_sizes(kernel, wishes.sizes), 1, static_cast<unsigned>(cpus.size())};
  for (const std::vector<double>& sizes : bench.sizes)
    for (const double size : sizes)
      bench.largest = std::max(bench.largest, size);
  require_memory(bench);
  const std::size_t calls = bench.sizes.size() * wishes.repetitions;
  const SharedBoard board(calls * cpus.size());
  const pid_t parent = getpid();
  std::vector<pid_t> children;
  for (unsigned i = 0; i < cpus.size(); ++i) {
    const pid_t child = fork();
    if (child == 0)
      run_child(bench, i, cpus[i], parent, *board, board.durations() + i * calls);
    if (child < 0) {
      const int error = errno;
      for (const pid_t started : children)
        kill(started, SIGKILL);
      throw std::runtime_error(fmt::format("fork: expected a process for each core, got: {}", std::strerror(error)));
    }
    children.push_back(child);
  }
  wait_for(children, kernel.name);
  KernelMeasurements result{&kernel, wishes.node.has_value(), true, true, false, {}};
  for (unsigned i = 0; i < cpus.size(); ++i)
    for (std::size_t call = 0; call < calls; ++call)
      result.calls.push_back({bench.sizes[call % bench.sizes.size()],
                              board.durations()[i * calls + call],
                              {wishes.node.value_or(0), socket_of(cpus[i]), static_cast<std::uint32_t>(cpus[i]), 0},
                              {}});
  return result;
}

} // namespace umwelt::calibrate
