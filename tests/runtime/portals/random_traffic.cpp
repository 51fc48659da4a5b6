// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/runtime/portals/random_traffic.h"

#include <algorithm>
#include <iterator>

namespace umwelt::portals::test
{

namespace
{

constexpr ptl_pt_index_t plain = 0;      // portal table entries of every rank
constexpr ptl_pt_index_t flow = 1;       // with flow control
constexpr ptl_pt_index_t mailbox = 2;    // + rank of the sender
constexpr ptl_size_t queue_length = 200; // of the entry with flow control

unsigned char letter_byte(std::size_t operation, std::size_t at)
{
  return static_cast<unsigned char>(operation * 131 + at * 7 + 1);
}

} // namespace

RandomTraffic::RandomTraffic(std::uint32_t seed) : seed_(seed), random_(seed), matching_(seed % 3 != 0)
{
  fabric_.set_model(model_);
  set_up_network();
  for (unsigned i = 0; i < ranks; ++i) {
    ranks_[i].process = std::make_unique<Process>(fabric_, i, i, 100);
    open(ranks_[i]);
  }
  for (Rank& rank : ranks_)
    set_map(rank);
}

void RandomTraffic::set_map(Rank& rank)
{
  ptl_process_t map[ranks]{};
  for (unsigned i = 0; i < ranks; ++i)
    map[i].phys = {ranks_[i].process->nid(), ranks_[i].process->pid()};
  require(api::PtlSetMap(*rank.process, rank.ni, ranks, map) == PTL_OK, "a map is accepted");
}

void RandomTraffic::restart(unsigned number)
{
  Rank& rank = ranks_[number];
  if (pick(2))
    rank.process->detach();
  const unsigned life = rank.life + 1;
  const std::size_t written = rank.written; // letters of the dead may still arrive: keep out of their places
  rank = Rank();                            // its memory goes too
  rank.life = life;
  rank.written = written;
  histories_[number].clear();
  rank.process = std::make_unique<Process>(fabric_, number, number, 100);
  open(rank);
  set_map(rank);
}

void RandomTraffic::set_up_network()
{
  constexpr TestModel::SourceRead modes[] = {TestModel::SourceRead::before_header,
                                             TestModel::SourceRead::before_delivery,
                                             TestModel::SourceRead::after_delivery};
  model_.source_read = modes[seed_ % 3];
  model_.keep_log = false;
  if (pick(2))
    model_.slowness = [this](const net::Transfer&) { return static_cast<sim::SimTime>(pick(5000)) * sim::nanosecond; };
  if (pick(2))
    model_.fate = [this](const net::Transfer&) {
      constexpr TestModel::Fate fates[] = {TestModel::Fate::fail_at_once, TestModel::Fate::fail_after_source,
                                           TestModel::Fate::fail_after_header, TestModel::Fate::fail_before_source};
      return pick(20) == 0 ? fates[pick(4)] : TestModel::Fate::deliver;
    };
  if (pick(2))
    model_.queue_depth = 1 + pick(4);
  host_.poll_steps = pick(2) != 0;
  mortal_ = pick(2) != 0;
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
  limits.max_cts = 10;
  limits.max_eqs = 10;
  limits.max_triggered_ops = 30;
  limits.max_pt_index = 15;
  limits.max_iovecs = 8;
  limits.max_msg_size = mailbox_size;
  limits.max_atomic_size = 512;
  require(api::PtlInit(process) == PTL_OK, "PtlInit succeeds");
  require(api::PtlNIInit(process, 0, options, PTL_PID_ANY, &limits, nullptr, &rank.ni) == PTL_OK, "PtlNIInit succeeds");
  require(api::PtlEQAlloc(process, rank.ni, 1 << 20, &rank.eq) == PTL_OK, "PtlEQAlloc succeeds");
  require(api::PtlEQAlloc(process, rank.ni, 1 << 20, &rank.target_eq[plain]) == PTL_OK, "PtlEQAlloc succeeds");
  require(api::PtlEQAlloc(process, rank.ni, queue_length, &rank.target_eq[flow]) == PTL_OK, "PtlEQAlloc succeeds");
  ptl_pt_index_t index = 0;
  require(api::PtlPTAlloc(process, rank.ni, 0, rank.target_eq[plain], plain, &index) == PTL_OK, "PtlPTAlloc succeeds");
  require(api::PtlPTAlloc(process, rank.ni, PTL_PT_FLOWCTRL, rank.target_eq[flow], flow, &index) == PTL_OK,
          "PtlPTAlloc succeeds");
  for (int i = 0; i < 4; ++i) {
    ptl_handle_ct_t counter = PTL_CT_NONE;
    require(api::PtlCTAlloc(process, rank.ni, &counter) == PTL_OK, "PtlCTAlloc succeeds");
    rank.counters.push_back(counter);
  }
  for (unsigned sender = 0; sender < ranks; ++sender) {
    rank.inbox[sender].resize(mailbox_size);
    require(api::PtlPTAlloc(process, rank.ni, 0, PTL_EQ_NONE, mailbox + sender, &index) == PTL_OK,
            "PtlPTAlloc succeeds");
    ptl_handle_me_t entry = PTL_INVALID_HANDLE;
    if (matching_) {
      ptl_me_t me{
          rank.inbox[sender].data(), mailbox_size, PTL_CT_NONE, PTL_UID_ANY, PTL_ME_OP_PUT, address(sender), 0, 0, 0};
      require(api::PtlMEAppend(process, rank.ni, mailbox + sender, &me, PTL_PRIORITY_LIST, nullptr, &entry) == PTL_OK,
              "PtlMEAppend succeeds");
    } else {
      const ptl_le_t le{rank.inbox[sender].data(), mailbox_size, PTL_CT_NONE, PTL_UID_ANY, PTL_LE_OP_PUT};
      require(api::PtlLEAppend(process, rank.ni, mailbox + sender, &le, PTL_PRIORITY_LIST, nullptr, &entry) == PTL_OK,
              "PtlLEAppend succeeds");
    }
  }
  const ptl_md_t outbox{rank.outbox.data(), mailbox_size, 0, rank.eq, PTL_CT_NONE};
  require(api::PtlMDBind(process, rank.ni, &outbox, &rank.letters) == PTL_OK, "PtlMDBind succeeds");
  for (int i = 0; i < 3; ++i)
    descriptors(rank);
}

void RandomTraffic::run(unsigned steps)
{
  for (unsigned i = 0; i < steps; ++i)
    step();
  settle();
  for (Rank& rank : ranks_)
    drain(rank);
  check_operations();
  for (Rank& rank : ranks_)
    check_objects(rank);
  require(fabric_.in_flight() == 0, "no operation is left over");
  require(model_.in_flight() == 0, "no transfer is left over");
}

void RandomTraffic::step()
{
  const unsigned self = pick(ranks);
  if (mortal_ && pick(300) == 0)
    return restart(self);
  Rank& rank = ranks_[self];
  switch (pick(16)) {
  case 0:
  case 1:
  case 2:
    return move(rank, false);
  case 3:
    return move(rank, true);
  case 4:
  case 5:
    return letter(rank, self);
  case 6:
  case 7:
    return append(rank, pick(8) == 0);
  case 8:
    return search(rank);
  case 9:
    return unlink(rank);
  case 10:
    return descriptors(rank);
  case 11:
    return counters(rank);
  case 12:
    return portal_table(rank);
  case 13:
    return drain(rank);
  default:
    for (unsigned events = pick(20); events > 0; --events)
      timeline_.step();
    return;
  }
}

void RandomTraffic::move(Rank& rank, bool triggered)
{
  if (rank.mds.empty())
    return;
  constexpr ptl_size_t lengths[] = {0, 1, 8, 64, 65, 256, 512, 3000};
  const ptl_handle_md_t put_md = one_of(rank.mds);
  const ptl_handle_md_t get_md = one_of(rank.mds);
  const ptl_size_t length = lengths[pick(std::size(lengths))];
  const ptl_size_t local = pick(100);
  const ptl_size_t remote = pick(200);
  const unsigned target = pick(ranks);
  const ptl_pt_index_t index = pick(20) == 0 ? 9 : pick(2);
  const ptl_match_bits_t bits = pick(4);
  const auto ack = static_cast<ptl_ack_req_t>(pick(4));
  const ptl_handle_ct_t trigger = one_of(rank.counters);
  const ptl_size_t threshold = pick(30);
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
    result = triggered ? api::PtlTriggeredPut(process, put_md, local, length, ack, address(target), index, bits, remote,
                                              user_ptr, number, trigger, threshold)
                       : api::PtlPut(process, put_md, local, length, ack, address(target), index, bits, remote,
                                     user_ptr, number);
    break;
  case 1:
    operation.replies = true;
    result = triggered ? api::PtlTriggeredGet(process, get_md, local, length, address(target), index, bits, remote,
                                              user_ptr, trigger, threshold)
                       : api::PtlGet(process, get_md, local, length, address(target), index, bits, remote, user_ptr);
    break;
  case 2:
    operation.sends = true;
    operation.acks = ack == PTL_ACK_REQ;
    result = triggered ? api::PtlTriggeredAtomic(process, put_md, local, length, ack, address(target), index, bits,
                                                 remote, user_ptr, number, PTL_SUM, PTL_UINT8_T, trigger, threshold)
                       : api::PtlAtomic(process, put_md, local, length, ack, address(target), index, bits, remote,
                                        user_ptr, number, PTL_SUM, PTL_UINT8_T);
    break;
  case 3:
    operation.sends = operation.replies = true;
    result = triggered ? api::PtlTriggeredFetchAtomic(process, get_md, local, put_md, local, length, address(target),
                                                      index, bits, remote, user_ptr, number, PTL_BXOR, PTL_UINT64_T,
                                                      trigger, threshold)
                       : api::PtlFetchAtomic(process, get_md, local, put_md, local, length, address(target), index,
                                             bits, remote, user_ptr, number, PTL_BXOR, PTL_UINT64_T);
    break;
  default:
    operation.sends = operation.replies = true;
    result = triggered
                 ? api::PtlTriggeredSwap(process, get_md, local, put_md, local, std::min<ptl_size_t>(length, 8),
                                         address(target), index, bits, remote, user_ptr, number, operand, PTL_CSWAP,
                                         PTL_UINT64_T, trigger, threshold)
                 : api::PtlSwap(process, get_md, local, put_md, local, std::min<ptl_size_t>(length, 8), address(target),
                                index, bits, remote, user_ptr, number, operand, PTL_CSWAP, PTL_UINT64_T);
    break;
  }
  require(result == PTL_OK || result == PTL_ARG_INVALID || (triggered && result == PTL_NO_SPACE),
          "an operation is accepted, refused or out of space");
  if (triggered) // may start later or never: only counted once
    operation.sends = operation.acks = operation.replies = false;
  operation.owner = static_cast<unsigned>(&rank - ranks_.data());
  operation.owner_life = rank.life;
  if (result == PTL_OK)
    operations_.push_back(operation);
}

