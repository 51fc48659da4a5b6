// SPDX-License-Identifier: LGPL-2.1-or-later
// Random calls of three processes and garbage from a fourth, over a network that reorders, loses and delays; and what
// must hold whatever the calls were.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "platforms/platform.h"
#include "tests/runtime/portals/garbage.h"
#include "tests/runtime/portals/support.h"

namespace umwelt::portals::test
{

// A rule that was broken; the text names it.
struct Violation : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class RandomTraffic
{
public:
  explicit RandomTraffic(const Entropy& entropy);
  // Makes `steps` random calls (fewer when the entropy is used up), lets everything under way happen and checks. Throws
  // Violation.
  void run(unsigned steps);

  [[nodiscard]] bool used_up() const { return entropy_.used_up(); }
  [[nodiscard]] std::uint64_t operations() const { return operations_.size(); }
  // Messages whose effect was checked.
  [[nodiscard]] std::uint64_t letters_checked() const { return letters_checked_; }

private:
  static constexpr unsigned ranks = 3;
  static constexpr unsigned wild_node = ranks; // of the process that calls with garbage
  static constexpr std::size_t arena_size = 8192;
  static constexpr std::size_t mailbox_size = 1 << 17;
  static constexpr std::size_t tallies = 1024; // per sender
  static constexpr std::size_t log_size = 1 << 14;
  static constexpr std::size_t mark_size = 256;
  static constexpr unsigned mark_lives = 16;

  // Messages go where others write as well, or where their effect can be checked:
  enum class Kind {
    any,
    letter, // Put of its own bytes into a place of its own: arrives unchanged
    tally,  // adds one to a number of its own: arrives once
    note,   // Put with a locally managed offset: matches in order
    mark    // Put over the sender's earlier ones: data arrives in order
  };
  struct Operation {
    Kind kind = Kind::any;
    bool sends = false;   // SEND is due
    bool acks = false;    // ACK is due if SEND tells success
    bool replies = false; // REPLY is due
    unsigned owner = 0;
    unsigned target = 0;
    unsigned owner_life = 0; // which process of that rank it was
    unsigned target_life = 0;
    std::size_t offset = 0; // at the target
    std::size_t length = 0;
    int send_seen = 0;
    int ack_seen = 0;
    int reply_seen = 0;
    int target_seen = 0;
    bool send_failed = false;
    bool arrived = false;     // ACK or REPLY told success
    std::size_t told_at = 0;  // and this offset
    std::size_t told_len = 0; // and length
  };
  struct EntryHistory {
    bool unlinked = false;
    bool freed = false;
  };
  struct Descriptor {
    ptl_handle_md_t handle = PTL_INVALID_HANDLE;
    unsigned options = 0;
  };
  // A second interface, opened and closed in the middle of everything.
  struct Side {
    bool matching = false;
    ptl_handle_ni_t ni = PTL_INVALID_HANDLE;
    ptl_handle_eq_t eq = PTL_EQ_NONE;
    ptl_handle_md_t md = PTL_INVALID_HANDLE;
    ptl_handle_me_t entry = PTL_INVALID_HANDLE;
  };
  struct Rank {
    std::unique_ptr<Process> process;
    unsigned life = 0; // how many processes this rank has had
    ptl_handle_ni_t ni = PTL_INVALID_HANDLE;
    ptl_handle_eq_t eq = PTL_EQ_NONE;           // of descriptors
    std::array<ptl_handle_eq_t, 2> target_eq{}; // of portal table entries
    std::vector<Descriptor> mds;
    std::vector<ptl_handle_me_t> entries;
    std::vector<ptl_handle_ct_t> counters;
    std::vector<ptl_handle_eq_t> spare_queues;
    std::vector<ptl_handle_ct_t> spare_counters;
    std::vector<ptl_pt_index_t> spare_tables;
    std::unique_ptr<Side> side;
    std::array<ptl_sr_value_t, PTL_SR_LAST> status{};
    std::vector<unsigned char> arena = std::vector<unsigned char>(arena_size);
    std::array<ptl_iovec_t, 4> md_pieces{};
    std::array<ptl_iovec_t, 4> entry_pieces{};

