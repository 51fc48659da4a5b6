// SPDX-License-Identifier: LGPL-2.1-or-later
// CPU cost of the timeline and of the models.
#include <random>

#include <benchmark/benchmark.h>

#include "net_models/catalogue.h"
#include "platforms/platform.h"
#include "platforms/simgrid.h"
#include "platforms/simgrid_versions.h"
#include "runtime/base/parameters.h"
#include "runtime/base/timeline.h"

namespace
{

using namespace umwelt;

// An event that schedules itself again at once, among `range` others that do the same.
void timeline_event(benchmark::State& state)
{
  struct Again final : sim::Event {
    void fire() override { timeline->schedule_in(*this, period); }
    sim::Timeline* timeline = nullptr;
    sim::SimTime period = 0;
  };
  sim::Timeline timeline;
  std::vector<Again> events(static_cast<std::size_t>(state.range(0)));
  std::mt19937 random(1);
  for (Again& event : events) {
    event.timeline = &timeline;
    event.period = 1 + static_cast<sim::SimTime>(random() % 1000);
    timeline.schedule_in(event, event.period);
  }
  for ([[maybe_unused]] auto _ : state)
    timeline.step();
}
BENCHMARK(timeline_event)->Arg(1)->Arg(100)->Arg(10'000);

// Puts with acknowledgement from node 0 to node 1, always `range(0)` of them in flight.
class Client final : public net::TransferClient
{
public:
  explicit Client(net::Model& model) : model_(model) {}

  struct Put {
    net::Transfer request;
    net::Transfer ack;
    int open = 0;
  };
  void start(net::Transfer& request, net::Transfer& ack, std::uint64_t size)
  {
    request.client = ack.client = this;
    request.payload = size;
    request.target = 1;
    ack.kind = net::TransferKind::ack;
    ack.source = 1;
    ack.from_host = false;
    model_.start(request);
  }
  void source_read(net::Transfer&) override {}
  void header_arrived(net::Transfer& transfer) override { transfer.deposit = transfer.payload; }
  void delivered(net::Transfer& transfer) override
  {
    if (transfer.kind == net::TransferKind::ack)
      ++completed;
    else
      model_.start(*acks[static_cast<std::size_t>(&transfer - requests.data())]);
  }
  void failed(net::Transfer&, net::TransferFailure) override {}

  std::vector<net::Transfer> requests;
  std::vector<net::Transfer*> acks;
  std::uint64_t completed = 0;

private:
  net::Model& model_;
};

void put_with_ack(benchmark::State& state, const char* name)
{
  const auto in_flight = static_cast<std::size_t>(state.range(0));
  const auto size = static_cast<std::uint64_t>(state.range(1));
  sim::Timeline timeline;
  const auto platform = platform::make_platform({.spec = "bxi", .nodes = 2});
  const auto model = net::make_model(name, {timeline, *platform, nullptr}, {});
  Client client(*model);
  client.requests.resize(in_flight);
  std::vector<net::Transfer> acks(in_flight);
  for (net::Transfer& ack : acks)
    client.acks.push_back(&ack);
  // Batches: all are started, then all complete. The time per put includes both of its transfers.
  for ([[maybe_unused]] auto _ : state) {
    client.completed = 0;
    for (std::size_t i = 0; i < in_flight; ++i)
      client.start(client.requests[i], acks[i], size);
    while (client.completed < in_flight)
      timeline.step();
    while (timeline.step()) {
    }
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * in_flight));
  state.counters["us_per_put"] = benchmark::Counter(static_cast<double>(state.iterations() * in_flight) / 1e6,
                                                    benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK_CAPTURE(put_with_ack, bxi, "bxi")->Args({1, 8})->Args({10'000, 8})->Args({1, 1 << 20});
BENCHMARK_CAPTURE(put_with_ack, loggp, "loggp")->Args({1, 8})->Args({10'000, 8});
BENCHMARK_CAPTURE(put_with_ack, delay, "delay")->Args({1, 8})->Args({10'000, 8});

// Everybody to node 0, or everybody to everybody, at once, on a fat tree with half as many cables up as down. In an
// actor, which `flow` needs.
void congested(benchmark::State& state, const char* name, bool all_to_all)
{
  struct Sink final : net::TransferClient {
    void source_read(net::Transfer&) override {}
    void header_arrived(net::Transfer& transfer) override { transfer.deposit = transfer.payload; }
    void delivered(net::Transfer&) override {}
    void failed(net::Transfer&, net::TransferFailure) override {}
  };
  const auto nodes = static_cast<net::NodeIndex>(state.range(0));
  sim::Timeline timeline;
  const auto platform = platform::make_platform({.spec = "bxi:leaf=8,spines=4", .nodes = nodes});
  const auto model = net::make_model(name, {timeline, *platform, nullptr}, {});
  Sink sink;
  std::vector<net::Transfer> transfers;
  for (net::NodeIndex shift = 1; shift < nodes; ++shift)
    for (net::NodeIndex node = 0; node < (all_to_all ? nodes : 1); ++node) {
      net::Transfer& transfer = transfers.emplace_back();
      transfer.client = &sink;
      transfer.payload = static_cast<std::uint64_t>(state.range(1));
      transfer.source = all_to_all ? node : shift;
      transfer.target = all_to_all ? (node + shift) % nodes : 0;
      transfer.initiator_process = transfer.source;
      transfer.target_process = transfer.target;
    }
  platform::versions::add_actor("conductor", platform->node(0).host, [&] {
    for ([[maybe_unused]] auto _ : state) {
      for (net::Transfer& transfer : transfers)
        model->start(transfer);
      for (;;) {
        if (model->external_pending() && model->advance_external(timeline.next()))
          continue;
        if (!timeline.step())
          break;
      }
    }
  });
  platform::simgrid_engine().run();
  state.counters["us_per_message"] =
      benchmark::Counter(static_cast<double>(state.iterations() * transfers.size()) / 1e6,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK_CAPTURE(congested, incast_bxi, "bxi", false)->Args({16, 64 << 10})->Args({64, 64 << 10});
BENCHMARK_CAPTURE(congested, incast_flow, "flow", false)->Args({16, 64 << 10})->Args({64, 64 << 10});
BENCHMARK_CAPTURE(congested, alltoall_bxi, "bxi", true)->Args({16, 64 << 10})->Args({64, 64 << 10});
BENCHMARK_CAPTURE(congested, alltoall_flow, "flow", true)->Args({16, 64 << 10})->Args({64, 64 << 10});

} // namespace

BENCHMARK_MAIN();
