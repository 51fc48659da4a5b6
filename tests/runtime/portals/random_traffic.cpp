// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/runtime/portals/random_traffic.h"

#include "net_models/catalogue.h"
#include "runtime/base/parameters.h"
#include "tests/runtime/portals/counted_api.h"
#include "tests/runtime/portals/random_traffic_places.h"

namespace umwelt::portals::test
{

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

void RandomTraffic::settle()
{
  while (timeline_.step()) {
  }
}

} // namespace umwelt::portals::test
