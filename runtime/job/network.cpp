// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/network.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "net_models/catalogue.h"
#include "net_models/pair_times.h"
#include "runtime/base/parameters.h"

namespace umwelt::job
{

namespace
{

Parameters nic_parameters(const plan::RunOptions& options)
{
  Parameters parameters;
  parameters.add_settings(options.nic, "--nic");
  return parameters;
}

net::NetworkFactors network_factors(const plan::RunOptions& options)
{
  net::NetworkFactors factors;
  const auto read = [&factors](std::string_view option, const std::vector<platform::LinkFactor>& list, double& all) {
    for (const platform::LinkFactor& one : list) {
      if (one.links.empty())
        all = one.factor;
      else if (factors.of_some_links.empty())
        factors.of_some_links = fmt::format("{} {}={}", option, one.links, one.factor);
    }
  };
  read("--latency-factor", options.link_factors.latency, factors.latency);
  read("--bandwidth-factor", options.link_factors.bandwidth, factors.bandwidth);
  return factors;
}

} // namespace

Network::Network(const plan::Plan& plan, sim::Timeline& timeline, net::CommandQueueListener& listener,
                 net::Observer* observer, net::LinkLoad* load)
    : plan_(plan), timeline_(timeline),
      context_{timeline, *plan.platform, &listener, observer, network_factors(plan.options), plan.failures.get(), load},
      models_(plan.models)
{
  if (!models_.mixed() && !models_.change()) {
    model_ = make({plan.options.model, {}, true, {}});
    return;
  }
  std::vector<std::unique_ptr<net::Model>> made;
  made.reserve(models_.kinds.size());
  for (const plan::NodeModels::Entry& kind : models_.kinds)
    made.push_back(make(kind));
  auto mixed = std::make_unique<net::MixedModel>(timeline, std::move(made), assignment_of(models_), models_.change());
  mixed_ = mixed.get();
  model_ = std::move(mixed);
  if (!models_.regions.empty())
    regions_ = std::make_unique<NodeRegions>(models_, mixed_->assignment());
}

std::unique_ptr<net::Model> Network::make(const plan::NodeModels::Entry& kind) const
{
  if (kind.own_nic)
    return net::make_model(kind.name, context_, nic_parameters(plan_.options));
  Parameters parameters;
  parameters.add(kind.parameters, kind.text);
  return net::make_model(kind.name, context_, parameters);
}

net::MixedModel::Index Network::index_of(const plan::ModelChoice& choice)
{
  const std::size_t before = models_.kinds.size();
  const std::uint8_t kind = models_.kind_of(choice);
  if (models_.kinds.size() > before) {
    try {
      mixed_->add(make(models_.kinds.back()));
    } catch (...) {
      models_.kinds.pop_back();
      throw;
    }
  }
  return kind;
}

std::size_t Network::set(const plan::ModelChoice& choice, sim::SimTime now)
{
  const std::vector<std::uint32_t> nodes = models_.nodes_of(choice);
  const net::MixedModel::Index index = index_of(choice);
  mixed_->assignment().set(nodes, index, now);
  return nodes.size();
}

std::string Network::name_of(net::MixedModel::Index index) const
{
  const plan::NodeModels::Entry& kind = models_.kinds[index];
  return kind.parameters.empty() ? kind.name : fmt::format("{}:{}", kind.name, kind.parameters);
}

net::PairTime Network::pair_time(net::NodeIndex from, net::NodeIndex to) const
{
  return net::pair_time(plan_.options.model, *plan_.platform, context_.factors, nic_parameters(plan_.options), from,
                        to);
}

mpi::PairTimes Network::pair_times() const
{
  const std::vector<plan::RankPlace>& places = plan_.placement.ranks;
  const auto other = std::find_if(places.begin(), places.end(),
                                  [&](const plan::RankPlace& place) { return place.node != places.front().node; });
  const net::NodeIndex from = places.front().node;
  const net::NodeIndex to = other == places.end() ? from : other->node;
  const net::PairTime time = pair_time(from, to);
  return {sim::to_seconds(time.latency), time.bandwidth};
}

observe::ModelsRecord Network::record() const
{
  observe::ModelsRecord record;
  if (mixed_ == nullptr)
    return record;
  for (std::size_t kind = 0; kind < models_.kinds.size(); ++kind) {
    const auto nodes = std::count(models_.of_node.begin(), models_.of_node.end(), kind);
    record.models.push_back({name_of(static_cast<net::MixedModel::Index>(kind)), static_cast<std::size_t>(nodes)});
  }
  record.changes = changes_of(mixed_->assignment(), [this](auto index) { return name_of(index); });
  record.not_reached = not_reached(models_, mixed_->assignment(), regions_.get());
  record.handed_over = mixed_->counts().handed_over;
  record.held = mixed_->counts().held;
  return record;
}

} // namespace umwelt::job