    // What can be checked.
    std::vector<unsigned char> outbox = std::vector<unsigned char>(mailbox_size);
    std::array<std::vector<unsigned char>, ranks> inbox;
    std::vector<std::uint64_t> ledger = std::vector<std::uint64_t>(ranks * tallies);
    std::vector<unsigned char> log = std::vector<unsigned char>(log_size);
    std::vector<unsigned char> marks = std::vector<unsigned char>(ranks * mark_lives * mark_size);
    std::size_t written = 0; // of the outbox
    std::size_t tallied = 0;
    ptl_handle_md_t letters = PTL_INVALID_HANDLE;
    ptl_handle_ct_t letters_ct = PTL_CT_NONE;
    ptl_handle_eq_t mail_eq = PTL_EQ_NONE;
    ptl_handle_ct_t mail_ct = PTL_CT_NONE;
    ptl_ct_event_t acks_seen{}; // of letters
    ptl_ct_event_t mail_seen{};
  };

  unsigned pick(unsigned count) { return entropy_.pick(count); }
  template <class T> const T& one_of(const std::vector<T>& values)
  {
    return values[pick(static_cast<unsigned>(values.size()))];
  }
  [[nodiscard]] static void* tag(std::size_t number) { return reinterpret_cast<void*>(number); }
  [[nodiscard]] unsigned number_of(const Rank& rank) const { return static_cast<unsigned>(&rank - ranks_.data()); }
  static ptl_process_t address(unsigned rank)
  {
    ptl_process_t id{};
    id.rank = rank;
    return id;
  }

  void set_up_network();
  void open(Rank& rank);
  void open_mail(Rank& rank, ptl_pt_index_t index, void* start, std::size_t length, ptl_process_t from,
                 unsigned options);
  void set_map(Rank& rank);
  // The process ends in the middle of everything and another one takes its place.
  void restart(unsigned number);

  void step();
  void move(Rank& rank, bool triggered);
  void letter(Rank& rank, Kind kind);
  void append(Rank& rank, bool triggered);
  void search(Rank& rank);
  void unlink(Rank& rank);
  void descriptors(Rank& rank);
  void counters(Rank& rank);
  void portal_table(Rank& rank);
  void spare_objects(Rank& rank);
  void identity(Rank& rank);
  void side(Rank& rank);
  void open_side(Rank& rank);
  void close_side(Rank& rank);
  void wait(Rank& rank);
  void wild();
  void drain(Rank& rank);
  void settle();

  void see(unsigned rank, const ptl_event_t& event);
  void see_target(unsigned rank, const ptl_event_t& event);
  void see_mail(unsigned rank, const ptl_event_t& event);
  void dispatch(unsigned rank, ptl_handle_eq_t queue, const ptl_event_t& event);

  void check_operations();
  void check_letter(std::size_t number);
  void check_note(std::size_t number, std::array<std::array<std::size_t, ranks>, ranks>& last);
  void check_marks(const Rank& rank);
  void check_counters(Rank& rank);
  void check_objects(Rank& rank);
  void check_memory();
  void require(bool holds, const char* rule) const
  {
    if (!holds)
      throw Violation(rule);
  }

  Entropy entropy_;
  bool matching_ = true;
  bool mortal_ = false; // processes end
  sim::Timeline timeline_;
  TestHost host_{timeline_};
  Fabric fabric_{timeline_, host_, ranks + 1};
  TestModel test_model_{timeline_, fabric_};
  std::unique_ptr<platform::Platform> platform_;
  std::unique_ptr<net::Model> real_model_;
  std::array<Rank, ranks> ranks_;
  Garbage garbage_{entropy_};
  Process wild_{fabric_, wild_node, wild_node, 666};
  std::vector<Operation> operations_; // their numbers travel as user_ptr and header data
  std::array<std::map<void*, EntryHistory>, ranks> histories_;
  std::size_t next_entry_ = 1;
  std::uint64_t letters_checked_ = 0;
};

} // namespace umwelt::portals::test
