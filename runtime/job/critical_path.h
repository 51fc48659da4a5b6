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
//   beginning: that is the critical path. Stretches that nothing leads back to are forgotten; those that all ways lead
//   back over are added up, so that the beginning of the path is settled.
//
// A clock lies behind that of "as it is" by what it has saved. What its sender's clocks were when a message left goes
// with the message (Departure): it may be under way for as long as it takes its sender to begin thousands of others.
//
// A message's way has four parts: what one without payload takes in NICs and on links, and its bytes by the rate, as of
// a message alone between these nodes (net_models/pair_times.h); the rest others caused. Where bandwidth takes no time,
// NICs still handle one message after the other. When a rank finds what has come it has waited for all that has come so
// far: it does not matter in which order it looks. Sleeps, and waits for the rank's own operations within its node,
// take as long as they did. Of a way back of 400,000 messages and more that is not settled, since some rank never waits
// for another, the beginning is lost, which the record says.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <boost/container/small_vector.hpp>
#include <boost/intrusive/list.hpp>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>

#include "net_models/pair_times.h"
#include "runtime/base/origin.h"
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
  // Asked for pairs of nodes, more than once; what it gives stays where it is.
  using Way = std::function<const Alone&(std::uint32_t from, std::uint32_t to)>;

  // By rank: its node.
  CriticalPath(const std::vector<std::uint32_t>& nodes, Way way);
  CriticalPath(const CriticalPath&) = delete; // stretches know where they are counted
  CriticalPath& operator=(const CriticalPath&) = delete;

  // The rank worked for that time; `state` is not `waiting`.
  void spent(std::size_t rank, observe::RankState state, sim::SimTime from, sim::SimTime until);
  // A message leaves the rank: what came() and answered() are told of it. At `time`, when the rank has told of all that
  // it did before.
  [[nodiscard]] std::unique_ptr<sim::Origin> departs(std::size_t rank, sim::SimTime time);
  // Something has come to the rank that `source` began at `began`; `origin`: null where it comes as it begins.
  void came(std::size_t rank, std::size_t source, const sim::Origin* origin, sim::SimTime began, std::uint64_t bytes,
            sim::SimTime now);
  // The same, and the rank itself had asked `other` for it.
  void answered(std::size_t rank, std::size_t other, const sim::Origin* origin, sim::SimTime began, std::uint64_t bytes,
                sim::SimTime now);
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
  static constexpr std::size_t most_stretches = 400'000;
  static constexpr std::size_t few_questions = 22; // of 16 ranks: no memory of its own for their answers
  using Times = std::array<sim::SimTime, kinds>;
  // By question: each kind but the last, then each rank's computing if there are few.
  using Clocks = std::vector<sim::SimTime>;
  using AutoUnlink = boost::intrusive::link_mode<boost::intrusive::auto_unlink>;

  struct Stretch;
  using StretchRef = boost::intrusive_ptr<Stretch>; // by one thread
  struct Stretch : boost::intrusive_ref_counter<Stretch, boost::thread_unsafe_counter> {
    explicit Stretch(std::size_t of) : rank(static_cast<std::uint32_t>(of)) {}
    Stretch(const Stretch&) = delete;
    Stretch& operator=(const Stretch&) = delete;
    ~Stretch(); // of a long way back, too, on a small stack
    static void* operator new(std::size_t bytes);
    static void operator delete(void* stretch);

    std::uint32_t rank;
    std::uint32_t place = 0; // on the way that is looked at, from the beginning; 0: on none
    sim::SimTime begin = 0;
    StretchRef before;    // null: the beginning of the run, or of what is not settled
    sim::SimTime cut = 0; // then the message left there
    Times until_cut{};    // what `before` did until then
    Times way{};          // of the message
  };
  struct Arrival {
    bool any = false;
    bool of_others = false; // the last one
    sim::SimTime at = 0;    // it came
    sim::SimTime as_it_is = 0;
    sim::SimTime began = 0;
    Times way{};
    Times sender_done{}; // when it began the last one
    StretchRef sender_stretch;
  };
  struct Rank {
    std::uint32_t node = 0;
    sim::SimTime at = 0;       // it has told of all until then
    sim::SimTime as_it_is = 0; // the clock of that question
    Times done{};              // since the stretch began
    StretchRef stretch;
    sim::SimTime idle = 0; // it was blocked, with looks in between, and nothing has come yet
    Arrival arrival;
  };
  // A NIC in the question of bandwidth: what has gone out and come in by then. Messages without bytes queue for it,
  // too.
  struct Nic {
    sim::SimTime out = 0;
    sim::SimTime in = 0;
  };
  // What stretches and the messages between them come to.
  struct Sum {
    Times kinds{};
    std::vector<sim::SimTime> ranks;
    std::vector<observe::CriticalPathRecord::Segment> segments; // the longest, in time
    std::size_t left_out = 0;

    // It went on until `end`, and did that; the message before it.
    void add(const Stretch& stretch, sim::SimTime end, const Times& done);
    void add_message(const Stretch& stretch);
    // Those behind so many, which were added in the order of the way back.
    void turn(std::size_t behind);
    void keep_longest(std::size_t most);
  };
  // Of a rank at a time; its clocks are in clocks_.
  struct Past {
    sim::SimTime at = 0;
    sim::SimTime as_it_is = 0;
    Times done{};
    StretchRef stretch;
  };
  // What goes with a message.
  struct Departure final : sim::Origin, boost::intrusive::list_base_hook<AutoUnlink> {
    static void* operator new(std::size_t bytes);
    static void operator delete(void* departure);

    Past past;
    boost::container::small_vector<sim::SimTime, few_questions> clocks;
  };

  [[nodiscard]] std::size_t index(const Rank& rank) const { return static_cast<std::size_t>(&rank - ranks_.data()); }
  void clocks_of(const Rank& rank, sim::SimTime* clocks) const;
  // Of a sender when its message left; what nobody has told of counts in every question.
  Past past_of(const Rank& sender, const sim::Origin* origin, sim::SimTime began);
  // `source`: the node that it came from; `trips`: 2 if the rank had asked for it.
  void arrive(Rank& rank, const Rank& sender, std::uint32_t source, const Past& past, std::uint64_t bytes,
              sim::SimTime trips, sim::SimTime now);
  [[nodiscard]] static Times parts(const Alone& alone, bool within_node, std::uint64_t bytes, sim::SimTime whole,
                                   sim::SimTime trips);
  void go_on(Rank& rank, Kind kind, sim::SimTime time, sim::SimTime until);
  void pass_idle(Rank& rank);
  // What has come counts from `now` on.
  void take(Rank& rank, sim::SimTime now);
  void begin_stretch(Rank& rank, sim::SimTime now);
  // Adds up what all ways lead back over; cuts them if there is too much left.
  void settle(sim::SimTime now);
  // The last stretch that is on all ways, or null; and how many stretches there are.
  struct Common {
    Stretch* stretch = nullptr;
    std::size_t stretches = 0;
  };
  [[nodiscard]] Common common_stretch();

  // Some pairs of nodes between which messages have gone, by both.
  struct Pair {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    const Alone* alone = nullptr;
  };
  static constexpr std::size_t most_pairs = 4096;
  const Alone& alone(std::uint32_t from, std::uint32_t to);

  std::size_t begun_ = 0; // stretches, since it was looked for what is settled; after so many it is again
  std::size_t look_after_;
  Sum settled_;
  std::vector<Rank> ranks_;
  std::size_t single_ranks_; // questions behind those of kinds; 0: there are too many ranks
  std::size_t questions_;
  boost::intrusive::list<Departure, boost::intrusive::constant_time_size<false>> departures_; // under way
  Clocks saved_;          // by rank: how far each clock is behind
  Clocks arrived_;        // by rank: the latest of each
  Clocks clocks_;         // of who is looked at
  std::vector<Nic> nics_; // by node
  Way way_;
  std::vector<Pair> pairs_{most_pairs};
  sim::SimTime known_since_ = 0; // the way back leads no further: it would be too long
};

} // namespace umwelt::job
