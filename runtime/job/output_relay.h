// SPDX-License-Identifier: LGPL-2.1-or-later
// How what ranks print gets to where Umwelt's own standard output and error lead.
//
// As under mpirun (Open MPI 4.1: orte/mca/iof), standard output of a rank is a pseudo-terminal without echo and
// translation, so that C libraries, Python and others pass lines on as they end; standard error is a pipe. The ranks of
// a process share one: they take turns, so what they print keeps its order, and a message costs nothing for it. A
// thread passes on whole lines, and what does not become a line within a tenth of a second (a prompt). When a rank
// makes a call in the middle of a line, what follows is told apart by rank until that line has ended. So nothing comes
// between the parts of a line, and the progress line is off the screen before anything else appears there.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include <pthread.h>

#include "runtime/base/time.h"
#include "runtime/observe/progress.h"

namespace umwelt::job
{

class OutputRelay
{
public:
  // `progress` outlives it. `in_turns`: ranks of different workers, too, run one after the other, so all of them share
  // one terminal, and what they print keeps its order.
  OutputRelay(observe::Progress& progress, bool in_turns);
  // Passes on what is left.
  ~OutputRelay();
  OutputRelay(const OutputRelay&) = delete;
  OutputRelay& operator=(const OutputRelay&) = delete;

  // Where ranks of the worker process write; `stream`: 1 or 2. That of the runtime itself where nothing comes in
  // between. A worker process that is new gets a channel of its own.
  [[nodiscard]] int end(unsigned worker, int stream);
  // Begins, once other processes have been forked. The calling thread gets SIGPIPE, with SI_QUEUE, if nobody reads any
  // more.
  void start();

  // A rank of the worker process makes a call: what has been printed since the last one is its own. To be told while
  // umw_gate::line_open of the rank says so, and as long as keeps_lines().
  void burst_ended(unsigned worker, int rank);
  [[nodiscard]] bool keeps_lines(unsigned worker) const
  {
    return keeps_[place_of(worker)].load(std::memory_order_relaxed);
  }

  // Passes on what has been printed up to now; then other text of the runtime's comes behind it.
  void pass_on();
  // The same when Umwelt fails, in a signal handler: as far as nobody is in the middle of it, and without malloc.
  void rescue();
  // Text of the runtime's own, or of ranks whose output it collects.
  void write(int stream, std::string_view text);
  void show_progress(sim::SimTime now, std::uint64_t events);
  void show_start(std::size_t begun, std::size_t all);
  void erase_progress();

private:
  using Clock = std::chrono::steady_clock;
  struct Line { // that has not ended yet
    std::string text;
    Clock::time_point since{};
  };
  struct Channel {
    int stream = 0; // 1 or 2
    int read_end = -1;
    int write_end = -1;
    std::map<int, Line> lines; // by rank; of nobody in particular: `nobody`
  };
  static constexpr int nobody = -1;

  [[nodiscard]] unsigned place_of(unsigned worker) const { return in_turns_ ? 0 : worker; }
  void open(Channel& channel);
  void wake();
  void run();
  // Returns how many bytes there were.
  std::size_t take(Channel& channel, int writer);
  void pass_on_parts(Channel& channel, bool everything);
  void pass_on_everything();
  void count_lines();
  void put(int stream, std::string_view text);

  observe::Progress& progress_;
  bool in_turns_;
  std::array<bool, 3> terminal_;        // by stream
  std::deque<Channel> channels_;        // two a place; only the owner adds some
  std::deque<std::atomic<bool>> keeps_; // by place: lines of ranks are kept
  std::mutex mutex_;                    // all below, new channels, lines, and the progress line
  bool ending_ = false;
  bool line_is_open_ = false; // on the terminal
  std::array<bool, 3> closed_{};
  int wake_ = -1; // eventfd: there is a new channel, or the thread is to end
  pthread_t owner_{};
  std::thread thread_;
};

} // namespace umwelt::job