// A message into memory that nothing else writes, so that its contents can be compared at the end.
void RandomTraffic::letter(Rank& rank, unsigned self)
{
  constexpr std::size_t lengths[] = {1, 8, 64, 65, 200, 2000};
  const std::size_t length = lengths[pick(std::size(lengths))];
  if (rank.written + length > mailbox_size)
    return;
  Operation operation;
  operation.sends = operation.acks = operation.letter = true;
  operation.owner = self;
  operation.owner_life = rank.life;
  operation.target = pick(ranks);
  operation.target_life = ranks_[operation.target].life;
  operation.offset = rank.written;
  operation.length = length;
  const std::size_t number = operations_.size();
  for (std::size_t i = 0; i < length; ++i)
    rank.outbox[rank.written + i] = letter_byte(number, i);
  operations_.push_back(operation);
  require(api::PtlPut(*rank.process, rank.letters, rank.written, length, PTL_ACK_REQ, address(operation.target),
                      mailbox + self, 0, rank.written, tag(number), number) == PTL_OK,
          "a letter is accepted");
  rank.written += length;
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
  if (pick(3))
    me.options |= PTL_ME_OP_PUT | PTL_ME_OP_GET;
  if (matching_) {
    constexpr unsigned of_match_entries[] = {PTL_ME_MANAGE_LOCAL, PTL_ME_NO_TRUNCATE, PTL_ME_LOCAL_INC_UH_RLENGTH};
    for (const unsigned choice : of_match_entries)
      me.options |= pick(3) ? 0 : choice;
  }
  me.match_id.rank = pick(3) ? PTL_RANK_ANY : pick(ranks);
  me.match_bits = pick(4);
  me.ignore_bits = pick(2) ? 0 : pick(4);
  me.min_free = pick(2) ? 0 : pick(2000);
  const auto list = static_cast<ptl_list_t>(pick(2));
  const ptl_pt_index_t index = pick(2);
  void* user_ptr = tag(next_entry_++);
  ptl_le_t le{me.start, me.length, me.ct_handle, me.uid, me.options};
  Process& process = *rank.process;
  ptl_handle_me_t handle = PTL_INVALID_HANDLE;
  const ptl_handle_ct_t trigger = one_of(rank.counters);
  const ptl_size_t threshold = pick(30);
  int result = PTL_FAIL;
  if (matching_)
    result = triggered
                 ? api::PtlTriggeredMEAppend(process, rank.ni, index, &me, list, user_ptr, &handle, trigger, threshold)
                 : api::PtlMEAppend(process, rank.ni, index, &me, list, user_ptr, &handle);
  else
    result = triggered
                 ? api::PtlTriggeredLEAppend(process, rank.ni, index, &le, list, user_ptr, &handle, trigger, threshold)
                 : api::PtlLEAppend(process, rank.ni, index, &le, list, user_ptr, &handle);
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
  const int result = matching_ ? api::PtlMESearch(*rank.process, rank.ni, pick(2), &me, operation, tag(next_entry_++))
                               : api::PtlLESearch(*rank.process, rank.ni, pick(2), &le, operation, tag(next_entry_++));
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
    static_cast<void>(matching_ ? api::PtlTriggeredMEUnlink(*rank.process, handle, trigger, pick(30))
                                : api::PtlTriggeredLEUnlink(*rank.process, handle, trigger, pick(30)));
    return;
  }
  const int result = matching_ ? api::PtlMEUnlink(*rank.process, handle) : api::PtlLEUnlink(*rank.process, handle);
  require(result == PTL_OK || result == PTL_IN_USE || result == PTL_ARG_INVALID,
          "an entry is unlinked, in use or gone");
  if (result != PTL_IN_USE)
    rank.entries.erase(which);
}

