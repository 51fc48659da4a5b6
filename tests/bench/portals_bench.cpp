// SPDX-License-Identifier: LGPL-2.1-or-later
// CPU cost of the functional Portals engine: whole operations between two processes over a network of constant delays.
// Everything is included: the calls of both processes, matching, events, the network.
#include <benchmark/benchmark.h>

#include <stdexcept>
#include <vector>

#include "runtime/base/ring.h"
#include "runtime/base/timeline.h"
#include "runtime/portals/api/api.h"
#include "runtime/portals/fabric/fabric.h"
#include "runtime/portals/fabric/process.h"

namespace
{

using namespace umwelt;
using namespace umwelt::portals;

// Whoever waits fires what is due.
class SteppingHost final : public Host
{
public:
  explicit SteppingHost(sim::Timeline& timeline) : timeline_(timeline) {}
  bool wait(Process&, sim::SimTime) override { return timeline_.step(); }
  void changed(Process&) override {}
  bool empty_poll(Process&) override { return false; }
  void productive_poll(Process&) override {}
  void spend(Process&, sim::SimTime) override {}
  [[nodiscard]] sim::SimTime now(const Process&) const override { return timeline_.now(); }

private:
  sim::Timeline& timeline_;
};

// Things that happen a constant time after they were asked for, and therefore in order: one event of the timeline,
// however many are on their way.
template <class T, class Act> class Lane final : public sim::Event
{
public:
  Lane(sim::Timeline& timeline, sim::SimTime delay, Act act) : timeline_(timeline), delay_(delay), act_(act) {}
  void enter(T& item)
  {
    items_.push({timeline_.now() + delay_, &item});
    if (!pending())
      timeline_.schedule(*this, items_.front().when);
  }
  void fire() override
  {
    T& item = *items_.pop().item;
    if (!items_.empty())
      timeline_.schedule(*this, items_.front().when);
    act_(item);
  }

private:
  struct Entry {
    sim::SimTime when = 0;
    T* item = nullptr;
  };
  sim::Timeline& timeline_;
  sim::SimTime delay_;
  Act act_;
  sim::Ring<Entry> items_;
};

class ConstantNetwork final : public net::Model
{
public:
  explicit ConstantNetwork(sim::Timeline& timeline)
      : reads_(timeline, 300 * sim::nanosecond, [](net::Transfer& t) { t.client->source_read(t); }),
        headers_(timeline, 500 * sim::nanosecond, [](net::Transfer& t) { t.client->header_arrived(t); }),
        deliveries_(timeline, 600 * sim::nanosecond, [](net::Transfer& t) { t.client->delivered(t); }),
        writes_(timeline, 100 * sim::nanosecond, [](net::HostWrite& write) { write.visible(); })
  {
  }
  [[nodiscard]] std::string_view name() const override { return "constant"; }
  [[nodiscard]] sim::SimTime issue_cost(const net::Transfer&) const override { return 0; }
  bool start(net::Transfer& transfer) override
  {
    reads_.enter(transfer);
    headers_.enter(transfer);
    deliveries_.enter(transfer);
    return true;
  }
  void write_to_host(net::NodeIndex, net::WriteKind, net::HostWrite& write) override { writes_.enter(write); }

private:
  using Step = void (*)(net::Transfer&);
  Lane<net::Transfer, Step> reads_;
  Lane<net::Transfer, Step> headers_;
  Lane<net::Transfer, Step> deliveries_;
  Lane<net::HostWrite, void (*)(net::HostWrite&)> writes_;
};

void check(int result)
{
  if (result != PTL_OK)
    throw std::runtime_error("a Portals call failed");
}

class Bench
{
public:
  explicit Bench(std::size_t size = 8) : size_(size), memory_(size), buffer_(size)
  {
    fabric_.set_model(model_);
    for (Process* process : {&a_, &b_}) {
      check(api::PtlInit(*process));
      check(api::PtlNIInit(*process, PTL_IFACE_DEFAULT, PTL_NI_MATCHING | PTL_NI_PHYSICAL, PTL_PID_ANY, nullptr,
                           nullptr, &ni_));
    }
    check(api::PtlEQAlloc(a_, ni_, 1 << 20, &initiator_eq_));
    check(api::PtlEQAlloc(b_, ni_, 1 << 20, &target_eq_));
    ptl_pt_index_t index = 0;
    check(api::PtlPTAlloc(b_, ni_, 0, target_eq_, 0, &index));
    check(api::PtlGetId(b_, ni_, &b_id_));
  }
  ~Bench()
  {
    while (timeline_.step()) {
    }
  }

