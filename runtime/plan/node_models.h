// SPDX-License-Identifier: LGPL-2.1-or-later
// Which network model nodes have, and from when on: --model, --nodes, --model-at, --model-region (node_plan.h).
//
//   MODEL   NAME[:KEY=VALUE,...]; the name alone of what --model says means that with its --nic
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/plan/node_plan.h"

namespace umwelt::plan
{

struct RunOptions;

struct ModelChoice : NodeChoice {
  std::string name;       // of a model
  std::string parameters; // "KEY=VALUE,..."; with `has_parameters`
  bool has_parameters = false;
};
using TimedModel = Timed<ModelChoice>;
using RegionModel = Placed<ModelChoice>;

// Throw UsageError, naming `option` as the user wrote it.
ModelChoice parse_node_model(std::string_view option, std::string_view text);
TimedModel parse_timed_model(std::string_view option, std::string_view text);
RegionModel parse_region_model(std::string_view option, std::string_view text);
ModelChoice parse_model_choice(std::string_view option, std::string_view text); // [NODES=]MODEL, not `rest`

// All of that for the nodes of a run.
struct NodeModels : NodePlan {
  struct Entry {
    std::string name;
    std::string parameters;
    bool own_nic = true; // the parameters are those of --nic
    std::string text;    // where it came from
  };
  std::vector<Entry> kinds; // the first is that of --model
  bool ctl = false;         // others may come while it runs

  [[nodiscard]] bool mixed() const { return kinds.size() > 1; }
  [[nodiscard]] bool change() const { return !changes.empty() || !regions.empty() || ctl; }
  // Index of the kind that a choice means, made if it is new. Throws UsageError: more than 255.
  Kind kind_of(const ModelChoice& choice);
};

// `nodes`: of the platform. Throws UsageError.
NodeModels plan_node_models(const RunOptions& options, std::uint32_t nodes, RegionFunctions& functions);

} // namespace umwelt::plan
