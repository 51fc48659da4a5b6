// SPDX-License-Identifier: LGPL-2.1-or-later
// What models tell an observer (net_models/core/observer.h).
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net_models/bxi/model.h"
#include "net_models/catalogue.h"
#include "net_models/core/observer.h"
#include "tests/net_models/probe.h"

namespace umwelt::net
{
namespace
{

constexpr std::uint64_t mebibyte = 1 << 20;

struct Recorder final : Observer {
  std::uint64_t started(const Transfer&) override { return ++transfers; }
  void stage(const StageRecord& record) override { records.push_back(record); }

  [[nodiscard]] std::vector<StageRecord> of(StageKind kind) const
  {
    std::vector<StageRecord> found;
    std::copy_if(records.begin(), records.end(), std::back_inserter(found),
                 [kind](const StageRecord& record) { return record.kind == kind; });
    return found;
  }
  [[nodiscard]] const StageRecord& only(StageKind kind) const
  {
    const auto is = [kind](const StageRecord& record) { return record.kind == kind; };
    EXPECT_EQ(std::count_if(records.begin(), records.end(), is), 1);
    return *std::find_if(records.begin(), records.end(), is);
  }

  std::uint64_t transfers = 0;
  std::vector<StageRecord> records;
};

struct ObservedBench : Bench {
  explicit ObservedBench(std::string_view name, std::string_view list = "", unsigned nodes = 2,
                         const std::string& spec = "crossbar")
      : Bench(name, list, nodes, spec)
  {
    Parameters parameters;
    parameters.add(list, "test");
    model = make_model(name, {timeline, *platform, &probe, &recorder}, parameters);
  }
  Recorder recorder;
};

class EveryModel : public testing::TestWithParam<const char*>
{
};
INSTANTIATE_TEST_SUITE_P(Models, EveryModel, testing::Values("bxi", "loggp", "delay", "piecewise"),
                         [](const auto& given) { return std::string(given.param); });

TEST_P(EveryModel, TellsOfEachMessageOnce)
{
  ObservedBench bench(GetParam());
  const Observed& put = bench.put(1000);
  bench.run();
  const StageRecord& message = bench.recorder.only(StageKind::message);
  EXPECT_EQ(bench.recorder.transfers, 1U);
  EXPECT_EQ(message.transfer, 1U);
  EXPECT_EQ(message.outcome, StageOutcome::done);
  EXPECT_EQ(message.node, 0U);
  EXPECT_EQ(message.peer, 1U);
  EXPECT_EQ(message.bytes, 1000U);
  EXPECT_EQ(message.initiator_process, 0U);
  EXPECT_EQ(message.target_process, 1U);
  EXPECT_GE(message.start, put.started);
  EXPECT_LE(message.end, put.done);
}

TEST_P(EveryModel, TakesNoLongerWhenObserved)
{
  ObservedBench bench(GetParam());
  const std::unique_ptr<Model> observed = std::move(bench.model);
  const std::unique_ptr<Model> alone = make_model(GetParam(), {bench.timeline, *bench.platform, &bench.probe}, {});
  const auto time = [&bench](Model& model, std::uint64_t size) {
    Observed& put = bench.transfer(TransferKind::put, size);
    const SimTime started = bench.timeline.now();
    model.start(put);
    bench.run();
    return put.done - started;
  };
  for (const std::uint64_t size : {std::uint64_t{0}, std::uint64_t{8}, std::uint64_t{5000}, mebibyte})
    EXPECT_EQ(time(*alone, size), time(*observed, size)) << size;
}

TEST_P(EveryModel, EndsNothingBeforeItsStart)
{
  ObservedBench bench(GetParam());
  for (std::uint64_t size = 0; size < 4 * mebibyte; size = size * 3 + 1)
    for (const TransferKind kind : {TransferKind::put, TransferKind::get, TransferKind::atomic,
                                    TransferKind::fetch_atomic, TransferKind::ack, TransferKind::reply})
      bench.start(bench.transfer(kind, size, static_cast<NodeIndex>(size % 2), 1));
  bench.run();
  for (const StageRecord& record : bench.recorder.records)
    EXPECT_LE(record.start, record.end) << static_cast<int>(record.kind) << " of transfer " << record.transfer;
  EXPECT_EQ(bench.recorder.of(StageKind::message).size(), bench.all.size());
}

TEST(BxiObserver, NoMessageIsFasterThanTheWire)
{
  ObservedBench bench("bxi", "", 4, "bxi:leaf=2,spines=2");
  for (std::uint64_t size = 1; size < 4 * mebibyte; size = size * 2 + 1)
    for (NodeIndex to = 1; to < 4; ++to)
      bench.put(size, 0, to);
  bench.run();
  for (const StageRecord& message : bench.recorder.of(StageKind::message)) {
    const platform::Route& route = bench.platform->route(message.node, message.peer);
    EXPECT_GE(message.end - message.start, route.latency + sim::transfer_time(message.bytes, route.bandwidth));
  }
}

TEST(BxiObserver, StagesFollowEachOther)
{
  ObservedBench bench("bxi");
  const Observed& put = bench.put(64 << 10);
  bench.run();
  const Recorder& seen = bench.recorder;
  const StageRecord& message = seen.only(StageKind::message);
  EXPECT_EQ(seen.only(StageKind::command).start, put.started);
  EXPECT_EQ(seen.only(StageKind::queue).start, seen.only(StageKind::command).end);
  EXPECT_GE(seen.only(StageKind::dma_request).start, seen.only(StageKind::command).end);
  EXPECT_GE(seen.only(StageKind::dma_payload).start, seen.only(StageKind::dma_request).end);
  EXPECT_LT(seen.only(StageKind::dma_payload).start, message.start);
  EXPECT_EQ(seen.only(StageKind::queue).end, message.start);
  EXPECT_EQ(seen.only(StageKind::transmit).start, message.start);
  EXPECT_LE(seen.only(StageKind::transmit).end, message.end);
  EXPECT_EQ(seen.only(StageKind::receive).end, put.header);
  EXPECT_EQ(seen.only(StageKind::receive).node, 1U);
  EXPECT_GT(seen.only(StageKind::payload_write).start, message.start);
  EXPECT_EQ(seen.only(StageKind::payload_write).end, put.done);
  EXPECT_EQ(seen.only(StageKind::payload_write).node, 1U);
  const StageRecord& acknowledgement = seen.only(StageKind::acknowledgement);
  EXPECT_GT(acknowledgement.start, message.end);
  EXPECT_EQ(acknowledgement.node, 1U);
  EXPECT_EQ(acknowledgement.peer, 0U);
  EXPECT_LE(acknowledgement.end, put.source_free);
}

TEST(BxiObserver, TheHostWritesShortPayloads)
{
  ObservedBench bench("bxi");
  bench.put(100);
  bench.run();
  EXPECT_EQ(bench.recorder.only(StageKind::pio_payload).bytes, 100U);
  EXPECT_THAT(bench.recorder.of(StageKind::dma_payload), testing::IsEmpty());
}

// One direction of a PCI bus carries no more than the bus has.
TEST(BxiObserver, PayloadsDoNotOvertakeThePciBus)
{
  ObservedBench bench("bxi");
  constexpr unsigned messages = 50;
  for (unsigned i = 0; i < messages; ++i)
    bench.put(mebibyte);
  bench.run();
  const BxiParameters parameters;
  for (const StageKind kind : {StageKind::dma_payload, StageKind::payload_write}) {
    const std::vector<StageRecord> transfers = bench.recorder.of(kind);
    ASSERT_EQ(transfers.size(), messages);
    SimTime first = sim::never;
    SimTime last = 0;
    for (const StageRecord& transfer : transfers) {
      EXPECT_GE(transfer.end - transfer.start, sim::transfer_time(transfer.bytes, parameters.pci_transfer));
      first = std::min(first, transfer.start);
      last = std::max(last, transfer.end);
    }
    EXPECT_GE(last - first, sim::transfer_time(messages * mebibyte, parameters.pci_shared));
  }
}

TEST(BxiObserver, EventsCrossPci)
{
  ObservedBench bench("bxi");
  Seen write(bench.timeline);
  bench.model->write_to_host(1, WriteKind::full_event, write);
  bench.run();
  const StageRecord& event = bench.recorder.only(StageKind::event);
  EXPECT_EQ(event.node, 1U);
  EXPECT_EQ(event.transfer, 0U);
  EXPECT_EQ(event.end, write.at);
}

TEST(BxiObserver, WithoutPciNothingCrossesIt)
{
  ObservedBench bench("bxi", "pci=no");
  bench.put(mebibyte);
  bench.run();
  for (const StageKind kind : {StageKind::command, StageKind::pio_payload, StageKind::dma_request,
                               StageKind::dma_payload, StageKind::payload_write, StageKind::event})
    EXPECT_THAT(bench.recorder.of(kind), testing::IsEmpty()) << static_cast<int>(kind);
}

TEST(BxiObserver, TellsOfEveryLoss)
{
  ObservedBench bench("bxi", "drop=0.2,e2e_retries=50");
  for (unsigned i = 0; i < 200; ++i)
    bench.put(8 + 1000 * (i % 2));
  bench.run();
  std::map<StageOutcome, std::uint64_t> messages;
  for (const StageRecord& record : bench.recorder.of(StageKind::message))
    ++messages[record.outcome];
  std::uint64_t lost_acknowledgements = 0;
  for (const StageRecord& record : bench.recorder.of(StageKind::acknowledgement))
    lost_acknowledgements += record.outcome == StageOutcome::lost;
  const auto& statistics = dynamic_cast<const BxiModel&>(*bench.model).statistics();
  EXPECT_EQ(messages[StageOutcome::done], 200U);
  EXPECT_GT(lost_acknowledgements, 0U);
  EXPECT_GT(messages[StageOutcome::duplicate], 0U);
  EXPECT_EQ(messages[StageOutcome::lost] + lost_acknowledgements, statistics.lost);
  EXPECT_EQ(messages[StageOutcome::done] + messages[StageOutcome::lost] + messages[StageOutcome::duplicate],
            statistics.messages);
  EXPECT_EQ(bench.recorder.transfers, 200U);
}

TEST(BxiObserver, LoopbackAndShortcutsAreSeenToo)
{
  ObservedBench bench("bxi", "quick_ack=yes");
  bench.put(100, 1, 1);
  bench.run();
  bench.start(bench.transfer(TransferKind::ack, 0, 1, 0));
  bench.run();
  const std::vector<StageRecord> messages = bench.recorder.of(StageKind::message);
  ASSERT_EQ(messages.size(), 2U);
  EXPECT_EQ(messages[0].peer, 1U);
  EXPECT_EQ(messages[1].start, messages[1].end);
}

} // namespace
} // namespace umwelt::net
