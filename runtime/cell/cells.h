// SPDX-License-Identifier: LGPL-2.1-or-later
// The runtime's side of its cells: starts them, lets their threads go on, hears from them, and ends them.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <sys/resource.h>
#include <sys/types.h>

#include "runtime/cell/board.h"

namespace umwelt::cell
{

class Cells
{
public:
  // `jobs`: at most so many compute at the same time. There is room for some more cells and ranks than these (fork_late).
  Cells(unsigned cells, unsigned ranks, unsigned jobs);
  ~Cells(); // ends them
  Cells(const Cells&) = delete;
  Cells& operator=(const Cells&) = delete;

  // Forks the cells; each calls `body` with its number, which does not return. They end with the thread that calls this. Throws
  // std::system_error. `share_memory`: large memory of ranks is shared with this process where possible, and so at different addresses in
  // each cell (loader/high_memory.h).
  void start(const std::function<void(unsigned cell)>& body, bool share_memory = true);
  // Ends them at once.
  void stop();

  // How many more there can be at the moment, and the number of one. Throws std::runtime_error if there are none.
  [[nodiscard]] unsigned late_left() const;
  unsigned reserve();
  // Forks that one, from the loop of a runtime that carries no rank itself. `body` as above. Throws std::system_error.
  void fork_late(unsigned cell, const std::function<void(unsigned cell)>& body);
  // In such a cell: closes what the runtime has opened for itself and for others, all but what reports and memory need, and these.
  void close_others(unsigned cell, const std::vector<int>& kept) const;
  // Its ranks have ended: ends it, if it was forked late.
  void retire(unsigned cell);
  // Forked late, and not retired.
  [[nodiscard]] bool is_late(unsigned cell) const { return cell >= first_late_ && cells_[cell].pid > 0; }

  [[nodiscard]] Board& board() { return board_; }
  [[nodiscard]] pid_t pid(unsigned cell) const { return cells_[cell].pid; }
  [[nodiscard]] unsigned count() const { return static_cast<unsigned>(cells_.size()); }

  // A slot for a new thread of the cell; none: it has as many as it can.
  std::optional<unsigned> take_slot(unsigned cell);
  void give_slot(unsigned cell, unsigned slot) { cells_[cell].free_slots.push_back(slot); }

  // The thread goes on as soon as fewer than `jobs` cells compute; at once if it is `urgent`.
  void release(unsigned cell, unsigned slot, bool urgent = false);
  // The cell looks whether something has changed.
  void wake(unsigned cell) { board_.mailbox(cell).doorbell.ring(); }
  // Calls `arrived` for every thread that has something to say. False: there was none.
  bool collect(const std::function<void(unsigned cell, unsigned slot)>& arrived);
  // Returns when one has, after `nanoseconds`, or for no reason.
  void wait(std::int64_t nanoseconds);
  // CPU time (ns) the cell has used while `slot` computes there, counted from the first time this was asked since it was given its
  // turn; 0 if it does not compute.
  std::int64_t computed(unsigned cell, unsigned slot);
  // What a thread that was released does: it computes, waits for others of its cell, or is held back with its cell (-j).
  enum class Progress { computes, waits, held_back };
  [[nodiscard]] Progress progress(unsigned cell, unsigned slot);
  // The thread that computes in the cell makes room for `slot`.
  void hurry(unsigned cell, unsigned slot);

  struct Death {
    unsigned cell;
    int status; // as of waitpid(2)
  };
  // One that has ended without being asked to.
  std::optional<Death> death();
  // What the threads of a cell are doing, "SLOT\n" and indented lines each; empty if it does not answer.
  std::string report(unsigned cell);
  // Descriptor of the running process that is `fd` in the cell; a negative errno.
  int descriptor_of(unsigned cell, int fd);
  // Of all cells that have ended; memory of those that came one after the other counts once.
  [[nodiscard]] rusage usage() const;

  // For the cell itself: where reports go, and the signal that asks for one.
  [[nodiscard]] int report_file(unsigned cell) const { return cells_[cell].report; }
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
    unsigned cell;
    unsigned slot;
  };
  void send(const Release& release);
  void fork_cell(unsigned cell, const std::function<void(unsigned cell)>& body);
  void reap(unsigned cell); // waits for its end

  Board board_;
  unsigned jobs_;
  unsigned first_late_;
  std::vector<State> cells_;
  std::vector<unsigned> computing_; // cells with threads under way
  std::deque<Release> held_back_;
  std::uint32_t heard_ = 0; // rings of the doorbell
  rusage usage_{};
  std::vector<long> peaks_; // ru_maxrss, by cell
};

} // namespace umwelt::cell
