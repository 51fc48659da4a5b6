// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/runtime/portals/test_model.h"

#include <algorithm>

namespace umwelt::portals::test
{

bool TestModel::reserve(net::Transfer& transfer)
{
  transfer.reserved = commands_ < queue_depth;
  commands_ += transfer.reserved ? 1 : 0;
  return transfer.reserved;
}

void TestModel::unreserve(net::Transfer& transfer)
{
  transfer.reserved = false;
  --commands_;
}

bool TestModel::start(net::Transfer& transfer)
{
  if (transfer.from_host && !transfer.reserved && !reserve(transfer))
    return false;
  if (keep_log)
    started.push_back(transfer);

  Flight& flight = flights_.acquire();
  flight.model = this;
  flight.transfer = &transfer;
  flight.node = transfer.source;
  flight.command = transfer.from_host;
  flight.count = flight.next = 0;
  sim::SimTime header = header_delay;
  if (!net::is_response(transfer.kind)) { // headers of a pair of nodes keep their order
    sim::SimTime& last = last_header_[{transfer.source, transfer.target}];
    last = std::max(last + 1, timeline_.now() + header);
    header = last - timeline_.now();
  }
  const sim::SimTime end = header + payload_delay + (slowness ? slowness(transfer) : 0);
  switch (fate ? fate(transfer) : Fate::deliver) {
  case Fate::fail_at_once:
    flight.add(header, Step::fail);
    break;
  case Fate::fail_after_source:
    flight.add(header / 2, Step::read);
    flight.add(header, Step::fail);
    break;
  case Fate::fail_after_header:
    flight.add(header, Step::header);
    flight.add(end, Step::fail);
    break;
  case Fate::fail_before_source: // delivered, but the source cannot be told
    flight.add(header, Step::header);
    flight.add(end, Step::deliver);
    flight.add(3 * end, Step::fail);
    break;
  case Fate::deliver:
    if (source_read == SourceRead::before_header)
      flight.add(header / 2, Step::read);
    flight.add(header, Step::header);
    if (source_read == SourceRead::before_delivery)
      flight.add((header + end) / 2, Step::read);
    flight.add(end, Step::deliver);
    if (source_read == SourceRead::after_delivery)
      flight.add(3 * end, Step::read);
    break;
  }
  for (std::size_t i = 0; i < flight.count; ++i)
    flight.stops[i].when += timeline_.now();
  timeline_.schedule(flight, flight.stops[0].when);
  return true;
}

void TestModel::advance(Flight& flight)
{
  net::Transfer& transfer = *flight.transfer;
  const Step step = flight.stops[flight.next++].step;
  const bool last = flight.next == flight.count;
  const bool command = last && flight.command;
  const net::NodeIndex node = flight.node;
  if (last)
    flights_.release(flight); // the call that ends a transfer is the last that sees it
  else
    timeline_.schedule(flight, flight.stops[flight.next].when);
  switch (step) {
  case Step::read:
    transfer.client->source_read(transfer);
    break;
  case Step::header:
    transfer.client->header_arrived(transfer);
    deposited += transfer.deposit;
    if (!net::is_response(transfer.kind))
      searched = transfer.searched;
    break;
  case Step::deliver:
    transfer.client->delivered(transfer);
    break;
  case Step::fail:
    transfer.client->failed(transfer, net::TransferFailure::undeliverable);
    break;
  }
  if (command) {
    --commands_;
    listener_.command_slot_free(node);
  }
}

void TestModel::write_to_host(net::NodeIndex, net::WriteKind, net::HostWrite& write)
{
  Write& event = writes_.acquire();
  event.model = this;
  event.write = &write;
  timeline_.schedule_in(event, write_delay);
}

void TestModel::Write::fire()
{
  net::HostWrite& visible = *write;
  model->writes_.release(*this);
  visible.visible();
}

} // namespace umwelt::portals::test
