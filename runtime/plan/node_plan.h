// SPDX-License-Identifier: LGPL-2.1-or-later
// What nodes have, and from when on: network models (node_models.h), and ways to count computing (node_cpus.h). What
// they have is a number here, of a list that is kept there.
//
//   NODES                       numbers and ranges separated by commas (0-15,20), or `rest`: those that no other names
//   TIME:[NODES=]WHAT           from that simulated time on
//   WHERE=[NODES=]WHAT          of the node of a rank, while that is at WHERE:
//     N                         it has called MPI_Pcontrol(N), and not MPI_Pcontrol with another level since
//     FUNCTION#N                it has come back from the N-th call of that function
//     FROM..TO                  it has come back from FROM and not called TO since
// A function is one of MPI, or of the program or its libraries, by its symbol.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/base/time.h"

namespace umwelt::plan
{

// Nodes are ranges, both ends included; empty: all of them.
struct NodeSet {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
  bool rest = false;
  [[nodiscard]] bool all() const { return ranges.empty() && !rest; }
};

struct NodeChoice {
  std::string text; // the option and its value, for messages
  NodeSet nodes;
};

struct Where {
  enum class Kind : std::uint8_t { level, after, between };
  Kind kind = Kind::level;
  std::int64_t level = 0;  // of MPI_Pcontrol
  std::string function;    // after which
  std::string until;       // of between: before which
  std::uint64_t count = 0; // of after
};

// Throw UsageError, naming `option` as the user wrote it. What is left of the text is WHAT.
std::string_view parse_nodes(std::string_view option, std::string_view text, NodeSet& nodes);          // NODES=, wanted
std::string_view parse_optional_nodes(std::string_view option, std::string_view text, NodeSet& nodes); // [NODES=]
std::string_view parse_time(std::string_view option, std::string_view text, sim::SimTime& time);       // TIME:
std::string_view parse_where(std::string_view option, std::string_view text, Where& where);            // WHERE=
// A function of MPI or of the program, by its symbol.
std::string read_function(std::string_view option, std::string_view text);

// Likewise, with what WHAT is, as `parse` reads it after its [NODES=].
template <class Choice> struct Timed {
  sim::SimTime at = 0;
  Choice choice;
};
template <class Choice> struct Placed {
  Where where;
  Choice choice;
};
template <class Choice>
Timed<Choice> parse_timed(std::string_view option, std::string_view text,
                          Choice (*parse)(std::string_view option, std::string_view text))
{
  Timed<Choice> timed;
  timed.choice = parse(option, parse_time(option, text, timed.at));
  timed.choice.text = std::string(option) + " " + std::string(text);
  return timed;
}
template <class Choice>
Placed<Choice> parse_placed(std::string_view option, std::string_view text,
                            Choice (*parse)(std::string_view option, std::string_view text))
{
  Placed<Choice> placed;
  placed.choice = parse(option, parse_where(option, text, placed.where));
  placed.choice.text = std::string(option) + " " + std::string(text);
  return placed;
}

// "solve,MPI_Barrier" of an option: each once, none of MPI, whose calls are in a trace anyway. Throws UsageError.
void add_functions(std::string_view option, std::string_view text, std::vector<std::string>& functions);

// Functions of regions, by numbers: those of MPI have theirs (umw_mpi_function), others follow them.
class RegionFunctions
{
public:
  // Makes one if there is none.
  std::uint32_t number_of(const std::string& function);
  // That are not of MPI, in the order of their numbers.
  [[nodiscard]] const std::vector<std::string>& others() const { return others_; }

private:
  std::vector<std::string> others_;
};

struct NodePlan {
  using Kind = std::uint8_t;
  struct Change {
    sim::SimTime at = 0;
    std::vector<std::uint32_t> nodes;
    Kind kind = 0;
    std::string text;
  };
  struct Region {
    Where where;
    std::uint32_t function = 0; // by RegionFunctions
    std::uint32_t until = 0;
    std::vector<bool> nodes;
    Kind kind = 0;
    std::string text;
  };
  std::vector<Kind> of_node;   // at the beginning
  std::vector<Change> changes; // by time
  std::vector<Region> regions; // in the order given

  // Numbers of the nodes it is for. Throws UsageError: there is no such node.
  [[nodiscard]] std::vector<std::uint32_t> nodes_of(const NodeChoice& choice) const;
  // Throw as nodes_of().
  void add_change(sim::SimTime at, const NodeChoice& choice, Kind kind);
  void add_region(const Where& where, const NodeChoice& choice, Kind kind, RegionFunctions& functions);
};

// Some begin or end at functions of MPI.
bool has_mpi(const std::vector<NodePlan::Region>& regions);

} // namespace umwelt::plan
