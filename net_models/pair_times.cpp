// SPDX-License-Identifier: LGPL-2.1-or-later
#include "net_models/pair_times.h"

#include <array>
#include <limits>
#include <memory>
#include <optional>

#include "net_models/catalogue.h"
#include "platforms/platform.h"

namespace umwelt::net
{

namespace
{

// A put whose target takes all of it, and its event.
class Put final : public TransferClient, public HostWrite
{
public:
  Put(sim::Timeline& timeline, Model& model) : timeline_(timeline), model_(model) {}

  // The time it takes; nothing: more than the timeline has to be asked.
  std::optional<SimTime> time(NodeIndex from, NodeIndex to, std::uint64_t payload)
  {
    seen_ = -1;
    Transfer transfer;
    address(transfer, from, to);
    transfer.payload = payload;
    const SimTime begin = timeline_.now();
    const SimTime issue = model_.issue_cost(transfer);
    if (!model_.start(transfer))
      return std::nullopt;
    while (!model_.external_pending() && timeline_.step()) {
    }
    if (seen_ < 0)
      return std::nullopt;
    return issue + (seen_ - begin) + model_.take_cost(WriteKind::full_event);
  }

  // Between the events of many without payload; 0: as above.
  SimTime gap(NodeIndex from, NodeIndex to)
  {
    constexpr std::size_t many = 17;
    seen_ = -1;
    std::array<Transfer, many> transfers;
    for (Transfer& transfer : transfers) {
      address(transfer, from, to);
      if (!model_.start(transfer))
        return 0;
    }
    SimTime first = -1;
    while (!model_.external_pending() && timeline_.step())
      if (first < 0)
        first = seen_;
    return first < 0 ? 0 : (seen_ - first) / static_cast<SimTime>(many - 1);
  }

  void source_read(Transfer&) override {}
  void header_arrived(Transfer& transfer) override { transfer.deposit = transfer.payload; }
  void delivered(Transfer& transfer) override { model_.write_to_host(transfer.target, WriteKind::full_event, *this); }
  void failed(Transfer&, TransferFailure) override {}
  void visible() override { seen_ = timeline_.now(); }

private:
  void address(Transfer& transfer, NodeIndex from, NodeIndex to)
  {
    transfer.client = this;
    transfer.source = from;
    transfer.target = to;
    transfer.target_process = 1;
  }

  sim::Timeline& timeline_;
  Model& model_;
  SimTime seen_ = -1;
};

} // namespace

PairTime pair_time(std::string_view model, const platform::Platform& platform, const NetworkFactors& factors,
                   const Parameters& parameters, NodeIndex from, NodeIndex to)
{
  constexpr std::uint64_t less = std::uint64_t{1} << 20;
  constexpr std::uint64_t more = 2 * less;
  sim::Timeline timeline;
  const std::unique_ptr<Model> made = make_model(model, {timeline, platform, nullptr, nullptr, factors}, parameters);
  Put put(timeline, *made);
  const platform::Route& route = platform.route(from, to);
  PairTime result{put.time(from, to, 0).value_or(route.latency), route.bandwidth};
  if (made->has_external())
    return result;
  result.gap = put.gap(from, to);
  const SimTime growth = put.time(from, to, more).value_or(0) - put.time(from, to, less).value_or(0);
  result.bandwidth =
      growth > 0 ? static_cast<double>(more - less) / sim::to_seconds(growth) : std::numeric_limits<double>::infinity();
  return result;
}

} // namespace umwelt::net
