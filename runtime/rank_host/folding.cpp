// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/rank_host/folding.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <unordered_set>
#include <utility>

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/mman.h>

#include "preload/abi/gate.h"
#include "runtime/base/nearest.h"
#include "runtime/base/usage_error.h"
#include "runtime/entries/function_symbols.h"
#include "runtime/rank_host/descriptors.h"
#include "runtime/rank_host/rank_host.h"

namespace umwelt::rank_host
{

namespace
{

using Piece = FoldedMemory::Piece;

constexpr std::uint64_t page = PageMap::page;
constexpr std::uint64_t table_reach = 2 << 20; // of a table of pages, and the size of a huge page
constexpr std::uint64_t first_interval = 8;    // calls
constexpr std::uint64_t shortest_interval = 8;
constexpr std::uint64_t longest_interval = 512;
constexpr unsigned dense_rounds = 16; // that a dense piece has huge pages before it is looked at again
constexpr std::size_t most_spare = 8; // pieces of a rank
constexpr std::size_t call_bytes_at_most = 7;
constexpr std::uint64_t largest = std::uint64_t{1} << 47; // more than a process has addresses

std::uint64_t up(std::uint64_t value, std::uint64_t unit)
{
  return (value + unit - 1) / unit * unit;
}

void* map(void* place, std::uint64_t bytes, int flags)
{
  return mmap(place, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
}

void set_huge(void* place, std::uint64_t bytes, bool huge)
{
  madvise(place, bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE); // fails where the kernel has none
}

std::uintptr_t map_piece(std::uint64_t room)
{
  void* const place = map(nullptr, room, 0);
  if (place == MAP_FAILED)
    return 0;
  set_huge(place, room, false);
  return reinterpret_cast<std::uintptr_t>(place);
}

// Nothing of it is there afterwards, tables of pages included.
void map_anew(std::uintptr_t begin, std::uint64_t bytes, bool huge)
{
  void* const place = reinterpret_cast<void*>(begin);
  if (map(place, bytes, MAP_FIXED) == MAP_FAILED)
    madvise(place, bytes, MADV_DONTNEED); // out of mappings
  set_huge(place, bytes, huge);
}

template <class Pieces> auto find_piece(Pieces& pieces, std::uintptr_t begin)
{
  return std::find_if(pieces.begin(), pieces.end(), [begin](const Piece& piece) { return piece.begin == begin; });
}

const Piece* piece_around(const FoldedMemory& memory, std::uintptr_t address)
{
  for (const Piece& piece : memory.pieces)
    if (address - piece.begin < piece.bytes)
      return &piece;
  return nullptr;
}

// Visits what is to be kept of [begin, end), ascending.
template <class Visit>
void kept_within(const FoldedMemory& memory, std::uintptr_t begin, std::uintptr_t end, Visit&& visit)
{
  const Piece* const piece = piece_around(memory, begin);
  if (piece == nullptr)
    visit(Span{begin, end});
  else
    piece->kept.within(begin - piece->begin, end - piece->begin, [&](const Span& span) {
      visit(Span{piece->begin + span.begin, piece->begin + span.end});
    });
}

} // namespace

Folding::Folding(RankHost& rank_host, std::shared_ptr<const fold::Rules> rules)
    : rank_host_(rank_host), rules_(std::move(rules)), found_(rules_->list.size(), false), nearest_(rules_->list.size())
{
  if (pages_.descriptor() >= 0 && pages_.descriptor() < UMW_DESCRIPTORS)
    descriptor_owners()[pages_.descriptor()] = UMW_OWN_DESCRIPTOR;
  const auto here = reinterpret_cast<std::uintptr_t>(this);
  has_scan_ = pages_.scan(here, here + 1, PageMap::Pages::present, [](const PageMap::Range&) {});
}

bool Folding::serve(Thread& thread, std::uint32_t operation, void* arguments)
{
  switch (operation) {
  case UMW_OP_umw_fold: {
    auto* a = static_cast<umw_args_umw_fold*>(arguments);
    a->result = allocate(thread, a->bytes, a->alignment, a->caller);
    return true;
  }
  case UMW_OP_umw_fold_mapping: {
    auto* a = static_cast<umw_args_umw_fold_mapping*>(arguments);
    a->result = take(thread, a->address, a->bytes, a->caller) ? 1 : 0;
    return true;
  }
  case UMW_OP_umw_unfold: {
    auto* a = static_cast<umw_args_umw_unfold*>(arguments);
    release(thread, a->address, a->unmapped != 0);
    a->result = 0;
    return true;
  }
  case UMW_OP_umw_fold_copy: {
    auto* a = static_cast<umw_args_umw_fold_copy*>(arguments);
    copy(thread.rank, a->to, a->from, a->bytes);
    a->result = 0;
    return true;
  }
  default:
    return false;
  }
}

FoldedMemory* Folding::memory_of(const Rank& rank)
{
  return rank.folded.get();
}

FoldedMemory& Folding::make_memory(Rank& rank)
{
  if (rank.folded == nullptr) {
    rank.folded = std::make_unique<FoldedMemory>();
    rank.folded->countdown = rank.folded->interval = first_interval;
    rank.folded->totals.resize(rules_->list.size());
  }
  return *rank.folded;
}

// --- which rule ------------------------------------------------------------------------------------------------------

Folding::Object& Folding::object_of(const std::string& path, bool is_program)
{
  const auto [known, is_new] = objects_.try_emplace(path);
  Object& object = known->second;
  if (!is_new)
    return object;
  object.places.resize(rules_->list.size());
  std::unordered_set<std::string> names;
  for (std::size_t i = 0; i < rules_->list.size(); ++i) {
    const fold::Rule& rule = rules_->list[i];
    const bool is_in = rule.object.empty()
                           ? is_program
                           : path.ends_with(rule.object) && (path.size() == rule.object.size() ||
                                                             path[path.size() - rule.object.size() - 1] == '/');
    if (!is_in)
      continue;
    std::vector<Span>& places = object.places[i];
    if (rule.call) // the return address lies behind the call
      places.push_back({*rule.call + 1, *rule.call + call_bytes_at_most + 1});
    else if (rule.function.empty())
      places.push_back({0, std::numeric_limits<std::uint64_t>::max()});
    else {
      // Compilers make several functions of one: solve.cold, solve.constprop.0
      if (names.empty())
        for (std::string& name : entries::function_names(path))
          names.insert(std::move(name));
      std::unordered_set<std::string> parts;
      for (const std::string& name : names)
        if (name == rule.function || name.starts_with(rule.function + "."))
          parts.insert(name);
      for (const entries::FunctionSymbol& symbol : entries::find_functions(path, parts))
        places.push_back({symbol.address + 1, symbol.address + std::max<std::uint64_t>(symbol.bytes, 1) + 1});
      if (places.empty() && nearest_[i].empty()) {
        std::vector<std::string> sorted(names.begin(), names.end());
        std::sort(sorted.begin(), sorted.end());
        nearest_[i] = plausible(rule.function, sorted);
      }
    }
    found_[i] = found_[i] || !places.empty();
  }
  return object;
}

std::optional<std::size_t> Folding::rule_for(const Rank& rank, std::uint64_t bytes, std::uintptr_t caller)
{
  dl_find_object found{};
  if (rank.gate.find_object == nullptr || rank.gate.find_object(reinterpret_cast<void*>(caller), &found) != 0)
    return std::nullopt;
  const link_map& map = *found.dlfo_link_map;
  const Object& object = object_of(rank.loader->path_of(map), &map == rank.loader->program());
  const std::uint64_t place = caller - found.dlfo_link_map->l_addr;
  for (std::size_t i = 0; i < rules_->list.size(); ++i)
    if (bytes >= rules_->list[i].at_least && bytes <= rules_->list[i].at_most &&
        std::any_of(object.places[i].begin(), object.places[i].end(),
                    [place](const Span& span) { return place - span.begin < span.end - span.begin; }))
      return i;
  return std::nullopt;
}

KeptRanges Folding::kept_of(Thread& thread, std::size_t rule, std::uint64_t bytes)
{
  std::string wrong;
  try {
    return rules_->list[rule].kept(bytes);
  } catch (const UsageError& error) {
    wrong = error.what();
  }
  rank_host_.end_misused(thread, wrong);
}

// --- pieces ----------------------------------------------------------------------------------------------------------

std::uintptr_t Folding::allocate(Thread& thread, std::uint64_t bytes, std::uint64_t alignment, std::uintptr_t caller)
{
  Rank& rank = thread.rank;
  if (bytes >= largest || alignment >= largest)
    return 0;
  const auto rule = rule_for(rank, bytes, caller);
  if (!rule)
    return 0;
  Piece piece;
  piece.bytes = bytes;
  piece.rule = *rule;
  piece.kept = kept_of(thread, *rule, bytes);
  FoldedMemory& memory = make_memory(rank);
  const auto spare = std::find_if(memory.spare.begin(), memory.spare.end(), [&](const Piece& old) {
    return old.room >= bytes && old.room / 2 <= bytes && old.begin % std::max(alignment, page) == 0;
  });
  if (spare != memory.spare.end()) {
    piece.begin = spare->begin;
    piece.room = spare->room;
    memory.spare.erase(spare);
  } else {
    piece.room = up(bytes, page) + std::max(alignment, page) - page;
    const std::uintptr_t place = map_piece(piece.room);
    if (place == 0)
      return 0;
    piece.begin = up(place, std::max(alignment, page));
    if (piece.begin > place)
      munmap(reinterpret_cast<void*>(place), piece.begin - place);
    piece.room -= piece.begin - place;
  }
  const std::uintptr_t begin = piece.begin;
  add(thread, std::move(piece));
  return begin;
}

bool Folding::take(Thread& thread, std::uintptr_t address, std::uint64_t bytes, std::uintptr_t caller)
{
  const auto rule = rule_for(thread.rank, bytes, caller);
  if (!rule)
    return false;
  Piece piece;
  piece.begin = address;
  piece.bytes = bytes;
  piece.room = up(bytes, page);
  piece.rule = *rule;
  piece.kept = kept_of(thread, *rule, bytes);
  add(thread, std::move(piece));
  return true;
}

void Folding::add(Thread& thread, Piece piece)
{
  FoldedMemory& memory = make_memory(thread.rank);
  ++memory.totals[piece.rule].pieces;
  memory.totals[piece.rule].bytes += piece.bytes;
  tell(thread, piece);
  memory.pieces.push_back(std::move(piece));
}

// What messages need not copy.
void Folding::tell(Thread& thread, const Piece& piece)
{
  const std::vector<Span>& kept = piece.kept.ranges();
  umw_args_umw_folded arguments{0, piece.begin, piece.begin + piece.bytes, kept.data(), kept.size() * sizeof kept[0]};
  rank_host_.request(thread, UMW_OP_umw_folded, &arguments);
}

void Folding::tell_gone(Thread& thread, const Piece& piece)
{
  umw_args_umw_folded arguments{0, piece.begin, piece.begin, nullptr, 0};
  rank_host_.request(thread, UMW_OP_umw_folded, &arguments);
}

void Folding::release(Thread& thread, std::uintptr_t begin, bool unmapped)
{
  FoldedMemory* const memory = memory_of(thread.rank);
  if (memory == nullptr)
    return;
  const auto found = find_piece(memory->pieces, begin);
  if (found == memory->pieces.end())
    return;
  Piece piece = std::move(*found);
  memory->pieces.erase(found);
  tell_gone(thread, piece);
  if (unmapped)
    return;
  if (memory->spare.size() == most_spare) {
    const Piece& oldest = memory->spare.front();
    munmap(reinterpret_cast<void*>(oldest.begin), oldest.room);
    memory->spare.erase(memory->spare.begin());
  }
  map_anew(piece.begin, piece.room, false);
  memory->spare.push_back(std::move(piece));
}

void Folding::copy(const Rank& rank, std::uintptr_t to, std::uintptr_t from, std::uint64_t bytes)
{
  static const FoldedMemory nothing;
  const FoldedMemory& memory = rank.folded != nullptr ? *rank.folded : nothing;
  kept_within(memory, from, from + bytes, [&](const Span& source) {
    const std::uintptr_t target = source.begin - from + to;
    kept_within(memory, target, target + (source.end - source.begin), [&](const Span& span) {
      std::memmove(reinterpret_cast<void*>(span.begin), reinterpret_cast<const void*>(span.begin - to + from),
                   span.end - span.begin);
    });
  });
}

// Who else knows the old program's memory cannot be told: its addresses stay behind, empty.
void Folding::program_changed(Thread& main)
{
  FoldedMemory* const memory = memory_of(main.rank);
  if (memory == nullptr)
    return;
  for (const Piece& piece : memory->pieces) {
    tell_gone(main, piece);
    map_anew(piece.begin, piece.room, false);
  }
  memory->pieces.clear();
  memory->spare.clear();
}

// --- forgetting ------------------------------------------------------------------------------------------------------

// Bytes of what may be forgotten, and of its tables of pages.
std::uint64_t Folding::present(FoldedMemory& memory)
{
  std::uint64_t all = 0;
  for (Piece& piece : memory.pieces) {
    std::uint64_t bytes = 0;
    std::uint64_t tables = 0;
    std::uintptr_t last = 0; // table
    const auto add = [&](std::uintptr_t begin, std::uintptr_t end) {
      bytes += end - begin;
      const std::uintptr_t first = std::max(begin / table_reach + 1, last + 1);
      last = std::max(last, (end - 1) / table_reach + 1);
      tables += last + 1 - std::min(first, last + 1);
    };
    piece.kept.forgettable(piece.room, page, [&](const Span& part) {
      const std::uintptr_t begin = piece.begin + part.begin;
      const std::uintptr_t end = piece.begin + part.end;
      if (has_scan_) {
        has_scan_ = pages_.scan(begin, end, PageMap::Pages::present,
                                [&](const PageMap::Range& range) { add(range.begin, range.end); });
        return;
      }
      std::array<unsigned char, 4096> there;
      for (std::uintptr_t at = begin; at < end; at += there.size() * page) {
        const std::uint64_t length = std::min<std::uint64_t>(end - at, there.size() * page);
        if (mincore(reinterpret_cast<void*>(at), length, there.data()) != 0)
          continue;
        for (std::uint64_t i = 0; i < (length + page - 1) / page; ++i)
          if ((there[i] & 1U) != 0)
            add(at + i * page, at + (i + 1) * page);
      }
    });
    const bool is_dense = tables > 1 && bytes * 2 >= tables * table_reach;
    if (piece.dense_left > 0)
      --piece.dense_left;
    else
      piece.dense_left = is_dense ? dense_rounds : 0;
    all += bytes + tables * page;
  }
  return all;
}

void Folding::forget(FoldedMemory& memory)
{
  for (const Piece& piece : memory.pieces) {
    piece.kept.forgettable(piece.room, page, [&](const Span& part) {
      map_anew(piece.begin + part.begin, up(part.end - part.begin, page), piece.dense_left > 0);
    });
    ++memory.totals[piece.rule].forgotten;
  }
}

void Folding::look(FoldedMemory& memory)
{
  const std::uint64_t there = present(memory);
  const std::uint64_t grown = there - std::min(there, memory.seen);
  const std::uint64_t budget = rules_->budget;
  if (there > budget)
    forget(memory);
  memory.seen = there > budget ? 0 : there;
  // Until half of what is left would be there, if they go on like this.
  const std::uint64_t left = (budget - memory.seen) / 2;
  const std::uint64_t next = grown == 0 ? 2 * memory.interval : memory.interval * left / grown;
  memory.interval = std::clamp(std::min(next, 2 * memory.interval), shortest_interval, longest_interval);
  memory.countdown = memory.interval;
}

void Folding::ticked(Rank& rank)
{
  FoldedMemory* const memory = memory_of(rank);
  if (memory == nullptr || present(*memory) <= rules_->budget)
    return;
  forget(*memory);
  memory->seen = 0;
}

void Folding::tell_totals(Thread& thread)
{
  std::vector<fold::Totals> totals = make_memory(thread.rank).totals;
  // Some may have asked for no memory.
  for (const loader::LoadedObject& object : thread.rank.loader->objects())
    object_of(object.path, object.is_program);
  for (std::size_t i = 0; i < totals.size(); ++i) {
    totals[i].exists = found_[i];
    if (!found_[i])
      totals[i].nearest = nearest_[i];
  }
  const std::string text = fold::totals_text(totals);
  umw_args_umw_fold_totals arguments{0, text.c_str()};
  rank_host_.request(thread, UMW_OP_umw_fold_totals, &arguments);
}

} // namespace umwelt::rank_host
