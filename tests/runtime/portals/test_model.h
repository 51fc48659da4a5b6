// SPDX-License-Identifier: LGPL-2.1-or-later
// A network of constant delays, with knobs for the orders and failures a real model may produce.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "net_models/core/model.h"
#include "runtime/base/pool.h"

namespace umwelt::portals::test
{

class TestModel final : public net::Model
{
public:
  enum class SourceRead { before_header, before_delivery, after_delivery };
  enum class Fate { deliver, fail_at_once, fail_after_source, fail_after_header, fail_before_source };

  TestModel(sim::Timeline& timeline, net::CommandQueueListener& listener) : timeline_(timeline), listener_(listener) {}

  sim::SimTime header_delay = sim::microsecond;
  sim::SimTime payload_delay = sim::microsecond; // from header to delivery
  sim::SimTime write_delay = 100 * sim::nanosecond;
  sim::SimTime issue = 0;
  sim::SimTime take = 0;
  sim::SimTime take_next = 0;
  SourceRead source_read = SourceRead::before_delivery;
  std::size_t queue_depth = ~std::size_t{0};                  // commands of the host under way
  std::function<Fate(const net::Transfer&)> fate;             // null: all are delivered
  std::function<sim::SimTime(const net::Transfer&)> slowness; // added to payload_delay; null: nothing

  bool keep_log = true;
  std::vector<net::Transfer> started; // copies, as handed over
  std::uint64_t deposited = 0;        // sum of deposits
  std::uint32_t searched = 0;         // of the last request

  [[nodiscard]] std::string_view name() const override { return "test"; }
  bool start(net::Transfer& transfer) override;
  bool reserve(net::Transfer& transfer) override;
  void unreserve(net::Transfer& transfer) override;
  [[nodiscard]] sim::SimTime issue_cost(const net::Transfer& transfer) const override
  {
    return transfer.from_host ? issue : 0;
  }
  [[nodiscard]] sim::SimTime take_cost(net::WriteKind) const override { return take; }
  [[nodiscard]] sim::SimTime take_next_cost() const override { return take_next; }
  void write_to_host(net::NodeIndex node, net::WriteKind kind, net::HostWrite& write) override;

  // Transfers under way; those of detached processes too.
  [[nodiscard]] std::size_t in_flight() const { return flights_.in_use(); }
  [[nodiscard]] std::size_t commands() const { return commands_; } // places of the queue that are taken

private:
  enum class Step { read, header, deliver, fail };
  struct Flight final : sim::Event {
    struct Stop {
      sim::SimTime when;
      Step step;
    };
    TestModel* model = nullptr;
    net::Transfer* transfer = nullptr;
    net::NodeIndex node = 0;
    bool command = false;
    std::array<Stop, 4> stops;
    std::size_t count = 0;
    std::size_t next = 0;
    void add(sim::SimTime when, Step step) { stops[count++] = {when, step}; }
    void fire() override { model->advance(*this); }
  };
  struct Write final : sim::Event {
    TestModel* model = nullptr;
    net::HostWrite* write = nullptr;
    void fire() override;
  };

  void advance(Flight& flight);

  sim::Timeline& timeline_;
  net::CommandQueueListener& listener_;
  sim::Pool<Flight> flights_;
  sim::Pool<Write> writes_; // of one delay: the timeline keeps them in order
  std::size_t commands_ = 0;
  std::map<std::pair<net::NodeIndex, net::NodeIndex>, sim::SimTime> last_header_;
};

} // namespace umwelt::portals::test
