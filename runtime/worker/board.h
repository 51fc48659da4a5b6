// SPDX-License-Identifier: LGPL-2.1-or-later
// What the runtime and its worker processes share: memory mapped before the worker processes are forked, so it lies at
// the same address in all of them, and pointers into it mean the same.
//
// Every simulated thread that lives in a worker process has a slot. Thread and runtime take turns: the thread puts a
// request into its slot and waits, the runtime serves it and lets the thread go on. Two rings for each worker process
// say whose turn has come; a word that futex(2) waits for wakes whoever sleeps.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "preload/abi/gate.h"
#include "runtime/rank_host/burst.h"

namespace umwelt::worker
{

constexpr unsigned slots_per_worker = 4096; // threads that live at the same time
constexpr std::size_t arena_bytes = std::size_t{252}
                                    << 10; // of a slot, for the arguments of one request and those nested in it

// Rung to wake the one who waits.
class Doorbell
{
public:
  void ring();
  // Returns when it was rung after rings() was `seen`, after `nanoseconds`, or for no reason. True: the process has
  // slept.
  bool wait(std::uint32_t seen, std::int64_t nanoseconds);
  [[nodiscard]] std::uint32_t rings() const { return rings_.load(std::memory_order_acquire); }

private:
  std::atomic<std::uint32_t> rings_;
  std::atomic<std::uint32_t> asleep_;
};

// Slots whose turn has come, in order; one producer, one consumer. A slot is in it once at most.
class Ring
{
public:
  void push(std::uint32_t slot)
  {
    const std::uint32_t end = end_.load(std::memory_order_relaxed);
    slots_[end % slots_per_worker] = slot;
    end_.store(end + 1, std::memory_order_release);
  }
  bool pop(std::uint32_t& slot)
  {
    const std::uint32_t begin = begin_.load(std::memory_order_relaxed);
    if (begin == end_.load(std::memory_order_acquire))
      return false;
    slot = slots_[begin % slots_per_worker];
    begin_.store(begin + 1, std::memory_order_relaxed);
    return true;
  }

private:
  alignas(64) std::atomic<std::uint32_t> begin_;
  alignas(64) std::atomic<std::uint32_t> end_;
  std::array<std::uint32_t, slots_per_worker> slots_;
};

struct Slot {
  enum class Turn : std::uint32_t {
    request,   // of the thread: `operation`, `arguments`
    delivered, // of the thread: handlers of signals have run; `result`
    go_on,     // of the runtime: the request is served
    deliver    // of the runtime: run the handlers of signals that are due, in the middle of a request
  };
  Turn turn;
  std::uint32_t operation;
  void* arguments;        // in the arena
  rank_host::Burst burst; // that ended with the request
  // Simulated time (ps) of the burst that is under way, up to when others of the worker process were last given their
  // turn.
  std::atomic<std::int64_t> computed;
  std::int32_t result;
  std::uint32_t used; // bytes of the arena
  alignas(64) std::array<std::byte, arena_bytes> arena;
};

// One for each worker process.
struct Mailbox {
  Doorbell doorbell; // for the worker process
  Ring to_worker;    // may go on
  Ring to_runtime;   // have something to say
  // Slot of the thread that runs, plus 1; 0: none. Above it a number that is another whenever one begins.
  std::atomic<std::uint64_t> computing;
  std::atomic<std::uint32_t> urgent;         // slot whose turn is not to wait any longer, plus 1
  std::atomic<std::uint32_t> hurried;        // the signal that says so is on its way
  std::atomic<std::uint32_t> reports_wanted; // reports that were asked for (Workers::report),
  std::atomic<std::uint32_t> reports;        // and those that are complete
};

class Board
{
public:
  // For so many at the same time, or in all. What is not used takes addresses, no memory. Throws std::system_error.
  Board(unsigned workers, unsigned ranks);
  ~Board();
  Board(const Board&) = delete;
  Board& operator=(const Board&) = delete;

  [[nodiscard]] Doorbell& doorbell() { return *doorbell_; } // for the runtime
  [[nodiscard]] Mailbox& mailbox(unsigned worker) { return mailboxes_[worker]; }
  [[nodiscard]] Slot& slot(unsigned worker, unsigned index)
  {
    return slots_[static_cast<std::size_t>(worker) * slots_per_worker + index];
  }
  [[nodiscard]] umw_gate& gate(unsigned rank) { return gates_[rank].gate; }
  // A worker process is to be another one.
  void clear(unsigned worker);
  [[nodiscard]] unsigned workers() const { return count_; }
  [[nodiscard]] unsigned gates() const { return ranks_; }

private:
  struct alignas(64) Gate {
    umw_gate gate;
  };
  unsigned count_;
  unsigned ranks_;
  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
  Doorbell* doorbell_ = nullptr;
  Mailbox* mailboxes_ = nullptr;
  Gate* gates_ = nullptr;
  Slot* slots_ = nullptr;
};

} // namespace umwelt::worker
