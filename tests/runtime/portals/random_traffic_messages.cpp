// SPDX-License-Identifier: LGPL-2.1-or-later
// Random calls that move data, and those that append and unlink what it goes to.
#include "tests/runtime/portals/random_traffic.h"

#include <iterator>
#include <utility>

#include "tests/runtime/portals/counted_api.h"
#include "tests/runtime/portals/random_traffic_places.h"

namespace umwelt::portals::test
{

void RandomTraffic::move(Rank& rank, bool triggered)
{
  if (rank.mds.empty())
    return;
  constexpr ptl_size_t lengths[] = {0, 1, 8, 64, 65, 256, 512, 3000};
  const Descriptor put_md = one_of(rank.mds);
  const Descriptor get_md = one_of(rank.mds);
  const ptl_size_t length = lengths[pick(std::size(lengths))];
  const ptl_size_t local = pick(100);
  const ptl_size_t remote = pick(200);
  const unsigned target = pick(ranks);
  const ptl_pt_index_t index = pick(20) == 0 ? nowhere : pick(8) == 0 ? spare + pick(4) : pick(2);
  const ptl_match_bits_t bits = pick(4);
  const auto ack = static_cast<ptl_ack_req_t>(pick(4));
  const ptl_handle_ct_t trigger = one_of(rank.counters);
  const ptl_size_t threshold = pick(30);
  const auto type = static_cast<ptl_datatype_t>(pick(2) ? PTL_UINT64_T : pick(PTL_DATATYPE_LAST));
  const auto arithmetic = static_cast<ptl_op_t>(pick(PTL_BXOR + 1));
  const auto swap = static_cast<ptl_op_t>(PTL_SWAP + pick(PTL_OP_LAST - PTL_SWAP));
  const ptl_size_t item = swap == PTL_SWAP ? length : std::min<ptl_size_t>(length, atomics::item_size(type));
  const std::size_t number = operations_.size();
  void* user_ptr = tag(number);
  const std::uint64_t operand[4] = {};
  Process& process = *rank.process;
  Operation operation;
  int result = PTL_FAIL;
  switch (pick(5)) {
  case 0:
    operation.sends = true;
    operation.acks = ack == PTL_ACK_REQ;
    result = triggered ? counted::PtlTriggeredPut(process, put_md.handle, local, length, ack, address(target), index,
                                                  bits, remote, user_ptr, number, trigger, threshold)
                       : counted::PtlPut(process, put_md.handle, local, length, ack, address(target), index, bits,
                                         remote, user_ptr, number);
    break;
  case 1:
    operation.replies = true;
    result = triggered ? counted::PtlTriggeredGet(process, get_md.handle, local, length, address(target), index, bits,
                                                  remote, user_ptr, trigger, threshold)
                       : counted::PtlGet(process, get_md.handle, local, length, address(target), index, bits, remote,
                                         user_ptr);
    break;
  case 2:
    operation.sends = true;
    operation.acks = ack == PTL_ACK_REQ;
    result = triggered
                 ? counted::PtlTriggeredAtomic(process, put_md.handle, local, length, ack, address(target), index, bits,
                                               remote, user_ptr, number, arithmetic, type, trigger, threshold)
                 : counted::PtlAtomic(process, put_md.handle, local, length, ack, address(target), index, bits, remote,
                                      user_ptr, number, arithmetic, type);
    break;
  case 3:
    operation.sends = operation.replies = true;
    result = triggered
                 ? counted::PtlTriggeredFetchAtomic(process, get_md.handle, local, put_md.handle, local, length,
                                                    address(target), index, bits, remote, user_ptr, number, arithmetic,
                                                    type, trigger, threshold)
                 : counted::PtlFetchAtomic(process, get_md.handle, local, put_md.handle, local, length, address(target),
                                           index, bits, remote, user_ptr, number, arithmetic, type);
    break;
  default:
    operation.sends = operation.replies = true;
    result = triggered ? counted::PtlTriggeredSwap(process, get_md.handle, local, put_md.handle, local, item,
                                                   address(target), index, bits, remote, user_ptr, number, operand,
                                                   swap, type, trigger, threshold)
                       : counted::PtlSwap(process, get_md.handle, local, put_md.handle, local, item, address(target),
                                          index, bits, remote, user_ptr, number, operand, swap, type);
    break;
  }
  require(result == PTL_OK || result == PTL_ARG_INVALID || (triggered && result == PTL_NO_SPACE),
          "an operation is accepted, refused or out of space");
  // Which events are due: of a triggered operation, which may start later or never, none.
  constexpr unsigned silent = PTL_MD_EVENT_SUCCESS_DISABLE;
  operation.sends &= !triggered && (put_md.options & (silent | PTL_MD_EVENT_SEND_DISABLE)) == 0;
  operation.acks &= !triggered && (put_md.options & silent) == 0;
  // A failed SEND that only a counter tells of is not followed by an ACK.
  if ((put_md.options & PTL_MD_EVENT_SEND_DISABLE) && (put_md.options & PTL_MD_EVENT_CT_SEND))
    operation.acks = false;
  operation.replies &= !triggered && (get_md.options & silent) == 0;
  operation.owner = number_of(rank);
  operation.owner_life = rank.life;
  if (result == PTL_OK)
    operations_.push_back(operation);
}

void RandomTraffic::letter(Rank& rank, Kind kind)
{
  constexpr std::size_t lengths[] = {1, 8, 64, 65, 200, 2000};
  constexpr std::size_t mark_lengths[] = {8, 64, 200, mark_size};
  const unsigned self = number_of(rank);
  const std::size_t number = operations_.size();
  Operation operation;
  operation.kind = kind;
  operation.sends = operation.acks = true;
  operation.owner = self;
  operation.owner_life = rank.life;
  operation.target = pick(ranks);
  operation.target_life = ranks_[operation.target].life;
  ptl_pt_index_t index = mailbox + self;
  switch (kind) {
  case Kind::tally:
    if (rank.tallied == tallies)
      return;
    index = ledger;
    operation.length = sizeof(std::uint64_t);
    operation.offset = (self * tallies + rank.tallied) * sizeof(std::uint64_t);
    break;
  case Kind::note:
    if (!matching_)
      return;
    index = log_book;
    operation.length = sizeof(std::uint64_t);
    break;
  case Kind::mark:
    if (rank.life >= mark_lives)
      return;
    index = marks;
    operation.length = mark_lengths[pick(std::size(mark_lengths))];
    operation.offset = (self * mark_lives + rank.life) * mark_size;
    break;
  default:
    operation.length = lengths[pick(std::size(lengths))];
    operation.offset = rank.written;
    break;
  }
  const std::size_t length = operation.length;
  if (rank.written + length > mailbox_size)
    return;
  rank.tallied += kind == Kind::tally ? 1 : 0;
  unsigned char* bytes = &rank.outbox[rank.written];
  const std::uint64_t word = kind == Kind::tally ? 1 : number;
  for (std::size_t i = 0; i < length; ++i)
    bytes[i] = kind == Kind::letter ? letter_byte(number, i) : static_cast<unsigned char>(word >> i % 8 * 8);
  operations_.push_back(operation);
  const std::size_t from = std::exchange(rank.written, rank.written + length);
  Process& process = *rank.process;
  const ptl_process_t to = address(operation.target);
  const int result = kind == Kind::tally
                         ? counted::PtlAtomic(process, rank.letters, from, length, PTL_ACK_REQ, to, index, 0,
                                              operation.offset, tag(number), number, PTL_SUM, PTL_UINT64_T)
                         : counted::PtlPut(process, rank.letters, from, length, PTL_ACK_REQ, to, index, 0,
                                           operation.offset, tag(number), number);
  require(result == PTL_OK, "a letter is accepted");
}

void RandomTraffic::append(Rank& rank, bool triggered)
{
  ptl_me_t me{};
  const std::size_t offset = pick(4000);
  me.start = rank.arena.data() + offset;
  me.length = pick(4000);
  me.ct_handle = pick(2) ? PTL_CT_NONE : one_of(rank.counters);
  me.uid = pick(10) ? PTL_UID_ANY : 55;
  constexpr unsigned choices[] = {PTL_ME_OP_PUT,
                                  PTL_ME_OP_GET,
                                  PTL_ME_USE_ONCE,
                                  PTL_ME_UNEXPECTED_HDR_DISABLE,
                                  PTL_ME_EVENT_LINK_DISABLE,
                                  PTL_ME_EVENT_CT_COMM,
                                  PTL_ME_EVENT_CT_OVERFLOW,
                                  PTL_ME_EVENT_CT_BYTES};
  for (const unsigned choice : choices)
    me.options |= pick(2) ? choice : 0;
  // Not PTL_ME_ACK_DISABLE: no ACK would be due.
  constexpr unsigned rare[] = {PTL_ME_EVENT_COMM_DISABLE, PTL_ME_EVENT_FLOWCTRL_DISABLE, PTL_ME_EVENT_SUCCESS_DISABLE,
                               PTL_ME_EVENT_OVER_DISABLE, PTL_ME_IS_ACCESSIBLE};
  for (const unsigned choice : rare)
    me.options |= pick(8) ? 0 : choice;
  if (pick(3))
    me.options |= PTL_ME_OP_PUT | PTL_ME_OP_GET;
  if (pick(6) == 0) {
    me.options |= PTL_IOVEC;
    me.start = rank.entry_pieces.data();
    me.length = pick(5);
  }
  if (matching_) {
    constexpr unsigned of_match_entries[] = {PTL_ME_MANAGE_LOCAL, PTL_ME_NO_TRUNCATE, PTL_ME_MAY_ALIGN,
                                             PTL_ME_LOCAL_INC_UH_RLENGTH};
    for (const unsigned choice : of_match_entries)
      me.options |= pick(3) ? 0 : choice;
  }
  me.match_id.rank = pick(3) ? PTL_RANK_ANY : pick(ranks);
  me.match_bits = pick(4);
  me.ignore_bits = pick(2) ? 0 : pick(4);
  me.min_free = pick(2) ? 0 : pick(2000);
  const auto list = static_cast<ptl_list_t>(pick(2));
  const ptl_pt_index_t index = rank.spare_tables.empty() || pick(8) ? pick(2) : one_of(rank.spare_tables);
  void* user_ptr = tag(next_entry_++);
  ptl_le_t le{me.start, me.length, me.ct_handle, me.uid, me.options};
  Process& process = *rank.process;
  ptl_handle_me_t handle = PTL_INVALID_HANDLE;
  const ptl_handle_ct_t trigger = one_of(rank.counters);
  const ptl_size_t threshold = pick(30);
  int result = PTL_FAIL;
  if (matching_)
    result = triggered ? counted::PtlTriggeredMEAppend(process, rank.ni, index, &me, list, user_ptr, &handle, trigger,
                                                       threshold)
                       : counted::PtlMEAppend(process, rank.ni, index, &me, list, user_ptr, &handle);
  else
    result = triggered ? counted::PtlTriggeredLEAppend(process, rank.ni, index, &le, list, user_ptr, &handle, trigger,
                                                       threshold)
                       : counted::PtlLEAppend(process, rank.ni, index, &le, list, user_ptr, &handle);
  require(result == PTL_OK || result == PTL_NO_SPACE, "an entry is accepted or out of space");
  if (result == PTL_OK)
    rank.entries.push_back(handle);
}

void RandomTraffic::search(Rank& rank)
{
  ptl_me_t me{};
  me.ct_handle = pick(2) ? PTL_CT_NONE : one_of(rank.counters);
  me.uid = PTL_UID_ANY;
  me.options = (pick(2) ? static_cast<unsigned>(PTL_ME_USE_ONCE) : 0) | PTL_ME_EVENT_CT_OVERFLOW;
  me.match_id.rank = PTL_RANK_ANY;
  me.match_bits = pick(4);
  me.ignore_bits = pick(4);
  const ptl_le_t le{nullptr, 0, me.ct_handle, me.uid, me.options};
  const auto operation = static_cast<ptl_search_op_t>(pick(2));
  const int result = matching_
                         ? counted::PtlMESearch(*rank.process, rank.ni, pick(2), &me, operation, tag(next_entry_++))
                         : counted::PtlLESearch(*rank.process, rank.ni, pick(2), &le, operation, tag(next_entry_++));
  require(result == PTL_OK, "a search is accepted");
}

void RandomTraffic::unlink(Rank& rank)
{
  if (rank.entries.empty())
    return;
  const auto which = rank.entries.begin() + pick(static_cast<unsigned>(rank.entries.size()));
  const ptl_handle_me_t handle = *which;
  if (pick(10) == 0) {
    const ptl_handle_ct_t trigger = one_of(rank.counters);
    static_cast<void>(matching_ ? counted::PtlTriggeredMEUnlink(*rank.process, handle, trigger, pick(30))
                                : counted::PtlTriggeredLEUnlink(*rank.process, handle, trigger, pick(30)));
    return;
  }
  const int result =
      matching_ ? counted::PtlMEUnlink(*rank.process, handle) : counted::PtlLEUnlink(*rank.process, handle);
  require(result == PTL_OK || result == PTL_IN_USE || result == PTL_ARG_INVALID,
          "an entry is unlinked, in use or gone");
  if (result != PTL_IN_USE)
    rank.entries.erase(which);
}

} // namespace umwelt::portals::test