  // Entries with match bits first, first + 1, ...
  void post(unsigned count, ptl_match_bits_t first = 0)
  {
    ptl_me_t me{};
    me.start = memory_.data();
    me.length = size_;
    me.ct_handle = PTL_CT_NONE;
    me.uid = PTL_UID_ANY;
    me.options = PTL_ME_OP_PUT | PTL_ME_OP_GET | PTL_ME_EVENT_LINK_DISABLE;
    me.match_id.phys = {PTL_NID_ANY, PTL_PID_ANY};
    ptl_handle_me_t handle = PTL_INVALID_HANDLE;
    for (unsigned i = 0; i < count; ++i) {
      me.match_bits = first + i;
      check(api::PtlMEAppend(b_, ni_, 0, &me, PTL_PRIORITY_LIST, nullptr, &handle));
    }
  }
  // Use-once entry that the next message with these bits takes.
  void post_once(ptl_match_bits_t bits)
  {
    ptl_me_t me{};
    me.start = memory_.data();
    me.length = size_;
    me.ct_handle = PTL_CT_NONE;
    me.uid = PTL_UID_ANY;
    me.options = PTL_ME_OP_PUT | PTL_ME_USE_ONCE | PTL_ME_EVENT_LINK_DISABLE | PTL_ME_EVENT_UNLINK_DISABLE;
    me.match_id.phys = {PTL_NID_ANY, PTL_PID_ANY};
    me.match_bits = bits;
    ptl_handle_me_t handle = PTL_INVALID_HANDLE;
    check(api::PtlMEAppend(b_, ni_, 0, &me, PTL_PRIORITY_LIST, nullptr, &handle));
  }
  void bind(unsigned options = 0)
  {
    const ptl_md_t md{buffer_.data(), size_, options, initiator_eq_, PTL_CT_NONE};
    check(api::PtlMDBind(a_, ni_, &md, &md_));
  }
  void put(ptl_match_bits_t bits = 0)
  {
    check(api::PtlPut(a_, md_, 0, size_, PTL_ACK_REQ, b_id_, 0, bits, 0, nullptr, 0));
  }
  void get() { check(api::PtlGet(a_, md_, 0, size_, b_id_, 0, 0, 0, nullptr)); }
  void fetch()
  {
    check(api::PtlFetchAtomic(a_, md_, 0, md_, 0, size_, b_id_, 0, 0, 0, nullptr, 0, PTL_SUM, PTL_UINT64_T));
  }
  void initiator_event() { check(api::PtlEQWait(a_, initiator_eq_, &event_)); }
  void target_event() { check(api::PtlEQWait(b_, target_eq_, &event_)); }

private:
  std::size_t size_;
  sim::Timeline timeline_;
  SteppingHost host_{timeline_};
  Fabric fabric_{timeline_, host_, 2};
  ConstantNetwork model_{timeline_};
  Process a_{fabric_, 0, 0, 0};
  Process b_{fabric_, 1, 1, 0};
  ptl_handle_ni_t ni_ = PTL_INVALID_HANDLE; // the same value in both
  ptl_handle_eq_t initiator_eq_ = PTL_EQ_NONE;
  ptl_handle_eq_t target_eq_ = PTL_EQ_NONE;
  ptl_handle_md_t md_ = PTL_INVALID_HANDLE;
  ptl_process_t b_id_{};
  ptl_event_t event_{};
  std::vector<char> memory_;
  std::vector<char> buffer_;
};

void put_waitack(benchmark::State& state)
{
  Bench bench(static_cast<std::size_t>(state.range(0)));
  bench.post(1);
  bench.bind();
  for ([[maybe_unused]] auto _ : state) {
    bench.put();
    bench.initiator_event(); // SEND
    bench.initiator_event(); // ACK
    bench.target_event();
  }
}
BENCHMARK(put_waitack)->Arg(8)->Arg(4096)->Arg(1 << 20);

// Always range(0) puts in flight.
void put_nowait(benchmark::State& state)
{
  Bench bench;
  bench.post(1);
  bench.bind(PTL_MD_EVENT_SEND_DISABLE);
  for (std::int64_t i = 0; i < state.range(0); ++i)
    bench.put();
  for ([[maybe_unused]] auto _ : state) {
    bench.put();
    bench.initiator_event(); // ACK
    bench.target_event();
  }
}
BENCHMARK(put_nowait)->Arg(100)->Arg(1000)->Arg(10000)->Arg(100000);

void get_waitreply(benchmark::State& state)
{
  Bench bench(static_cast<std::size_t>(state.range(0)));
  bench.post(1);
  bench.bind();
  for ([[maybe_unused]] auto _ : state) {
    bench.get();
    bench.initiator_event();
    bench.target_event();
  }
}
BENCHMARK(get_waitreply)->Arg(8)->Arg(1 << 20);

void fetch_atomic(benchmark::State& state)
{
  Bench bench;
  bench.post(1);
  bench.bind(PTL_MD_EVENT_SEND_DISABLE);
  for ([[maybe_unused]] auto _ : state) {
    bench.fetch();
    bench.initiator_event();
    bench.target_event();
  }
}
BENCHMARK(fetch_atomic);

// The message takes the last of range(0) posted entries.
void match_last(benchmark::State& state)
{
  Bench bench;
  bench.post(static_cast<unsigned>(state.range(0)));
  bench.bind(PTL_MD_EVENT_SEND_DISABLE);
  const auto last = static_cast<ptl_match_bits_t>(state.range(0) - 1);
  for ([[maybe_unused]] auto _ : state) {
    bench.put(last);
    bench.initiator_event();
    bench.target_event();
  }
}
BENCHMARK(match_last)->Arg(1)->Arg(1000);

// A use-once entry is appended behind range(0) others and taken, as a receive is.
void append_and_match(benchmark::State& state)
{
  Bench bench;
  bench.post(static_cast<unsigned>(state.range(0)), 1);
  bench.bind(PTL_MD_EVENT_SEND_DISABLE);
  for ([[maybe_unused]] auto _ : state) {
    bench.post_once(0);
    bench.put(0);
    bench.initiator_event();
    bench.target_event();
  }
}
BENCHMARK(append_and_match)->Arg(0)->Arg(1000);

} // namespace

BENCHMARK_MAIN();
