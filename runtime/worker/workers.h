// SPDX-License-Identifier: LGPL-2.1-or-later
// The runtime's side of its worker processes: starts them, lets their threads go on, hears from them, and ends them.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <sys/resource.h>
#include <sys/types.h>

#include "runtime/worker/board.h"

namespace umwelt::worker
{

class Workers
{
public:
  // `jobs`: at most so many compute at the same time. There is room for some more worker processes and ranks than these
  // (fork_late).
  Workers(unsigned workers, unsigned ranks, unsigned jobs);
  ~Workers(); // ends them
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // Forks the worker processes; each calls `body` with its number, which does not return. They end with the thread that
  // calls this. Throws std::system_error. `share_memory`: large memory of ranks is shared with this process where
  // possible, and so at different addresses in each worker process (loader/high_memory.h).
  void start(const std::function<void(unsigned worker)>& body, bool share_memory = true);
  // Ends them at once.
  void stop();

  // How many more there can be at the moment, and the number of one. Throws std::runtime_error if there are none.
  [[nodiscard]] unsigned late_left() const;
  unsigned reserve();
  // Forks that one, from the loop of a runtime that carries no rank itself. `body` as above. Throws std::system_error.
  void fork_late(unsigned worker, const std::function<void(unsigned worker)>& body);
  // In such a worker process: closes what the runtime has opened for itself and for others, all but what reports and
  // memory need, and these.
  void close_others(unsigned worker, const std::vector<int>& kept) const;
  // Its ranks have ended: ends it, if it was forked late.
  void retire(unsigned worker);
  // Forked late, and not retired.
  [[nodiscard]] bool is_late(unsigned worker) const { return worker >= first_late_ && workers_[worker].pid > 0; }

  [[nodiscard]] Board& board() { return board_; }
  [[nodiscard]] pid_t pid(unsigned worker) const { return workers_[worker].pid; }
  [[nodiscard]] unsigned count() const { return static_cast<unsigned>(workers_.size()); }

  // A slot for a new thread of the worker process; none: it has as many as it can.
  std::optional<unsigned> take_slot(unsigned worker);
  void give_slot(unsigned worker, unsigned slot) { workers_[worker].free_slots.push_back(slot); }

  // The thread goes on as soon as fewer than `jobs` worker processes compute; at once if it is `urgent`.
  void release(unsigned worker, unsigned slot, bool urgent = false);
  // The worker process looks whether something has changed.
  void wake(unsigned worker) { board_.mailbox(worker).doorbell.ring(); }
  // Calls `arrived` for every thread that has something to say. False: there was none.
  bool collect(const std::function<void(unsigned worker, unsigned slot)>& arrived);
  // Returns when one has, after `nanoseconds`, or for no reason.
  void wait(std::int64_t nanoseconds);
  // CPU time (ns) the worker process has used while `slot` computes there, counted from the first time this was asked
  // since it was given its turn; 0 if it does not compute.
  std::int64_t computed(unsigned worker, unsigned slot);
  // What a thread that was released does: it computes, waits for others of its worker process, or is held back with its
  // worker process (-j).
  enum class Progress { computes, waits, held_back };
  [[nodiscard]] Progress progress(unsigned worker, unsigned slot);
  // The thread that computes in the worker process makes room for `slot`.
  void hurry(unsigned worker, unsigned slot);

  struct Death {
    unsigned worker;
    int status; // as of waitpid(2)
  };
  // One that has ended without being asked to.
  std::optional<Death> death();
  // What the threads of a worker process are doing, "SLOT\n" and indented lines each; empty if it does not answer.
  std::string report(unsigned worker);
  // Descriptor of the running process that is `fd` in the worker process; a negative errno.
  int descriptor_of(unsigned worker, int fd);
  // Of all worker processes that have ended; memory of those that came one after the other counts once.
  [[nodiscard]] rusage usage() const;
  // For how long these were ready to run and had to wait for a processor, ns.
  [[nodiscard]] std::int64_t waited() const { return waited_; }

  // For the worker process itself: where reports go, and the signal that asks for one.
  [[nodiscard]] int report_file(unsigned worker) const { return workers_[worker].report; }
  [[nodiscard]] static int report_signal();

private:
  struct State {
    bool reserved = false; // for ranks that begin late
    pid_t pid = -1;
    int report = -1;
    unsigned under_way = 0; // threads released and not heard of since
    unsigned slots = 0;     // given out so far
    std::vector<unsigned> free_slots;
    std::uint64_t watched = 0; // the turn whose CPU time is looked at (Mailbox::computing)
    std::int64_t watched_since = 0;
  };
  struct Release {
    unsigned worker;
    unsigned slot;
  };
  void send(const Release& release);
  void fork_worker(unsigned worker, const std::function<void(unsigned worker)>& body);
  void reap(unsigned worker); // waits for its end

  Board board_;
  unsigned jobs_;
  unsigned first_late_;
  std::vector<State> workers_;
  std::vector<unsigned> computing_; // worker processes with threads under way
  std::deque<Release> held_back_;
  std::uint32_t heard_ = 0; // rings of the doorbell
  rusage usage_{};
  std::int64_t waited_ = 0;
  std::vector<long> peaks_; // ru_maxrss, by worker process
};

} // namespace umwelt::worker
