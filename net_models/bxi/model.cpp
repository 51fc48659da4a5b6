// SPDX-License-Identifier: LGPL-2.1-or-later
#include "net_models/bxi/model.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "net_models/bxi/fabric.h"
#include "net_models/bxi/nic.h"
#include "net_models/fluid/fabric.h"
#include "net_models/packet/fabric.h"

namespace umwelt::net
{

BxiModel::BxiModel(const ModelContext& context, const BxiParameters& parameters)
    : context_(context), parameters_(parameters), observation_(context, parameters_), fabric_(make_fabric()),
      tracked_(parameters.e2e && (fabric_->faulty() || parameters.e2e_entries != 0 || parameters.inflight_node != 0 ||
                                  parameters.inflight_process != 0)),
      nics_(context.platform.node_count())
{
  const auto at_least_one = [](const char* key, std::uint64_t value, std::uint64_t most) {
    if (value == 0 || value > most)
      throw std::invalid_argument(
          fmt::format("parameter {} of model bxi: expected 1 to {}, got {}. Correct the value.", key, most, value));
  };
  at_least_one("rx_engines", parameters_.rx_engines, Nic::most_engines);
  at_least_one("queue_depth", parameters_.queue_depth, std::uint64_t{1} << 32);
  at_least_one("packet", parameters_.packet, std::uint64_t{1} << 32);
  at_least_one("page", parameters_.page, std::uint64_t{1} << 32);
  if (parameters_.coding == 0)
    throw std::invalid_argument(
        "parameter coding of model bxi: expected a fraction above 0, got 0. Correct the value.");
  service_ = BxiService(parameters_);
  if (!parameters_.pci) {
    parameters_.pci_latency = 0;
    parameters_.pci_read = 0;
    parameters_.dma_gap = 0;
    parameters_.page_miss = 0;
    parameters_.small_walk = 0;
    parameters_.small_miss = 0;
    parameters_.rx_page_gap = 0;
    parameters_.flush_time = 0;
  }
  fabric_->tell(context_.load);
  for (Nic& nic : nics_) {
    nic.model = this;
    nic.entries.left = parameters_.e2e_entries;
  }
}

BxiModel::~BxiModel() = default;

// What a platform says of its switches is not asked for by the user, who may look at it with either fabric.
void BxiParameters::check_effect(const Parameters& given) const
{
  if (fabric != "occupancy")
    return;
  for (const auto& [key, value] : given.values())
    if (key.starts_with("fabric_"))
      throw std::invalid_argument(fmt::format("{}: parameter {}: expected it with --fabric packet, got the fabric "
                                              "occupancy, in which it has no effect. Say --fabric packet, or leave it "
                                              "out.",
                                              value.origin, key));
}

std::unique_ptr<Fabric> BxiModel::make_fabric()
{
  Fabric::Client& client = *this;
  if (parameters_.fabric == "occupancy")
    return std::make_unique<BxiFabric>(context_.platform, parameters_, context_.timeline, client, context_.failures);
  const bool packets = parameters_.fabric == "packet";
  if (!packets && parameters_.fabric != "flow")
    throw std::invalid_argument(
        fmt::format("parameter fabric of model bxi: expected occupancy, flow or packet, got '{}'. Correct the value.",
                    parameters_.fabric));
  if (context_.failures != nullptr)
    throw std::invalid_argument(
        fmt::format("--fabric {}: expected links that do not fail, got --fault or a state profile of "
                    "the platform. Take --fabric occupancy, or leave one of them out.",
                    parameters_.fabric));
  if (BxiFaults(parameters_).any())
    faults_ = std::make_unique<BxiLinkFaults>(context_.platform, parameters_);
  const Framing framing{parameters_.coding, parameters_.header, parameters_.packet + parameters_.packet_header};
  if (packets)
    return std::make_unique<PacketFabric>(context_.platform, parameters_.switches, framing, parameters_.seed,
                                          faults_.get(), context_.timeline, client);
  return std::make_unique<FluidFabric>(context_.platform, framing, faults_.get(), context_.timeline, client);
}

void BxiFlight::fire()
{
  model->advance(*this);
}

void BxiNic::fire()
{
  model->serve(*this);
}

void BxiModel::advance(Flight& flight)
{
  switch (flight.stage) {
  case Stage::inject:
    return inject(flight);
  case Stage::depart:
    return depart(flight);
  case Stage::head:
    return travel(flight);
  case Stage::fabric:
    if (!fabric_->pass(flight.passage))
      return lose(flight, TransferFailure::undeliverable);
    return travel(flight);
  case Stage::arrive:
    return arrive(flight);
  case Stage::write:
    return deliver(flight);
  case Stage::handed_over:
    return;
  case Stage::acknowledged:
    return acknowledged(flight);
  case Stage::resend:
    return resend(flight);
  case Stage::blocked:
    return enqueue(flight);
  }
}

void BxiModel::write_to_host(NodeIndex node, WriteKind kind, HostWrite& write)
{
  Nic& nic = nics_[node];
  const SimTime gap = kind == WriteKind::full_event ? parameters_.event_gap : parameters_.counter_gap;
  const SimTime written = nic.engine.write(cause(), gap, nic.commands_wait()) + flush_;
  observation_.event(node, written);
  nic.writes.post(context_.timeline, written + parameters_.pci_latency, write);
}

} // namespace umwelt::net
