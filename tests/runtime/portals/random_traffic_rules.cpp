// SPDX-License-Identifier: LGPL-2.1-or-later
// The events that come, and what must hold of them and of memory at the end.
#include "tests/runtime/portals/random_traffic.h"

#include <cstring>
#include <utility>

#include "tests/runtime/portals/counted_api.h"
#include "tests/runtime/portals/random_traffic_places.h"

namespace umwelt::portals::test
{

namespace
{

std::uint64_t word_at(const unsigned char* bytes)
{
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

} // namespace

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
