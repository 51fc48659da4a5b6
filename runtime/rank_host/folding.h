// SPDX-License-Identifier: LGPL-2.1-or-later
// Forgetful memory of the ranks of this process (--fold, fold/README.md): pieces of memory whose pages are given back
// when there are too many of them.
//
// A rank may have so many bytes of such pages in memory, those of their tables included. How many it has is looked at
// when it makes a call, the more often the faster they grow; what it asks for by itself depends on its calls alone, so
// that the same run forgets at the same places. Above the budget all its pieces are mapped anew: that costs two system
// calls for each, however large it is, and the tables go with the pages (madvise(2) would leave them). One that
// computes on and on without a call is looked at every few milliseconds (slices.h), too.
//
// Pages of which some byte is to be kept stay. Pieces that are freed are used again, so that a program which allocates
// in a loop does not map all the time.
//
// Where a piece is dense (half of what lies in huge pages is there), it gets huge pages the next time, where the
// machine has them: a program that computes all the time on memory that is forgotten would spend its time on faults.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/base/page_map.h"
#include "runtime/fold/rules.h"
#include "runtime/fold/totals.h"

namespace umwelt::rank_host
{

class RankHost;
struct Rank;
struct Thread;

// Of a rank.
struct FoldedMemory {
  struct Piece {
    std::uintptr_t begin = 0;
    std::uint64_t bytes = 0; // as asked for
    std::uint64_t room = 0;  // as mapped
    std::size_t rule = 0;
    KeptRanges kept;
    unsigned dense_left = 0; // so often before it is looked at again whether it is dense
  };

  std::vector<Piece> pieces;
  std::vector<Piece> spare;    // freed; nothing of them is there
  std::uint64_t countdown = 0; // calls until the next look,
  std::uint64_t interval = 0;  // of so many;
  std::uint64_t seen = 0;      // bytes that were there at the last
  std::vector<fold::Totals> totals;
};

class Folding
{
public:
  // The RankHost outlives it.
  Folding(RankHost& rank_host, std::shared_ptr<const fold::Rules> rules);

  // What ranks ask of forgetful memory. True: the call is served.
  bool serve(Thread& thread, std::uint32_t operation, void* arguments);

  // The rank makes a call.
  void crossed(Rank& rank)
  {
    FoldedMemory* const memory = memory_of(rank);
    if (memory != nullptr && --memory->countdown == 0)
      look(*memory);
  }
  // It has not made one for some milliseconds. On its stack, or the signals'; async-signal-safe.
  void ticked(Rank& rank);
  // It has become another program, which has none of this.
  void program_changed(Thread& main);
  // It is about to end: what the rules have come to.
  void tell_totals(Thread& thread);

private:
  struct Object { // what it has of each rule: where calls of its function lie; empty: nothing
    std::vector<std::vector<Span>> places;
  };

  [[nodiscard]] static FoldedMemory* memory_of(const Rank& rank);
  FoldedMemory& make_memory(Rank& rank);
  [[nodiscard]] std::optional<std::size_t> rule_for(const Rank& rank, std::uint64_t bytes, std::uintptr_t caller);
  Object& object_of(const std::string& path, bool is_program);
  // A new piece, if a rule is for an allocation of that size by the function that `caller` lies in; 0: none is, or
  // there are no addresses.
  std::uintptr_t allocate(Thread& thread, std::uint64_t bytes, std::uint64_t alignment, std::uintptr_t caller);
  // The same for memory that the program has mapped itself.
  bool take(Thread& thread, std::uintptr_t address, std::uint64_t bytes, std::uintptr_t caller);
  // A piece is freed; `unmapped`: it is gone, or is to be like any other memory from now on.
  void release(Thread& thread, std::uintptr_t begin, bool unmapped);
  // Copies what is to be kept of both.
  static void copy(const Rank& rank, std::uintptr_t to, std::uintptr_t from, std::uint64_t bytes);

  KeptRanges kept_of(Thread& thread, std::size_t rule, std::uint64_t bytes);
  void add(Thread& thread, FoldedMemory::Piece piece);
  void tell(Thread& thread, const FoldedMemory::Piece& piece);
  void tell_gone(Thread& thread, const FoldedMemory::Piece& piece);
  void look(FoldedMemory& memory);
  [[nodiscard]] std::uint64_t present(FoldedMemory& memory);
  void forget(FoldedMemory& memory);

  RankHost& rank_host_;
  const std::shared_ptr<const fold::Rules> rules_;
  PageMap pages_;
  bool has_scan_ = true;
  std::unordered_map<std::string, Object> objects_; // by path
  std::vector<bool> found_;                         // by rule: an object had its function;
  std::vector<std::string> nearest_;                // if none: the name that is most like it, or empty
};

} // namespace umwelt::rank_host
