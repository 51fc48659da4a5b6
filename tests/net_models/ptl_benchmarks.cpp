// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/net_models/ptl_benchmarks.h"

#include <deque>
#include <stdexcept>

#include "net_models/core/ring.h"
#include "net_models/parameters.h"

namespace umwelt::net
{

namespace
{

// The initiator's program as a state machine: it issues while it may, otherwise it takes events.
class Initiator final : TransferClient, CommandQueueListener, sim::Event
{
public:
  Initiator(const PtlBenchmark& benchmark, const platform::Platform& platform, const Parameters& parameters,
            std::uint64_t size, std::uint32_t count)
      : benchmark_(benchmark), size_(size), count_(count), window_(benchmark.one_at_a_time ? 1
                                                                   : benchmark.window == 0 ? count
                                                                                           : benchmark.window),
        model_(make_model("bxi", {timeline_, platform, this}, parameters))
  {
  }

  double run()
  {
    next();
    while (completed_ < count_)
      if (!timeline_.step())
        throw std::logic_error(benchmark_.name + ": nothing left to happen before the last completion");
    return sim::to_microseconds(timeline_.now()) / count_;
  }

private:
  struct Operation;
  struct Write final : HostWrite {
    Initiator* owner = nullptr;
    Operation* operation = nullptr; // null: not at the initiator
    bool completes = false;
    void visible() override
    {
      if (operation != nullptr)
        owner->event(*this);
    }
  };
  struct Leg final : Transfer {
    Operation* operation = nullptr;
  };
  struct Operation {
    Leg request;
    Leg response;
    Write sent;
    Write completed;
    Write arrived; // at the target
    int open = 0;  // things that must still happen before the operation may be recycled
  };

  enum class Doing { nothing, issuing, blocked, taking };

  void next()
  {
    if (issued_ < count_ && outstanding_ < window_) {
      doing_ = Doing::issuing;
      current_ = &prepare();
      timeline_.schedule_in(*this, model_->issue_cost(current_->request));
    } else if (!events_.empty()) {
      doing_ = Doing::taking;
      timeline_.schedule_in(*this, model_->take_cost(benchmark_.counting ? WriteKind::counter : WriteKind::full_event));
    } else {
      doing_ = Doing::nothing;
    }
  }

  void fire() override
  {
    if (doing_ == Doing::taking) {
      Write& taken = *events_.pop();
      if (taken.completes) {
        ++completed_;
        --outstanding_;
      }
      close(*taken.operation);
    } else if (!model_->start(current_->request)) {
      doing_ = Doing::blocked;
      return;
    } else {
      ++issued_;
      ++outstanding_;
    }
    next();
  }

  void command_slot_free(NodeIndex) override
  {
    if (doing_ == Doing::blocked)
      timeline_.schedule_in(*this, 0);
  }

  void event(Write& write)
  {
    events_.push(&write);
    if (doing_ == Doing::nothing)
      next();
  }

  Operation& prepare()
  {
    Operation& operation = idle_.empty() ? all_.emplace_back() : *idle_.pop();
    const bool get = benchmark_.kind == TransferKind::get;
    operation.request = {};
    operation.request.operation = &operation;
    operation.request.client = this;
    operation.request.kind = benchmark_.kind;
    operation.request.source = 0;
    operation.request.target = 1;
    operation.request.payload = get ? 0 : size_;
    operation.response = {};
    operation.response.operation = &operation;
    operation.response.client = this;
    operation.response.kind = get ? TransferKind::reply : TransferKind::ack;
    operation.response.source = 1;
    operation.response.target = 0;
    operation.response.payload = get ? size_ : 0;
    operation.response.from_host = false;
    for (Write* write : {&operation.sent, &operation.completed, &operation.arrived})
      write->owner = this;
    operation.sent.operation = operation.completed.operation = &operation;
    operation.completed.completes = true;
    operation.open = 5; // request and response, source read and delivered each, and the completion taken
    if (wants_send())
      ++operation.open;
    return operation;
  }
  [[nodiscard]] bool wants_send() const { return benchmark_.kind == TransferKind::put && benchmark_.send_events; }

  void close(Operation& operation)
  {
    if (--operation.open == 0)
      idle_.push(&operation);
  }

  static Operation& of(const Transfer& transfer) { return *static_cast<const Leg&>(transfer).operation; }

  void source_read(Transfer& transfer) override
  {
    if (!is_response(transfer.kind) && wants_send())
      model_->write_to_host(0, WriteKind::full_event, of(transfer).sent);
    close(of(transfer));
  }
  void header_arrived(Transfer& transfer) override
  {
    transfer.deposit = transfer.payload;
    if (!is_response(transfer.kind))
      transfer.searched = benchmark_.searched;
  }
  void delivered(Transfer& transfer) override
  {
    Operation& operation = of(transfer);
    if (is_response(transfer.kind)) {
      model_->write_to_host(0, benchmark_.counting ? WriteKind::counter : WriteKind::full_event, operation.completed);
    } else {
      if (benchmark_.target_events)
        model_->write_to_host(1, WriteKind::full_event, operation.arrived);
      model_->start(operation.response);
    }
    close(operation);
  }
  void failed(Transfer&, TransferFailure) override { throw std::logic_error(benchmark_.name + ": a transfer failed"); }

  const PtlBenchmark& benchmark_;
  std::uint64_t size_;
  std::uint32_t count_;
  std::uint32_t window_;
  sim::Timeline timeline_;
  std::unique_ptr<Model> model_;
  Doing doing_ = Doing::nothing;
  Operation* current_ = nullptr;
  std::uint32_t issued_ = 0;
  std::uint32_t outstanding_ = 0;
  std::uint32_t completed_ = 0;
  sim::Ring<Write*> events_;
  std::deque<Operation> all_;
  sim::Ring<Operation*> idle_;
};

} // namespace

const std::vector<PtlBenchmark>& ptl_benchmarks()
{
  // PtlPerf differs from the first four in what only its source could tell; inferred from the measurements:
  // ptlperf_ack has no step at 65 B, where SEND moves behind the acknowledgement, so it has no SEND events;
  // it is slower than put_waitack by the time of one event, so the target writes one per message;
  // ptlperf_match is slower still by a constant time per message, which its several MEs explain (15 are passed over).
  static const std::vector<PtlBenchmark> all{
      {.name = "put_waitack"},
      {.name = "put_nowait", .one_at_a_time = false},
      {.name = "get_waitreply", .kind = TransferKind::get},
      {.name = "get_nowait", .kind = TransferKind::get, .one_at_a_time = false},
      {.name = "ptlperf_ack", .send_events = false, .target_events = true},
      {.name = "ptlperf_match",
       .one_at_a_time = false,
       .window = 256,
       .send_events = false,
       .target_events = true,
       .searched = 15},
  };
  return all;
}

double run_ptl_benchmark(const PtlBenchmark& benchmark, const platform::Platform& platform,
                         const Parameters& parameters, std::uint64_t size, std::uint32_t count)
{
  return Initiator(benchmark, platform, parameters, size, count).run();
}

} // namespace umwelt::net
