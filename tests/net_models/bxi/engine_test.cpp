// SPDX-License-Identifier: LGPL-2.1-or-later
// The engine that commands and events share, and what a target's program is told when.
#include "net_models/bxi/engine.h"

#include <gtest/gtest.h>

#include "tests/net_models/probe.h"

namespace umwelt::net
{
namespace
{

using sim::nanosecond;

TEST(BxiEngine, EventsNeverWaitForCommands)
{
  BxiEngine engine;
  EXPECT_EQ(engine.take_in(0, 100, 200), 100);
  EXPECT_EQ(engine.write(150, 50, false), 200);
  EXPECT_EQ(engine.write(150, 50, false), 250);
}

TEST(BxiEngine, CommandsWaitForEvents)
{
  BxiEngine engine;
  EXPECT_EQ(engine.write(0, 150, false), 150);
  EXPECT_EQ(engine.take_in(0, 100, 200), 150);
  EXPECT_EQ(engine.write(200, 50, false), 250); // while a command is in the engine: the next one is later
  EXPECT_EQ(engine.take_in(150, 300, 200), 400);
}

TEST(BxiEngine, WorksAheadOfCommandsThatLeave)
{
  BxiEngine engine;
  EXPECT_EQ(engine.take_in(0, 0, 100), 0);
  EXPECT_EQ(engine.write(900, 50, true), 950); // pushes back those that wait
  EXPECT_EQ(engine.take_in(1000, 10, 100), 150);
}

// When a program at node 1 sees what it is told of a message from node 0.
SimTime told(TransferKind kind, std::uint64_t payload, const char* nic)
{
  struct Client final : TransferClient {
    Bench& bench;
    Seen& seen;
    Client(Bench& b, Seen& s) : bench(b), seen(s) {}
    void source_read(Transfer&) override {}
    void header_arrived(Transfer& transfer) override { transfer.deposit = transfer.payload; }
    void delivered(Transfer&) override { bench.model->write_to_host(1, WriteKind::full_event, seen); }
    void failed(Transfer&, TransferFailure) override { ADD_FAILURE(); }
  };
  Bench bench("bxi", nic);
  Seen seen(bench.timeline);
  Client client(bench, seen);
  Observed& transfer = bench.transfer(kind, payload);
  transfer.client = &client;
  transfer.from_host = !is_response(kind);
  bench.model->start(transfer);
  bench.run();
  return seen.at;
}

TEST(BxiFlush, ATargetIsToldOfAPutWhenItsMemoryHasIt)
{
  EXPECT_EQ(told(TransferKind::put, 8, "flush_time=300ns") - told(TransferKind::put, 8, "flush_time=0ns"),
            300 * nanosecond);
  EXPECT_EQ(told(TransferKind::atomic, 8, "flush_time=300ns") - told(TransferKind::atomic, 8, "flush_time=0ns"),
            300 * nanosecond);
}

TEST(BxiFlush, WhatBringsNoDataOrWasAskedForIsNotFlushed)
{
  for (const TransferKind kind : {TransferKind::put, TransferKind::get, TransferKind::ack})
    EXPECT_EQ(told(kind, 0, "flush_time=300ns"), told(kind, 0, "flush_time=0ns"));
  EXPECT_EQ(told(TransferKind::reply, 8, "flush_time=300ns"), told(TransferKind::reply, 8, "flush_time=0ns"));
}

TEST(BxiFlush, NeedsAPciBus)
{
  EXPECT_EQ(told(TransferKind::put, 4096, "pci=off,flush_time=300ns"),
            told(TransferKind::put, 4096, "pci=off,flush_time=0ns"));
}

} // namespace
} // namespace umwelt::net
