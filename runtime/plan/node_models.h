// SPDX-License-Identifier: LGPL-2.1-or-later
// Which network model nodes have, and from when on: --model, --nodes, --model-at, --model-region.
//
//   MODEL   NAME[:KEY=VALUE,...]; the name alone of what --model says means that with its --nic
//   NODES   numbers and ranges separated by commas (0-15,20), or `rest`: those that no other --nodes names
//   --nodes NODES=MODEL                     from the beginning
//   --model-at TIME:[NODES=]MODEL           from that simulated time on
//   --model-region WHERE=[NODES=]MODEL      of the node of a rank, while that is at WHERE:
//     N              it has called MPI_Pcontrol(N), and not MPI_Pcontrol with another level since
//     FUNCTION#N     it has come back from the N-th call of that function of MPI
//     FROM..TO       it has come back from FROM and not called TO since
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/base/time.h"

namespace umwelt::plan
{

struct RunOptions;

// What an option says. Nodes are ranges, both ends included; empty: all of them.
struct NodeSet {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
  bool rest = false;
  [[nodiscard]] bool all() const { return ranges.empty() && !rest; }
};
struct ModelChoice {
  std::string text; // the option and its value, for messages
  NodeSet nodes;
  std::string name;       // of a model
  std::string parameters; // "KEY=VALUE,..."; with `has_parameters`
  bool has_parameters = false;
};
struct TimedModel {
  sim::SimTime at = 0;
  ModelChoice choice;
};
struct RegionModel {
  enum class Kind : std::uint8_t { level, after, between };
  Kind kind = Kind::level;
  std::int64_t level = 0;     // of MPI_Pcontrol
  std::uint32_t function = 0; // umw_mpi_function: after which
  std::uint32_t until = 0;    // likewise, of between
  std::uint64_t count = 0;    // of after
  ModelChoice choice;
};

// Throw UsageError, naming `option` as the user wrote it.
ModelChoice parse_node_model(std::string_view option, std::string_view text);
TimedModel parse_timed_model(std::string_view option, std::string_view text);
RegionModel parse_region_model(std::string_view option, std::string_view text);
ModelChoice parse_model_choice(std::string_view option, std::string_view text); // [NODES=]MODEL, not `rest`

// All of that for the nodes of a run.
struct NodeModels {
  struct Kind {
    std::string name;
    std::string parameters;
    bool own_nic = true; // the parameters are those of --nic
    std::string text;    // where it came from
  };
  struct Change {
    sim::SimTime at = 0;
    std::vector<std::uint32_t> nodes;
    std::uint8_t kind = 0;
    std::string text;
  };
  struct Region {
    RegionModel where;
    std::vector<bool> nodes;
    std::uint8_t kind = 0;
  };
  std::vector<Kind> kinds;           // the first is that of --model
  std::vector<std::uint8_t> of_node; // at the beginning
  std::vector<Change> changes;       // by time
  std::vector<Region> regions;       // in the order given
  bool ctl = false;                  // others may come while it runs

  [[nodiscard]] bool mixed() const { return kinds.size() > 1; }
  [[nodiscard]] bool change() const { return !changes.empty() || !regions.empty() || ctl; }
  // Index of the kind that a choice means, made if it is new. Throws UsageError: more than 255.
  std::uint8_t kind_of(const ModelChoice& choice);
  // Numbers of the nodes it is for. Throws UsageError: there is no such node.
  [[nodiscard]] std::vector<std::uint32_t> nodes_of(const ModelChoice& choice) const;
};

// `nodes`: of the platform. Throws UsageError.
NodeModels plan_node_models(const RunOptions& options, std::uint32_t nodes);

} // namespace umwelt::plan