void RandomTraffic::descriptors(Rank& rank)
{
  if (rank.mds.size() > 5) {
    const auto which = rank.mds.begin() + pick(static_cast<unsigned>(rank.mds.size()));
    require(api::PtlMDRelease(*rank.process, *which) == PTL_OK, "a descriptor is released");
    rank.mds.erase(which);
    return;
  }
  constexpr unsigned choices[] = {PTL_MD_EVENT_CT_SEND, PTL_MD_EVENT_CT_REPLY, PTL_MD_EVENT_CT_ACK, PTL_MD_UNORDERED,
                                  PTL_MD_EVENT_CT_BYTES};
  unsigned options = 0;
  for (const unsigned choice : choices)
    options |= pick(2) ? choice : 0;
  const ptl_md_t md{rank.arena.data() + 4096, 4000, options, rank.eq, one_of(rank.counters)};
  ptl_handle_md_t handle = PTL_INVALID_HANDLE;
  require(api::PtlMDBind(*rank.process, rank.ni, &md, &handle) == PTL_OK, "a descriptor is bound");
  rank.mds.push_back(handle);
}

void RandomTraffic::counters(Rank& rank)
{
  const ptl_handle_ct_t counter = one_of(rank.counters);
  ptl_ct_event_t value{};
  switch (pick(6)) {
  case 0:
    static_cast<void>(api::PtlCTSet(*rank.process, counter, {pick(10), pick(3)}));
    return;
  case 1:
    static_cast<void>(api::PtlCTInc(*rank.process, counter, {pick(10), 0}));
    return;
  case 2:
    static_cast<void>(api::PtlCTCancelTriggered(*rank.process, counter));
    return;
  case 3:
    static_cast<void>(api::PtlTriggeredCTInc(*rank.process, counter, {1, 0}, one_of(rank.counters), pick(30)));
    return;
  case 4:
    static_cast<void>(api::PtlTriggeredCTSet(*rank.process, counter, {0, 0}, one_of(rank.counters), pick(30)));
    return;
  default:
    require(api::PtlCTGet(*rank.process, counter, &value) == PTL_OK, "a counter can be read");
    return;
  }
}

