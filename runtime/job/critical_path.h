// SPDX-License-Identifier: LGPL-2.1-or-later
// What determines the end of a run, and how much earlier that would be if something took no time.
//
// A run is a graph: what a rank does, one thing after the other, and messages that a rank waits for. It is not kept but
// gone through as it comes to be, by two means.
//
// - Each rank has a clock for each question ("computing takes no time"), which goes on by what its work would have
//   taken then. A wait that a message ends sets the clock to when that message would have come: the sender's clock when
//   it was sent, plus what its way would have taken; or leaves it, if that is earlier. At the end the latest clock is
//   the answer. The clock of the question "as it is" shows the simulated time.
// - A stretch is what a rank does between two waits that a message of another rank ended; it knows the stretch from
//   which that message came, and where. From the last one of the rank that ends last the way leads back to the
//   beginning: that is the critical path. Stretches that nothing leads back to are forgotten.
//
// What a rank did at a past time is looked up in its last marks. A message's way has four parts: what one without
// payload takes in NICs and on links, and its bytes by the rate, as of a message alone between these nodes
// (net_models/pair_times.h); the rest others caused. Where bandwidth takes no time, NICs still handle one message after
// the other. When a rank finds what has come it has waited for all that has come so far: it does not matter in which
// order it looks. Sleeps, and waits for the rank's own operations within its node, take as long as they did. Of a way
// back of 400,000 messages and more the beginning is lost, which the record says.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "net_models/pair_times.h"
#include "runtime/base/time.h"
#include "runtime/observe/critical_path.h"
#include "runtime/observe/trace_record.h"

namespace umwelt::job
{

class CriticalPath
{
public:
  using Kind = observe::PathKind;
  // Of a message from node to node alone on the machine.
  struct Alone {
    sim::SimTime links = 0;          // latency of the links
    net::PairTime from_end_to_end{}; // the latency is that of the links, too
  };
  // Asked for each message.
  using Way = std::function<Alone(std::uint32_t from, std::uint32_t to)>;

  // By rank: its node.
  CriticalPath(std::vector<std::uint32_t> nodes, Way way);

  // The rank worked for that time; `state` is not `waiting`.
  void spent(std::size_t rank, observe::RankState state, sim::SimTime from, sim::SimTime until);
  // Something has come to the rank that `source` began at `began`.
  void came(std::size_t rank, std::size_t source, sim::SimTime began, std::uint64_t bytes, sim::SimTime now);
  // The same, and the rank itself had asked `other` for it.
  void answered(std::size_t rank, std::size_t other, sim::SimTime began, std::uint64_t bytes, sim::SimTime now);
  // The rank was blocked.
  enum class Wait : std::uint8_t {
    polls,   // it looks for something, again and again
    woken,   // something has ended it
    elapsed, // it was to last so long
  };
  void waited(std::size_t rank, sim::SimTime from, sim::SimTime until, Wait how);
  // It has found something: what has come so far.
  void found(std::size_t rank);
  // It goes on, whether it has found anything or not.
  void acted(std::size_t rank);

  // `ends`: of the ranks.
  [[nodiscard]] observe::CriticalPathRecord record(const std::vector<sim::SimTime>& ends) const;

private:
  static constexpr std::size_t kinds = observe::path_kinds;
  static constexpr std::size_t most_single_ranks = 64; // whose computing is a question each
  static constexpr std::size_t marks = 48;             // of each rank
  static constexpr std::size_t most_stretches = 400'000;
  using Times = std::array<sim::SimTime, kinds>;
  using Clocks = std::vector<sim::SimTime>; // by question

  struct Stretch {
    Stretch() = default;
    Stretch(const Stretch&) = delete;
    Stretch& operator=(const Stretch&) = delete;
    ~Stretch(); // of a long way back, too, on a small stack

    std::size_t rank = 0;
    sim::SimTime begin = 0;
    std::shared_ptr<Stretch> before;    // null: the beginning of the run
    sim::SimTime cut = 0;               // then the message left there
    Times until_cut{};                  // what `before` did until then
    Times way{};                        // of the message
    std::shared_ptr<std::size_t> count; // of stretches that are not forgotten
  };
  struct Mark {
    sim::SimTime at = 0;
    Times done{}; // since the stretch began
    Clocks clocks;
    std::shared_ptr<Stretch> stretch;
  };
  struct Arrival {
    bool any = false;
    bool of_others = false; // the last one
    sim::SimTime at = 0;    // it came
    Clocks clocks;          // the latest of each
    Mark sender;            // when it began the last one
    sim::SimTime began = 0;
    Times way{};
  };
  struct Rank {
    std::uint32_t node = 0;
    Mark now;
    std::deque<Mark> past;
    Arrival arrival;
    sim::SimTime idle = 0; // it was blocked, with looks in between, and nothing has come yet
  };
  // A NIC in the question of bandwidth: what has gone out and come in by then. Messages without bytes queue for it,
  // too.
  struct Nic {
    sim::SimTime out = 0;
    sim::SimTime in = 0;
  };

  [[nodiscard]] std::shared_ptr<Stretch> new_stretch(std::size_t rank);
  [[nodiscard]] Mark mark_at(const Rank& rank, sim::SimTime time) const;
  void keep(Rank& rank);
  // `source`: the node that it came from; `trips`: 2 if the rank had asked for it.
  void arrive(Rank& rank, const Rank& sender, std::uint32_t source, sim::SimTime began, std::uint64_t bytes,
              sim::SimTime trips, sim::SimTime now);
  [[nodiscard]] static Times parts(const Alone& alone, bool within_node, std::uint64_t bytes, sim::SimTime whole,
                                   sim::SimTime trips);
  [[nodiscard]] sim::SimTime left(std::size_t question, const Times& way) const;
  void go_on(Rank& rank, Kind kind, sim::SimTime time, sim::SimTime until);
  void pass_idle(Rank& rank);
  static void take(Rank& rank);
  static void set_to(Rank& rank, sim::SimTime now);

  std::vector<Rank> ranks_;
  std::vector<Nic> nics_; // by node
  Way way_;
  std::shared_ptr<std::size_t> stretches_ = std::make_shared<std::size_t>(0); // that are not forgotten
  sim::SimTime known_since_ = 0; // the way back leads no further: it would be too long
  std::size_t single_ranks_;     // questions behind those of kinds; 0: there are too many ranks
};

} // namespace umwelt::job
