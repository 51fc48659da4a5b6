// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/runtime/portals/random_traffic.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "net_models/catalogue.h"
#include "runtime/base/parameters.h"
#include "tests/runtime/portals/counted_api.h"

namespace umwelt::portals::test
{

namespace
{

// Portal table entries of every rank.
constexpr ptl_pt_index_t plain = 0;
constexpr ptl_pt_index_t flow = 1;    // with flow control
constexpr ptl_pt_index_t mailbox = 2; // + rank of the sender
constexpr ptl_pt_index_t ledger = 5;
constexpr ptl_pt_index_t log_book = 6;
constexpr ptl_pt_index_t marks = 7;
constexpr ptl_pt_index_t spare = 8; // to 12: come and go
constexpr ptl_pt_index_t nowhere = 14;

constexpr ptl_size_t queue_length = 200; // of the entry with flow control
constexpr ptl_uid_t our_uid = 100;

unsigned char letter_byte(std::size_t operation, std::size_t at)
{
  return static_cast<unsigned char>(operation * 131 + at * 7 + 1);
}

bool holds_letter(const unsigned char* bytes, std::size_t operation, std::size_t length)
{
  for (std::size_t i = 0; i < length; ++i)
    if (bytes[i] != letter_byte(operation, i))
      return false;
  return true;
}

std::uint64_t word_at(const unsigned char* bytes)
{
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

} // namespace

// ---- The world ----

RandomTraffic::RandomTraffic(const Entropy& entropy) : entropy_(entropy)
{
  matching_ = pick(3) != 0;
  set_up_network();
  for (unsigned i = 0; i < ranks; ++i) {
    ranks_[i].process = std::make_unique<Process>(fabric_, i, i, our_uid);
    open(ranks_[i]);
  }
  for (Rank& rank : ranks_)
    set_map(rank);
}

void RandomTraffic::set_up_network()
{
  host_.poll_steps = pick(2) != 0;
  mortal_ = pick(2) != 0;
  if (pick(4) == 0) {
    platform_ = platform::make_platform({.spec = "crossbar", .nodes = ranks + 1});
    constexpr const char* faults[] = {"drop=0", "drop=0.05,e2e_retries=1", "corrupt=0.1,e2e_retries=0",
                                      "drop=0.02,corrupt=0.02,e2e_retries=20", "e2e=0,drop=0.05"};
    constexpr const char* queues[] = {"queue_depth=1", "queue_depth=64,rx_engines=4", "quick_ack=1,pci=0",
                                      "e2e_entries=3,inflight_node=2,inflight_process=1"};
    Parameters parameters;
    parameters.add(faults[pick(5)], "test");
    parameters.add(queues[pick(4)], "test");
    parameters.add("seed=" + std::to_string(pick(1000)), "test");
    real_model_ = net::make_model("bxi", {timeline_, *platform_, &fabric_}, parameters);
    fabric_.set_model(*real_model_);
    return;
  }
  fabric_.set_model(test_model_);
  constexpr TestModel::SourceRead modes[] = {TestModel::SourceRead::before_header,
                                             TestModel::SourceRead::before_delivery,
                                             TestModel::SourceRead::after_delivery};
  test_model_.source_read = modes[pick(3)];
  test_model_.keep_log = false;
  if (pick(2))
    test_model_.slowness = [this](const net::Transfer&) {
      return static_cast<sim::SimTime>(pick(5000)) * sim::nanosecond;
    };
  if (pick(2))
    test_model_.fate = [this](const net::Transfer&) {
      constexpr TestModel::Fate fates[] = {TestModel::Fate::fail_at_once, TestModel::Fate::fail_after_source,
                                           TestModel::Fate::fail_after_header, TestModel::Fate::fail_before_source};
      return pick(20) == 0 ? fates[pick(4)] : TestModel::Fate::deliver;
    };
  if (pick(2))
    test_model_.queue_depth = 1 + pick(4);
}

void RandomTraffic::set_map(Rank& rank)
{
  ptl_process_t map[ranks]{};
  for (unsigned i = 0; i < ranks; ++i)
    map[i].phys = {ranks_[i].process->nid(), ranks_[i].process->pid()};
  require(counted::PtlSetMap(*rank.process, rank.ni, ranks, map) == PTL_OK, "a map is accepted");
}

void RandomTraffic::restart(unsigned number)
{
  Rank& rank = ranks_[number];
  const unsigned life = rank.life + 1;
  const std::size_t written = rank.written; // letters of the dead may still arrive: keep out of their places
  const std::size_t tallied = rank.tallied;
  switch (pick(3)) {
  case 0:
    rank.process->detach();
    break;
  case 1: {
    counted::PtlAbort(*rank.process);
    ptl_event_t event{};
    require(counted::PtlEQWait(*rank.process, rank.eq, &event) == PTL_ABORTED, "nobody waits after PtlAbort");
    counted::PtlFini(*rank.process);
    require(counted::PtlEQGet(*rank.process, rank.eq, &event) == PTL_NO_INIT, "nothing works after the last PtlFini");
    break;
  }
  default: // the process is gone without a word
    break;
  }
  rank = Rank(); // its memory goes too
  rank.life = life;
  rank.written = written;
  rank.tallied = tallied;
  histories_[number].clear();
  rank.process = std::make_unique<Process>(fabric_, number, number, our_uid);
  open(rank);
  set_map(rank);
}

void RandomTraffic::open(Rank& rank)
{
  Process& process = *rank.process;
  const unsigned options = PTL_NI_LOGICAL | (matching_ ? PTL_NI_MATCHING : PTL_NI_NO_MATCHING);
  ptl_ni_limits_t limits{};
  limits.max_entries = 60;
  limits.max_list_size = 40;
  limits.max_unexpected_headers = 50;
  limits.max_mds = 20;
  limits.max_cts = 12;
  limits.max_eqs = 10;
  limits.max_triggered_ops = 30;
  limits.max_pt_index = 15;
  limits.max_iovecs = 8;
  limits.max_msg_size = mailbox_size;
  limits.max_atomic_size = 512;
  limits.max_volatile_size = 64;
  require(counted::PtlInit(process) == PTL_OK, "PtlInit succeeds");
  require(counted::PtlNIInit(process, 0, options, PTL_PID_ANY, &limits, nullptr, &rank.ni) == PTL_OK,
          "PtlNIInit succeeds");
  const auto queue = [&](ptl_size_t count) {
    ptl_handle_eq_t eq = PTL_EQ_NONE;
    require(counted::PtlEQAlloc(process, rank.ni, count, &eq) == PTL_OK, "PtlEQAlloc succeeds");
    return eq;
  };
  const auto counter = [&] {
    ptl_handle_ct_t ct = PTL_CT_NONE;
    require(counted::PtlCTAlloc(process, rank.ni, &ct) == PTL_OK, "PtlCTAlloc succeeds");
    return ct;
  };
  rank.eq = queue(1 << 20);
  rank.mail_eq = queue(1 << 20);
  rank.target_eq = {queue(1 << 20), queue(queue_length)};
  rank.letters_ct = counter();
  rank.mail_ct = counter();
  for (int i = 0; i < 4; ++i)
    rank.counters.push_back(counter());
  ptl_pt_index_t index = 0;
  require(counted::PtlPTAlloc(process, rank.ni, 0, rank.target_eq[plain], plain, &index) == PTL_OK,
          "PtlPTAlloc succeeds");
  require(counted::PtlPTAlloc(process, rank.ni, PTL_PT_FLOWCTRL, rank.target_eq[flow], flow, &index) == PTL_OK,
          "PtlPTAlloc succeeds");
  for (std::size_t i = 0; i < 4; ++i) {
    rank.entry_pieces[i] = {rank.arena.data() + i * 900, 850};
    rank.md_pieces[i] = {rank.arena.data() + 4096 + i * 1000, 1000};
  }
  for (unsigned sender = 0; sender < ranks; ++sender) {
    rank.inbox[sender].resize(mailbox_size);
    open_mail(rank, mailbox + sender, rank.inbox[sender].data(), mailbox_size, address(sender), 0);
  }
  open_mail(rank, ledger, rank.ledger.data(), rank.ledger.size() * sizeof(std::uint64_t), address(PTL_RANK_ANY), 0);
  open_mail(rank, marks, rank.marks.data(), rank.marks.size(), address(PTL_RANK_ANY), 0);
  if (matching_)
    open_mail(rank, log_book, rank.log.data(), log_size, address(PTL_RANK_ANY), PTL_ME_MANAGE_LOCAL);
  const ptl_md_t outbox{rank.outbox.data(), mailbox_size, PTL_MD_EVENT_CT_ACK, rank.eq, rank.letters_ct};
  require(counted::PtlMDBind(process, rank.ni, &outbox, &rank.letters) == PTL_OK, "PtlMDBind succeeds");
  for (int i = 0; i < 3; ++i)
    descriptors(rank);
}

// A portal table entry with one persistent entry, which nobody but our own processes may use.
void RandomTraffic::open_mail(Rank& rank, ptl_pt_index_t index, void* start, std::size_t length, ptl_process_t from,
                              unsigned options)
{
  Process& process = *rank.process;
  const unsigned all = options | PTL_ME_OP_PUT | PTL_ME_EVENT_LINK_DISABLE | PTL_ME_EVENT_CT_COMM;
  ptl_pt_index_t got = 0;
  require(counted::PtlPTAlloc(process, rank.ni, 0, rank.mail_eq, index, &got) == PTL_OK, "PtlPTAlloc succeeds");
  ptl_handle_me_t entry = PTL_INVALID_HANDLE;
  if (matching_) {
    const ptl_me_t me{start, length, rank.mail_ct, our_uid, all, from, 0, 0, 0};
    require(counted::PtlMEAppend(process, rank.ni, index, &me, PTL_PRIORITY_LIST, nullptr, &entry) == PTL_OK,
            "PtlMEAppend succeeds");
  } else {
    const ptl_le_t le{start, length, rank.mail_ct, our_uid, all};
    require(counted::PtlLEAppend(process, rank.ni, index, &le, PTL_PRIORITY_LIST, nullptr, &entry) == PTL_OK,
            "PtlLEAppend succeeds");
  }
}

void RandomTraffic::run(unsigned steps)
{
  for (unsigned i = 0; i < steps && !used_up(); ++i)
    step();
  settle();
  for (Rank& rank : ranks_)
    drain(rank);
  check_operations();
  for (Rank& rank : ranks_) {
    check_marks(rank);
    check_counters(rank);
    check_objects(rank);
  }
  check_memory();
}

void RandomTraffic::step()
{
  const unsigned self = pick(ranks);
  if (mortal_ && pick(300) == 0)
    return restart(self);
  Rank& rank = ranks_[self];
  switch (pick(28)) {
  case 0:
  case 1:
  case 2:
  case 3:
    return move(rank, false);
  case 4:
    return move(rank, true);
  case 5:
  case 6:
    return letter(rank, Kind::letter);
  case 7:
    return letter(rank, Kind::tally);
  case 8:
    return letter(rank, Kind::note);
  case 9:
    return letter(rank, Kind::mark);
  case 10:
  case 11:
  case 12:
    return append(rank, pick(8) == 0);
  case 13:
    return search(rank);
  case 14:
    return unlink(rank);
  case 15:
    return descriptors(rank);
  case 16:
    return counters(rank);
  case 17:
    return portal_table(rank);
  case 18:
    return drain(rank);
  case 19:
    return spare_objects(rank);
  case 20:
    return identity(rank);
  case 21:
    return side(rank);
  case 22:
    return wait(rank);
  case 23:
    return wild();
  default:
    for (unsigned events = pick(20); events > 0; --events)
      timeline_.step();
    return;
  }
}

// ---- Calls ----

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

void RandomTraffic::descriptors(Rank& rank)
{
  if (rank.mds.size() > 5) {
    const auto which = rank.mds.begin() + pick(static_cast<unsigned>(rank.mds.size()));
    require(counted::PtlMDRelease(*rank.process, which->handle) == PTL_OK, "a descriptor is released");
    require(counted::PtlMDRelease(*rank.process, which->handle) == PTL_ARG_INVALID, "a released descriptor is gone");
    rank.mds.erase(which);
    return;
  }
  constexpr unsigned choices[] = {PTL_MD_EVENT_CT_SEND, PTL_MD_EVENT_CT_REPLY, PTL_MD_EVENT_CT_ACK, PTL_MD_UNORDERED,
                                  PTL_MD_EVENT_CT_BYTES};
  unsigned options = 0;
  for (const unsigned choice : choices)
    options |= pick(2) ? choice : 0;
  constexpr unsigned rare[] = {PTL_MD_VOLATILE, PTL_MD_EVENT_SUCCESS_DISABLE, PTL_MD_EVENT_SEND_DISABLE,
                               PTL_MD_UNRELIABLE, PTL_IOVEC};
  for (const unsigned choice : rare)
    options |= pick(6) ? 0 : choice;
  ptl_md_t md{rank.arena.data() + 4096, 4000, options, rank.eq, one_of(rank.counters)};
  if (options & PTL_IOVEC) {
    md.start = rank.md_pieces.data();
    md.length = rank.md_pieces.size();
  }
  ptl_handle_md_t handle = PTL_INVALID_HANDLE;
  require(counted::PtlMDBind(*rank.process, rank.ni, &md, &handle) == PTL_OK, "a descriptor is bound");
  rank.mds.push_back({handle, options});
}

void RandomTraffic::counters(Rank& rank)
{
  const ptl_handle_ct_t counter = one_of(rank.counters);
  ptl_ct_event_t value{};
  switch (pick(6)) {
  case 0:
    static_cast<void>(counted::PtlCTSet(*rank.process, counter, {pick(10), pick(3)}));
    return;
  case 1:
    static_cast<void>(counted::PtlCTInc(*rank.process, counter, {pick(10), 0}));
    return;
  case 2:
    static_cast<void>(counted::PtlCTCancelTriggered(*rank.process, counter));
    return;
  case 3:
    static_cast<void>(counted::PtlTriggeredCTInc(*rank.process, counter, {1, 0}, one_of(rank.counters), pick(30)));
    return;
  case 4:
    static_cast<void>(counted::PtlTriggeredCTSet(*rank.process, counter, {0, 0}, one_of(rank.counters), pick(30)));
    return;
  default:
    require(counted::PtlCTGet(*rank.process, counter, &value) == PTL_OK, "a counter can be read");
    return;
  }
}

void RandomTraffic::portal_table(Rank& rank)
{
  const ptl_pt_index_t index = pick(2);
  if (pick(4) == 0)
    require(counted::PtlPTDisable(*rank.process, rank.ni, index) == PTL_OK, "an entry can be disabled");
  else
    require(counted::PtlPTEnable(*rank.process, rank.ni, index) == PTL_OK, "an entry can be enabled");
}

// Queues, counters and portal table entries that come and go with traffic under way.
void RandomTraffic::spare_objects(Rank& rank)
{
  Process& process = *rank.process;
  ptl_handle_any_t handle = PTL_INVALID_HANDLE;
  int result = PTL_OK;
  switch (pick(6)) {
  case 0:
    result = counted::PtlEQAlloc(process, rank.ni, pick(5), &handle);
    require(result == PTL_OK || result == PTL_NO_SPACE, "a queue is allocated or out of space");
    if (result == PTL_OK)
      rank.spare_queues.push_back(handle);
    return;
  case 1:
    result = counted::PtlCTAlloc(process, rank.ni, &handle);
    require(result == PTL_OK || result == PTL_NO_SPACE, "a counter is allocated or out of space");
    if (result == PTL_OK)
      rank.spare_counters.push_back(handle);
    return;
  case 2: {
    constexpr unsigned options[] = {PTL_PT_FLOWCTRL, PTL_PT_ALLOC_DISABLED, PTL_PT_ONLY_USE_ONCE, PTL_PT_ONLY_TRUNCATE};
    unsigned chosen = 0;
    for (const unsigned option : options)
      chosen |= pick(3) ? 0 : option;
    const ptl_handle_eq_t queue = rank.spare_queues.empty() ? PTL_EQ_NONE : one_of(rank.spare_queues);
    ptl_pt_index_t index = 0;
    result = counted::PtlPTAlloc(process, rank.ni, chosen, queue, spare + pick(4), &index);
    require(result == PTL_OK || result == PTL_PT_IN_USE ||
                (result == PTL_PT_EQ_NEEDED && queue == PTL_EQ_NONE && (chosen & PTL_PT_FLOWCTRL)),
            "a portal table entry is allocated, in use or needs a queue");
    if (result == PTL_OK)
      rank.spare_tables.push_back(index);
    return;
  }
  case 3:
    if (rank.spare_queues.empty())
      return;
    require(counted::PtlEQFree(process, rank.spare_queues.back()) == PTL_OK, "a queue is freed");
    rank.spare_queues.pop_back();
    return;
  case 4:
    if (rank.spare_counters.empty())
      return;
    require(counted::PtlCTFree(process, rank.spare_counters.back()) == PTL_OK, "a counter is freed");
    rank.spare_counters.pop_back();
    return;
  default:
    if (rank.spare_tables.empty())
      return;
    result = counted::PtlPTFree(process, rank.ni, rank.spare_tables.back());
    require(result == PTL_OK || result == PTL_PT_IN_USE, "a portal table entry is freed or in use");
    if (result == PTL_OK)
      rank.spare_tables.pop_back();
    return;
  }
}

// Questions with known answers.
void RandomTraffic::identity(Rank& rank)
{
  Process& process = *rank.process;
  const ptl_handle_any_t objects[] = {rank.ni, rank.eq, rank.letters, rank.mail_ct};
  ptl_process_t id{};
  ptl_process_t map[ranks]{};
  ptl_size_t size = 0;
  ptl_uid_t uid = 0;
  ptl_handle_ni_t ni = PTL_INVALID_HANDLE;
  switch (pick(6)) {
  case 0:
    require(counted::PtlGetId(process, rank.ni, &id) == PTL_OK && id.rank == number_of(rank), "a rank is told");
    require(counted::PtlGetPhysId(process, rank.ni, &id) == PTL_OK && id.phys.nid == process.nid() &&
                id.phys.pid == process.pid(),
            "an address is told");
    require(counted::PtlGetUid(process, rank.ni, &uid) == PTL_OK && uid == our_uid, "a user is told");
    return;
  case 1:
    require(counted::PtlGetMap(process, rank.ni, ranks, map, &size) == PTL_OK && size == ranks &&
                map[number_of(rank)].phys.nid == process.nid(),
            "a map is told");
    return;
  case 2:
    for (const ptl_handle_any_t object : objects)
      require(counted::PtlNIHandle(process, object, &ni) == PTL_OK && counted::PtlHandleIsEqual(process, ni, rank.ni),
              "objects know their interface");
    return;
  case 3:
    for (unsigned i = 0; i < PTL_SR_LAST; ++i) {
      const ptl_sr_value_t before = rank.status[i];
      require(counted::PtlNIStatus(process, rank.ni, static_cast<ptl_sr_index_t>(i), &rank.status[i]) == PTL_OK &&
                  rank.status[i] >= before,
              "status registers only grow");
    }
    return;
  case 4:
    require(counted::PtlStartBundle(process, rank.ni) == PTL_OK && counted::PtlEndBundle(process, rank.ni) == PTL_OK,
            "a bundle begins and ends");
    require(counted::PtlAtomicSync(process) == PTL_OK && counted::PtlNIAtomicSync(process, rank.ni) == PTL_OK,
            "atomics are synchronised");
    return;
  default: {
    const unsigned options = PTL_NI_LOGICAL | (matching_ ? PTL_NI_MATCHING : PTL_NI_NO_MATCHING);
    require(counted::PtlNIInit(process, PTL_IFACE_DEFAULT, options, PTL_PID_ANY, nullptr, nullptr, &ni) == PTL_OK &&
                ni == rank.ni,
            "opening again gives the same interface");
    require(counted::PtlNIFini(process, ni) == PTL_OK && process.ni(rank.ni), "an interface lives until its last fini");
    return;
  }
  }
}

void RandomTraffic::open_side(Rank& rank)
{
  Process& process = *rank.process;
  rank.side = std::make_unique<Side>();
  Side& side = *rank.side;
  side.matching = pick(2) != 0;
  const unsigned options = PTL_NI_PHYSICAL | (side.matching ? PTL_NI_MATCHING : PTL_NI_NO_MATCHING);
  require(counted::PtlNIInit(process, 0, options, PTL_PID_ANY, nullptr, nullptr, &side.ni) == PTL_OK,
          "a second interface is opened");
  require(counted::PtlEQAlloc(process, side.ni, 1 + pick(4), &side.eq) == PTL_OK, "PtlEQAlloc succeeds");
  ptl_pt_index_t index = 0;
  require(counted::PtlPTAlloc(process, side.ni, 0, side.eq, PTL_PT_ANY, &index) == PTL_OK && index == 0,
          "PtlPTAlloc succeeds");
  ptl_me_t me{};
  me.start = rank.arena.data();
  me.length = 4000;
  me.ct_handle = PTL_CT_NONE;
  me.uid = PTL_UID_ANY;
  me.options = PTL_ME_OP_PUT | PTL_ME_OP_GET;
  me.match_id.phys = {PTL_NID_ANY, PTL_PID_ANY};
  const ptl_le_t le{me.start, me.length, me.ct_handle, me.uid, me.options};
  require((side.matching
               ? counted::PtlMEAppend(process, side.ni, 0, &me, PTL_PRIORITY_LIST, nullptr, &side.entry)
               : counted::PtlLEAppend(process, side.ni, 0, &le, PTL_PRIORITY_LIST, nullptr, &side.entry)) == PTL_OK,
          "an entry is accepted");
  const ptl_md_t md{rank.arena.data() + 4096, 4000, 0, side.eq, PTL_CT_NONE};
  require(counted::PtlMDBind(process, side.ni, &md, &side.md) == PTL_OK, "a descriptor is bound");
  // Objects of two interfaces do not mix.
  const ptl_md_t mixed{rank.arena.data(), 100, 0, side.eq, PTL_CT_NONE};
  ptl_handle_md_t handle = PTL_INVALID_HANDLE;
  require(counted::PtlMDBind(process, rank.ni, &mixed, &handle) == PTL_ARG_INVALID, "another interface's queue");
  require(counted::PtlFetchAtomic(process, side.md, 0, rank.letters, 0, 8, address(0), plain, 0, 0, nullptr, 0, PTL_SUM,
                                  PTL_UINT64_T) == PTL_ARG_INVALID,
          "descriptors of two interfaces");
}

// Whatever is still under way.
void RandomTraffic::close_side(Rank& rank)
{
  Process& process = *rank.process;
  const Side side = *std::exchange(rank.side, nullptr);
  ptl_event_t event{};
  require(counted::PtlNIFini(process, side.ni) == PTL_OK, "an interface is closed");
  require(counted::PtlNIFini(process, side.ni) == PTL_ARG_INVALID, "a closed interface is gone");
  require(counted::PtlMDRelease(process, side.md) == PTL_ARG_INVALID, "and its descriptors");
  require(counted::PtlEQGet(process, side.eq, &event) == PTL_ARG_INVALID, "and its queues");
}

void RandomTraffic::side(Rank& rank)
{
  if (!rank.side)
    return open_side(rank);
  const Side& side = *rank.side;
  Process& process = *rank.process;
  const Process& other = *ranks_[pick(ranks)].process;
  ptl_process_t to{};
  to.phys = {other.nid(), other.pid()};
  ptl_event_t event{};
  int result = PTL_OK;
  switch (pick(6)) {
  case 0:
    return close_side(rank);
  case 1:
    result = counted::PtlGet(process, side.md, 0, pick(3000), to, 0, 0, 0, nullptr);
    break;
  case 2:
    result = counted::PtlEQGet(process, side.eq, &event);
    require(result == PTL_OK || result == PTL_EQ_DROPPED || result == PTL_EQ_EMPTY, "a queue answers");
    return;
  default:
    result = counted::PtlPut(process, side.md, 0, pick(3000), PTL_ACK_REQ, to, 0, 0, 0, nullptr, 0);
    break;
  }
  require(result == PTL_OK, "a message of the second interface is accepted");
}

void RandomTraffic::wait(Rank& rank)
{
  Process& process = *rank.process;
  const ptl_handle_eq_t queues[] = {rank.target_eq[plain], rank.eq, rank.target_eq[flow], rank.mail_eq};
  const ptl_handle_ct_t counter = one_of(rank.counters);
  const ptl_handle_ct_t both[] = {counter, rank.mail_ct};
  const ptl_size_t tests[] = {pick(20), pick(100)};
  ptl_event_t event{};
  ptl_ct_event_t value{};
  unsigned which = 0;
  int result = PTL_OK;
  try {
    switch (pick(6)) {
    case 0:
      result = counted::PtlEQWait(process, rank.eq, &event);
      require(result == PTL_OK, "waiting for an event ends with one");
      return dispatch(number_of(rank), rank.eq, event);
    case 1:
      result = counted::PtlCTWait(process, counter, pick(10), &value);
      require(result == PTL_OK, "waiting for a counter ends with its value");
      return;
    case 2:
      result = counted::PtlCTPoll(process, both, tests, 2, pick(2), &value, &which);
      require(result == PTL_CT_NONE_REACHED ||
                  (result == PTL_OK && which < 2 && (value.success >= tests[which] || value.failure > 0)),
              "a poll tells a counter that has reached its test");
      return;
    default:
      result = counted::PtlEQPoll(process, queues, 4, pick(3) ? 0 : 1, &event, &which);
      require(result == PTL_OK || result == PTL_EQ_EMPTY || result == PTL_EQ_DROPPED, "a poll answers");
      if (result != PTL_EQ_EMPTY)
        dispatch(number_of(rank), queues[which], event);
      return;
    }
  } catch (const Deadlock&) { // it waits for what never comes
  }
}

void RandomTraffic::wild()
{
  if (!wild_.initialised()) {
    require(api::PtlInit(wild_) == PTL_OK, "PtlInit succeeds");
    const unsigned matching = pick(2) ? PTL_NI_MATCHING : PTL_NI_NO_MATCHING;
    const unsigned addressing = pick(2) ? PTL_NI_LOGICAL : PTL_NI_PHYSICAL;
    ptl_handle_ni_t ni = PTL_INVALID_HANDLE;
    require(api::PtlNIInit(wild_, 0, matching | addressing, PTL_PID_ANY, nullptr, nullptr, &ni) == PTL_OK,
            "PtlNIInit succeeds");
    garbage_.remember(ni);
    ptl_pt_index_t index = 0;
    static_cast<void>(api::PtlPTAlloc(wild_, ni, 0, PTL_EQ_NONE, PTL_PT_ANY, &index));
  }
  for (unsigned calls = 1 + pick(10); calls > 0; --calls)
    garbage_.call_one(wild_);
}

// ---- Events ----

void RandomTraffic::drain(Rank& rank)
{
  const bool stepping = std::exchange(host_.poll_steps, false);
  ptl_event_t event{};
  for (const ptl_handle_eq_t queue : {rank.eq, rank.target_eq[plain], rank.target_eq[flow], rank.mail_eq}) {
    int result = PTL_OK;
    while ((result = counted::PtlEQGet(*rank.process, queue, &event)) == PTL_OK || result == PTL_EQ_DROPPED)
      dispatch(number_of(rank), queue, event);
  }
  host_.poll_steps = stepping;
}

void RandomTraffic::dispatch(unsigned rank, ptl_handle_eq_t queue, const ptl_event_t& event)
{
  if (queue == ranks_[rank].eq)
    see(rank, event);
  else if (queue == ranks_[rank].mail_eq)
    see_mail(rank, event);
  else
    see_target(rank, event);
}

void RandomTraffic::see(unsigned rank, const ptl_event_t& event)
{
  const auto number = reinterpret_cast<std::size_t>(event.user_ptr);
  require(number < operations_.size(), "an event belongs to an operation");
  Operation& operation = operations_[number];
  const bool good = event.ni_fail_type == PTL_NI_OK;
  switch (event.type) {
  case PTL_EVENT_SEND:
    require(operation.ack_seen == 0 && operation.reply_seen == 0, "SEND comes before ACK and REPLY");
    operation.send_failed = !good;
    require(++operation.send_seen == 1, "SEND comes once");
    return;
  case PTL_EVENT_ACK:
    require(++operation.ack_seen == 1, "ACK comes once");
    if (operation.kind != Kind::any)
      ++(good ? ranks_[rank].acks_seen.success : ranks_[rank].acks_seen.failure);
    break;
  case PTL_EVENT_REPLY:
    require(++operation.reply_seen == 1, "REPLY comes once");
    break;
  default:
    require(false, "initiators see SEND, ACK and REPLY");
  }
  operation.arrived = good;
  operation.told_at = event.remote_offset;
  operation.told_len = event.mlength;
}

void RandomTraffic::see_target(unsigned rank, const ptl_event_t& event)
{
  EntryHistory& history = histories_[rank][event.user_ptr];
  switch (event.type) {
  case PTL_EVENT_PUT:
  case PTL_EVENT_GET:
  case PTL_EVENT_ATOMIC:
  case PTL_EVENT_FETCH_ATOMIC:
    require(!history.unlinked, "no message uses an entry after AUTO_UNLINK");
    require(event.mlength <= event.rlength, "no more bytes move than were asked for");
    return;
  case PTL_EVENT_AUTO_UNLINK:
    require(!std::exchange(history.unlinked, true), "AUTO_UNLINK comes once");
    return;
  case PTL_EVENT_AUTO_FREE:
    require(history.unlinked, "AUTO_FREE comes after AUTO_UNLINK");
    require(!std::exchange(history.freed, true), "AUTO_FREE comes once");
    return;
  case PTL_EVENT_SEND:
  case PTL_EVENT_ACK:
  case PTL_EVENT_REPLY:
    require(false, "targets see no events of initiators");
    return;
  default:
    return;
  }
}

void RandomTraffic::see_mail(unsigned rank, const ptl_event_t& event)
{
  require(event.type == PTL_EVENT_PUT || event.type == PTL_EVENT_ATOMIC, "mail is put or added");
  const std::size_t number = event.hdr_data;
  require(number < operations_.size(), "an event belongs to an operation");
  Operation& operation = operations_[number];
  require(operation.kind != Kind::any && operation.target == rank, "mail is for its receiver");
  require(event.uid == our_uid, "mail comes from our own processes");
  require(++operation.target_seen == 1, "the target sees a message once");
  const bool good = event.ni_fail_type == PTL_NI_OK;
  ++(good ? ranks_[rank].mail_seen.success : ranks_[rank].mail_seen.failure);
  if (good && operation.kind == Kind::letter)
    require(event.mlength == operation.length &&
                holds_letter(static_cast<const unsigned char*>(event.start), number, operation.length),
            "the data is there when the event is");
}

void RandomTraffic::settle()
{
  while (timeline_.step()) {
  }
}

// ---- Rules ----

void RandomTraffic::check_operations()
{
  std::array<std::array<std::size_t, ranks>, ranks> last_note{};
  for (std::size_t number = 0; number < operations_.size(); ++number) {
    const Operation& operation = operations_[number];
    if (operation.owner_life != ranks_[operation.owner].life)
      continue; // nobody is left to be told
    if (operation.sends)
      require(operation.send_seen == 1, "every message has its SEND");
    if (operation.acks && !operation.send_failed)
      require(operation.ack_seen == 1, "every message that asks for it has its ACK");
    if (operation.replies)
      require(operation.reply_seen == 1, "every operation that fetches has its REPLY");
    if (operation.kind == Kind::any || operation.target_life != ranks_[operation.target].life)
      continue;
    if (operation.arrived) {
      ++letters_checked_;
      require(operation.target_seen == 1, "what was acknowledged was seen at the target");
    }
    check_letter(number);
    if (operation.kind == Kind::note && operation.arrived)
      check_note(number, last_note);
  }
}

void RandomTraffic::check_letter(std::size_t number)
{
  const Operation& operation = operations_[number];
  const Rank& target = ranks_[operation.target];
  if (operation.kind == Kind::tally) {
    const std::uint64_t count = target.ledger[operation.offset / sizeof(std::uint64_t)];
    require(count <= 1 && (count == 1 || !operation.arrived), "what was acknowledged has happened once");
  }
  // On a non-matching interface any entry of the portal table entry takes it; there is one.
  if (operation.kind == Kind::letter && operation.arrived)
    require(holds_letter(&target.inbox[operation.owner][operation.offset], number, operation.length),
            "what was acknowledged has arrived unchanged");
}

void RandomTraffic::check_note(std::size_t number, std::array<std::array<std::size_t, ranks>, ranks>& last)
{
  const Operation& operation = operations_[number];
  if (operation.told_len < sizeof(std::uint64_t)) // the log is full
    return;
  std::size_t& end = last[operation.owner][operation.target];
  require(operation.told_at >= end, "messages of a pair match in order");
  end = operation.told_at + operation.told_len;
  require(word_at(&ranks_[operation.target].log[operation.told_at]) == number, "and every one has a place of its own");
}

// Of messages that write the same words the last one wins. What failed may have arrived or not.
void RandomTraffic::check_marks(const Rank& rank)
{
  for (unsigned sender = 0; sender < ranks; ++sender) {
    const Rank& from = ranks_[sender];
    if (from.life >= mark_lives)
      continue;
    const std::size_t area = (sender * mark_lives + from.life) * mark_size;
    for (const std::size_t at : {std::size_t{0}, std::size_t{56}, std::size_t{192}, std::size_t{248}}) {
      const std::uint64_t found = word_at(&rank.marks[area + at]);
      bool possible = found == 0;
      for (std::size_t number = 0; number < operations_.size(); ++number) {
        const Operation& operation = operations_[number];
        if (operation.kind != Kind::mark || operation.owner != sender || operation.owner_life != from.life ||
            operation.target != number_of(rank) || operation.length < at + sizeof(std::uint64_t))
          continue;
        if (operation.arrived && operation.target_life == rank.life)
          possible = found == number;
        else
          possible = possible || found == number;
      }
      require(possible, "data of a pair arrives in order");
    }
  }
}

void RandomTraffic::check_counters(Rank& rank)
{
  ptl_ct_event_t value{};
  require(counted::PtlCTGet(*rank.process, rank.letters_ct, &value) == PTL_OK &&
              value.success == rank.acks_seen.success && value.failure == rank.acks_seen.failure,
          "counters of the initiator count what its events tell");
  require(counted::PtlCTGet(*rank.process, rank.mail_ct, &value) == PTL_OK && value.success == rank.mail_seen.success &&
              value.failure == rank.mail_seen.failure,
          "counters of the target count what its events tell");
}

void RandomTraffic::check_objects(Rank& rank)
{
  Ni& ni = *rank.process->ni(rank.ni);
  std::size_t headers = 0;
  std::size_t listed = 0;
  for (const auto& pt : ni.table) {
    if (!pt)
      continue;
    headers += pt->unexpected.size();
    listed += pt->priority.size() + pt->overflow.size();
    require(pt->in_progress == 0, "no message is in progress on a portal table entry");
    require(pt->state != PortalTableEntry::State::disabling, "a portal table entry ends up enabled or disabled");
  }
  require(static_cast<std::size_t>(ni.unexpected_headers) == headers, "unexpected headers are counted");
  require(!ni.first_matched && !ni.last_matched, "no message is matched and not complete");
  std::size_t held = 0;
  std::size_t linked = 0;
  ni.entries.for_each([&](const Entry& entry) {
    held += entry.headers;
    linked += entry.state == Entry::State::linked ? 1 : 0;
    require(entry.in_progress == 0, "no message is in progress on an entry");
    require(entry.state != Entry::State::unlinked || entry.headers > 0, "unlinked entries without headers are gone");
    require(entry.offset <= entry.region.length() || (entry.options & PTL_ME_LOCAL_INC_UH_RLENGTH),
            "the local offset stays inside");
  });
  require(held == headers, "every header is held by an entry");
  require(linked == listed, "every linked entry is in a list");
  ni.descriptors.for_each(
      [&](const MemoryDescriptor& descriptor) { require(descriptor.in_use == 0, "no operation uses a descriptor"); });
  ni.queues.for_each([&](const EventQueue& queue) { require(queue.reserved == 0, "no place in a queue is reserved"); });
  for (const ptl_handle_eq_t queue : {rank.eq, rank.target_eq[plain], rank.target_eq[flow], rank.mail_eq})
    require(!ni.queues.find(queue)->available(), "all events were taken");
  int waiting = 0;
  ni.counters.for_each([&](const Counter& counter) {
    require(counter.nic().success == counter.host().success && counter.nic().failure == counter.host().failure,
            "host memory has the counter's value");
    for (const TriggeredOp* op = counter.first; op; op = op->next) {
      ++waiting;
      require(op->threshold > counter.nic().success + counter.nic().failure,
              "what waits has not reached its threshold");
      require(!op->next || op->next->threshold >= op->threshold, "what waits is in order");
    }
  });
  require(waiting == ni.triggered_ops, "triggered operations are counted");
}

// Nothing is left of what is over: only what the interfaces know of.
void RandomTraffic::check_memory()
{
  std::size_t headers = 0;
  std::size_t triggered = 0;
  const auto add = [&](const Process& process) {
    for (unsigned kind = 0; kind < Ni::kinds; ++kind)
      if (const Ni* ni = process.interface(kind)) {
        headers += static_cast<std::size_t>(ni->unexpected_headers);
        triggered += static_cast<std::size_t>(ni->triggered_ops);
      }
  };
  for (const Rank& rank : ranks_)
    add(*rank.process);
  add(wild_);
  const Fabric::Census left = fabric_.census();
  require(left.messages == 0, "no operation is left over");
  require(left.payloads == 0, "no payload is left over");
  require(left.writes == 0, "no write to a host is left over");
  require(left.unexpected_headers == headers, "no unexpected header is left over");
  require(left.triggered_ops == triggered, "no triggered operation is left over");
  require(test_model_.in_flight() == 0, "no transfer is left over");
}

} // namespace umwelt::portals::test
