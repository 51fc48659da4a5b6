// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/worker/board.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <ctime>
#include <new>
#include <system_error>
#include <utility>

#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace umwelt::worker
{

namespace
{

// An answer that is on its way is waited for about as long as going to sleep and being woken costs: 4 us on one CPU, 6
// to 42 us on two of a virtual machine, where the other CPU must be woken too. Whoever else wants this CPU gets it
// meanwhile.
constexpr std::int64_t spin_ns = 25'000;       // ns
constexpr unsigned spins = 40;                 // between two looks at the clock, 1 us
constexpr std::int64_t second = 1'000'000'000; // ns

// Where other processes compute on this CPU, whoever yields waits for a time slice of theirs, while one that sleeps is
// let go on as soon as it is woken. So after a yield that took so long, some waits do without.
constexpr std::int64_t long_yield_ns = 200'000;
constexpr unsigned crowded_waits = 1000;

long futex(std::atomic<std::uint32_t>* word, int operation, std::uint32_t value, const timespec* timeout)
{
  return syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(word), operation, value, timeout, nullptr, 0);
}

std::int64_t now()
{
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * second + time.tv_nsec;
}

} // namespace

void Doorbell::ring()
{
  rings_.fetch_add(1, std::memory_order_seq_cst);
  if (asleep_.load(std::memory_order_seq_cst) != 0)
    futex(&rings_, FUTEX_WAKE, INT_MAX, nullptr);
}

bool Doorbell::wait(std::uint32_t seen, std::int64_t nanoseconds)
{
  thread_local unsigned crowded = 0; // waits that do not yield
  std::int64_t time = now();
  const std::int64_t end = time + std::min(spin_ns, nanoseconds);
  do {
    for (unsigned i = 0; i < spins; ++i) {
      if (rings() != seen)
        return false;
      __builtin_ia32_pause();
    }
    if (crowded > 0) {
      --crowded;
      break;
    }
    sched_yield();
    const std::int64_t before = std::exchange(time, now());
    if (time - before > long_yield_ns)
      crowded = crowded_waits;
  } while (time < end);
  const timespec timeout{nanoseconds / second, nanoseconds % second};
  asleep_.store(1, std::memory_order_seq_cst);
  if (rings_.load(std::memory_order_seq_cst) == seen)
    futex(&rings_, FUTEX_WAIT, seen, &timeout);
  asleep_.store(0, std::memory_order_relaxed);
  return true;
}

Board::Board(unsigned workers, unsigned ranks) : count_(workers), ranks_(ranks)
{
  const auto rounded = [](std::size_t bytes) { return (bytes + 4095) / 4096 * 4096; };
  const std::size_t bells = rounded(sizeof(Doorbell));
  const std::size_t boxes = rounded(sizeof(Mailbox) * workers);
  const std::size_t gates = rounded(sizeof(Gate) * ranks);
  bytes_ = bells + boxes + gates + sizeof(Slot) * slots_per_worker * workers;
  memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory_ == MAP_FAILED)
    throw std::system_error(errno, std::generic_category(), "memory shared with worker processes");
  auto* next = static_cast<char*>(memory_);
  doorbell_ = new (next) Doorbell{};
  // Zero as they are: most of what there is room for is never used.
  mailboxes_ = reinterpret_cast<Mailbox*>(next += bells);
  gates_ = reinterpret_cast<Gate*>(next += boxes);
  slots_ = reinterpret_cast<Slot*>(next + gates);
}

void Board::clear(unsigned worker)
{
  new (&mailboxes_[worker]) Mailbox{};
}

Board::~Board()
{
  munmap(memory_, bytes_);
}

} // namespace umwelt::worker