void RandomTraffic::portal_table(Rank& rank)
{
  const ptl_pt_index_t index = pick(2);
  if (pick(4) == 0)
    require(api::PtlPTDisable(*rank.process, rank.ni, index) == PTL_OK, "an entry can be disabled");
  else
    require(api::PtlPTEnable(*rank.process, rank.ni, index) == PTL_OK, "an entry can be enabled");
}

void RandomTraffic::drain(Rank& rank)
{
  const auto self = static_cast<unsigned>(&rank - ranks_.data());
  const bool stepping = std::exchange(host_.poll_steps, false);
  ptl_event_t event{};
  while (api::PtlEQGet(*rank.process, rank.eq, &event) == PTL_OK)
    see(event);
  for (const ptl_handle_eq_t queue : rank.target_eq) {
    int result = PTL_OK;
    while ((result = api::PtlEQGet(*rank.process, queue, &event)) == PTL_OK || result == PTL_EQ_DROPPED)
      see_target(self, event);
  }
  host_.poll_steps = stepping;
}

void RandomTraffic::see(const ptl_event_t& event)
{
  const auto number = reinterpret_cast<std::size_t>(event.user_ptr);
  require(number < operations_.size(), "an event belongs to an operation");
  Operation& operation = operations_[number];
  switch (event.type) {
  case PTL_EVENT_SEND:
    require(operation.ack_seen == 0 && operation.reply_seen == 0, "SEND comes before ACK and REPLY");
    operation.send_failed = event.ni_fail_type != PTL_NI_OK;
    require(++operation.send_seen == 1, "SEND comes once");
    return;
  case PTL_EVENT_ACK:
    operation.arrived = event.ni_fail_type == PTL_NI_OK;
    require(++operation.ack_seen == 1, "ACK comes once");
    return;
  case PTL_EVENT_REPLY:
    operation.arrived = event.ni_fail_type == PTL_NI_OK;
    require(++operation.reply_seen == 1, "REPLY comes once");
    return;
  default:
    require(false, "initiators see SEND, ACK and REPLY");
  }
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

void RandomTraffic::settle()
{
  while (timeline_.step()) {
  }
}

void RandomTraffic::check_operations()
{
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
    if (!operation.letter || !operation.arrived || operation.target_life != ranks_[operation.target].life)
      continue;
    ++letters_checked_;
    const Rank& target = ranks_[operation.target];
    const bool found = std::any_of(target.inbox.begin(), target.inbox.end(), [&](const auto& inbox) {
      for (std::size_t i = 0; i < operation.length; ++i)
        if (inbox[operation.offset + i] != letter_byte(number, i))
          return false;
      return true;
    });
    require(found, "what was acknowledged has arrived unchanged");
  }
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
  ni.queues.for_each([&](const EventQueue& queue) {
    require(queue.reserved == 0, "no place in a queue is reserved");
    require(!queue.available(), "all events were taken");
  });
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

} // namespace umwelt::portals::test
