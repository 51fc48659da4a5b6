// SPDX-License-Identifier: LGPL-2.1-or-later
// The network model of a run, or those of its nodes (plan/node_models.h).
#pragma once

#include <memory>
#include <vector>

#include "net_models/core/model.h"
#include "net_models/mixed/model.h"
#include "net_models/pair_times.h"
#include "runtime/job/node_regions.h"
#include "runtime/mpi/collective_models.h"
#include "runtime/observe/statistics.h"
#include "runtime/plan/plan.h"

namespace umwelt::job
{

class Network
{
public:
  // The plan outlives it, and so does what models may use. Throws std::invalid_argument: bad parameters.
  // `observer` and `load` are told what NICs do and what links carry; they may be null.
  Network(const plan::Plan& plan, sim::Timeline& timeline, net::CommandQueueListener& listener, net::Observer* observer,
          net::LinkLoad* load);

  [[nodiscard]] net::Model& model() const { return *model_; }
  // Null: all nodes have the same, and keep it.
  [[nodiscard]] net::MixedModel* mixed() const { return mixed_; }

  // Of --model-region; null: there are none.
  [[nodiscard]] NodeRegions* regions() const { return regions_.get(); }

  // One more for `choice`, unless there is such a one. Throws std::invalid_argument or UsageError.
  net::MixedModel::Index index_of(const plan::ModelChoice& choice);
  // The nodes it names have it from `now` on; their number. Throws as above, or if there are no such nodes.
  std::size_t set(const plan::ModelChoice& choice, sim::SimTime now);
  // As users call it: "loggp:L=2us".
  [[nodiscard]] std::string name_of(net::MixedModel::Index index) const;

  // Of the model of --model, of a message alone on the machine.
  [[nodiscard]] net::PairTime pair_time(net::NodeIndex from, net::NodeIndex to) const;
  // The same, between the nodes of the first two ranks that are not on the same one: for models of
  // collectives.
  [[nodiscard]] mpi::PairTimes pair_times() const;

  // For the report; none where all nodes have the same.
  [[nodiscard]] observe::ModelsRecord record() const;

private:
  [[nodiscard]] std::unique_ptr<net::Model> make(const plan::NodeModels::Entry& kind) const;

  const plan::Plan& plan_;
  const sim::Timeline& timeline_;
  const net::ModelContext context_;
  plan::NodeModels models_;
  std::unique_ptr<net::Model> model_;
  net::MixedModel* mixed_ = nullptr;
  std::unique_ptr<NodeRegions> regions_;
};

} // namespace umwelt::job
