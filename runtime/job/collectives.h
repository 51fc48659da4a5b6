// SPDX-License-Identifier: LGPL-2.1-or-later
// Collectives of MPI whose time is a model's (--collectives; runtime/mpi/COLLECTIVES.md). A member crosses once, with
// where its data lies. What goes from one member to another is copied as soon as both have come; vectors that are to be
// combined are so by the member that came last, with the MPI library's MPI_Reduce_local. When a member may go on
// follows from who has come when, and from the model.
//
// The k-th collective of a member on a communicator belongs to the k-th of the others: if they do not fit, the job ends
// with a report.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "preload/abi/mpi_collectives.h"
#include "runtime/base/timeline.h"
#include "runtime/job/collective_data.h"
#include "runtime/mpi/collective_models.h"
#include "runtime/mpi/collective_times.h"
#include "runtime/observe/statistics.h"

namespace umwelt::bootstrap
{
struct Namespace;
}

namespace umwelt::job
{

class Job;
class Rank;
struct Thread;
using sim::SimTime;

class Collectives
{
public:
  Collectives(Job& job, const mpi::CollectiveModels& models, const mpi::PairTimes& pair);
  ~Collectives();
  Collectives(const Collectives&) = delete;
  Collectives& operator=(const Collectives&) = delete;

  // The services of the gate (preload/abi/tables/services.def).
  int join(const Rank& rank, std::span<const std::int32_t> members, std::uint32_t ordinal);
  int leave(int communicator);
  std::int64_t begin(Rank& rank, const umw_collective& call);
  std::int64_t wait(Rank& rank, std::int64_t number, bool blocks);
  std::int64_t vectors(Rank& rank, std::int64_t number, void* buffer, std::uint64_t capacity);
  int reduced(Rank& rank, std::int64_t number, const void* vector);

  // Functions that were called.
  [[nodiscard]] std::vector<observe::CollectiveRecord> records() const;

private:
  // A member's part in a collective.
  struct Part {
    Rank* rank = nullptr;
    umw_collective call{};
    CollectiveSide send, receive;
    bool served = false; // it has all that it is to receive
    bool due = false;    // its time has come
    bool over = false;   // both
    Thread* waits = nullptr;
    std::uint64_t looked = 0; // news of the rank, plus 1, when its library was last let look
  };
  struct Communicator;
  struct Collective {
    Communicator* communicator = nullptr;
    std::uint32_t slot = 0; // in the pool
    std::uint32_t size = 0;
    mpi::CollectiveTimes times;
    std::vector<Part> parts;
    const Part* first = nullptr; // that came, with which the others have to agree
    std::uint32_t gone = 0;      // members that know that it is over
    double bytes = 0;            // that all hand over,
    double most_bytes = 0;       // and the one that hands over most
    // Vectors that are to be combined
    std::vector<std::byte> vectors;       // short ones, by member
    std::optional<std::uint32_t> reducer; // member that combines them
    std::uint32_t handed_out = 0;         // to it: those before
    std::vector<std::byte> combined;      // in a scan: those before `next`
    std::uint32_t next = 0;
    bool begun = false; // `combined` has been handed out
  };
  struct Communicator {
    std::vector<std::int32_t> members; // as numbers in the job
    const bootstrap::Namespace* job = nullptr;
    std::uint32_t ordinal = 0;
    std::vector<std::uint64_t> turns; // collectives that a member has begun
    std::uint64_t first_turn = 0;     // of the first of
    std::deque<Collective*> open;
    std::uint32_t left = 0; // members that have freed it
  };
  struct Due final : sim::Event {
    explicit Due(Collectives& of) : collectives(of) {}
    void fire() override { collectives.come_due(*this); }
    Collectives& collectives;
    Collective* collective = nullptr;
    std::vector<std::uint32_t> members;
  };
  struct Totals {
    std::uint64_t calls = 0;
    SimTime time = 0;
  };

  Collective& next_collective(Communicator& communicator, std::uint32_t member);
  void take_place(Rank& rank, Collective& collective, const umw_collective& call);
  [[nodiscard]] SimTime duration(Rank& rank, const Collective& collective, const umw_collective& call);
  void set_times(Collective& collective, const std::vector<mpi::CollectiveTimes::Due>& due);
  void come_due(Due& due);
  void serve(Collective& collective, std::uint32_t member);
  void finish_if_over(Collective& collective, std::uint32_t member);
  void tell(Part& part);
  void retire(Collective& collective);
  void forget_if_unused(const Communicator& communicator);
  [[nodiscard]] Collective& of_number(std::int64_t number) const;
  [[nodiscard]] static std::int64_t number_of(const Collective& collective, std::uint32_t member);

  // collective_transfers.cpp
  [[nodiscard]] static bool sends_single(std::uint32_t function);
  [[nodiscard]] static bool receives_single(std::uint32_t function);
  void transfer(Rank& rank, Collective& collective, std::uint32_t member);
  void transfer_from_root(Rank& rank, Collective& collective, std::uint32_t member);
  void transfer_to_root(Rank& rank, Collective& collective, std::uint32_t member);
  void transfer_all(Rank& rank, Collective& collective);
  void move(Rank& rank, Collective& collective, std::uint32_t from, std::uint32_t to);
  void keep(Rank& rank, Part& part);
  void add_vector(Rank& rank, Collective& collective, std::uint32_t member);
  void combine_all(Rank& rank, Collective& collective, std::uint32_t member);
  void add_to_scan(Rank& rank, Collective& collective, std::uint32_t member);
  [[nodiscard]] static std::uint32_t vectors_wanted(const Collective& collective);
  [[nodiscard]] static bool scan_goes_on(const Collective& collective);
  void give_prefix(Rank& rank, Collective& collective, std::uint32_t member, bool defined);
  void hand_out(Rank& rank, const Collective& collective, std::uint32_t member, std::byte* buffer);
  void give_result(Rank& rank, Collective& collective, const portals::Memory& memory, std::uintptr_t vector);

  // The job ends, with a report.
  void check_fit(Rank& rank, const Collective& collective, const umw_collective& call);
  [[noreturn]] void misfit(Rank& rank, const Collective& collective, const umw_collective& call,
                           std::string_view expected);
  [[noreturn]] void too_long(Rank& rank, const Collective& collective, std::uint32_t from, std::uint32_t to,
                             std::uint64_t sent, std::uint64_t room);
  void check_memory(Rank& rank, bool accessible);

  Job& job_;
  const mpi::CollectiveModels& models_;
  mpi::PairTimes pair_;
  std::map<std::tuple<const bootstrap::Namespace*, std::uint32_t, std::vector<std::int32_t>>, int> numbers_;
  std::vector<std::unique_ptr<Communicator>> communicators_; // by number; null: all have freed it
  std::vector<std::unique_ptr<Collective>> pool_;
  std::vector<Collective*> idle_;
  std::deque<Due> due_; // those that are not pending serve again
  std::array<Totals, UMW_COLLECTIVE_FUNCTIONS> totals_{};
};

} // namespace umwelt::job
