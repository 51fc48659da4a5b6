// SPDX-License-Identifier: LGPL-2.1-or-later
// Random calls of three processes over a network that reorders, loses and delays, as a seed decides; and what must hold
// whatever the calls were.
#pragma once

#include <array>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

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
  explicit RandomTraffic(std::uint32_t seed);
  // Makes `steps` random calls, lets everything under way happen and checks. Throws Violation.
  void run(unsigned steps);

  [[nodiscard]] std::uint64_t operations() const { return operations_.size(); }
  // Messages whose contents were compared.
  [[nodiscard]] std::uint64_t letters_checked() const { return letters_checked_; }

private:
  static constexpr unsigned ranks = 3;
  static constexpr std::size_t arena_size = 8192;
  static constexpr std::size_t mailbox_size = 1 << 16;

  struct Operation {
    bool sends = false;   // SEND is due
    bool acks = false;    // ACK is due if SEND tells success
    bool replies = false; // REPLY is due
    bool letter = false;  // contents to be compared
    unsigned owner = 0;
    unsigned target = 0;
    unsigned owner_life = 0; // which process of that rank it was
    unsigned target_life = 0;
    std::size_t offset = 0; // of a letter
    std::size_t length = 0;
    int send_seen = 0;
    int ack_seen = 0;
    int reply_seen = 0;
    bool send_failed = false;
    bool arrived = false; // ACK or REPLY told success
  };
  struct EntryHistory {
    bool unlinked = false;
    bool freed = false;
  };
  struct Rank {
    std::unique_ptr<Process> process;
    unsigned life = 0; // how many processes this rank has had
    ptl_handle_ni_t ni = PTL_INVALID_HANDLE;
    ptl_handle_eq_t eq = PTL_EQ_NONE;         // of descriptors
    std::array<ptl_handle_eq_t, 2> target_eq; // of portal table entries
    std::vector<ptl_handle_md_t> mds;
    std::vector<ptl_handle_me_t> entries;
    std::vector<ptl_handle_ct_t> counters;
    std::vector<unsigned char> arena = std::vector<unsigned char>(arena_size);
    std::vector<unsigned char> outbox = std::vector<unsigned char>(mailbox_size);
    std::array<std::vector<unsigned char>, ranks> inbox;
    std::size_t written = 0; // of the outbox
    ptl_handle_md_t letters = PTL_INVALID_HANDLE;
  };

  unsigned pick(unsigned count) { return static_cast<unsigned>(random_() % count); }
  template <class T> T one_of(const std::vector<T>& values)
  {
    return values[pick(static_cast<unsigned>(values.size()))];
  }
  [[nodiscard]] static void* tag(std::size_t number) { return reinterpret_cast<void*>(number); }

  void open(Rank& rank);
  void set_map(Rank& rank);
  // The process ends in the middle of everything and another one takes its place.
  void restart(unsigned number);
  void set_up_network();
  void step();
  void move(Rank& rank, bool triggered);
  void letter(Rank& rank, unsigned self);
  void append(Rank& rank, bool triggered);
  void search(Rank& rank);
  void unlink(Rank& rank);
  void descriptors(Rank& rank);
  void counters(Rank& rank);
  void portal_table(Rank& rank);
  void drain(Rank& rank);
  void see(const ptl_event_t& event);
  void see_target(unsigned rank, const ptl_event_t& event);
  void settle();

  void check_operations();
  void check_objects(Rank& rank);
  void require(bool holds, const char* rule) const
  {
    if (!holds)
      throw Violation(std::string(rule) + " (seed " + std::to_string(seed_) + ")");
  }
  ptl_process_t address(unsigned rank) const
  {
    ptl_process_t id{};
    id.rank = rank;
    return id;
  }

  std::uint32_t seed_;
  std::mt19937 random_;
  bool matching_;
  bool mortal_ = false; // processes end
  sim::Timeline timeline_;
  TestHost host_{timeline_};
  Fabric fabric_{timeline_, host_, ranks};
  TestModel model_{timeline_, fabric_};
  std::array<Rank, ranks> ranks_;
  std::vector<Operation> operations_; // their numbers travel as user_ptr and header data
  std::array<std::map<void*, EntryHistory>, ranks> histories_;
  std::size_t next_entry_ = 1;
  std::uint64_t letters_checked_ = 0;
};

} // namespace umwelt::portals::test
