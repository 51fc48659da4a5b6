// SPDX-License-Identifier: LGPL-2.1-or-later
// Options whose value has a small grammar of its own. All throw UsageError, naming `option` as the user wrote it.
#pragma once

#include <string_view>

#include "runtime/plan/options.h"

namespace umwelt::plan
{

// --map-by: slot|core|hwthread|socket|numa|board|l1cache|l2cache|l3cache|node|ppr:N:{node,socket,...}, then :PE=N,
// :OVERSUBSCRIBE, :NOOVERSUBSCRIBE or :SPAN. In any letter case, as in mpirun.
void apply_map_by(std::string_view option, std::string_view text, RunOptions& run);

// --rank-by: slot, core and what lies within a node, or node.
RankBy parse_rank_by(std::string_view option, std::string_view text);

// --bind-to: true if a rank's threads stay on its own cores, false if they may use the node's (a simulated node has one
// socket).
bool parse_bind_to(std::string_view option, std::string_view text);

// --cpu: measured|none|fixed=NS|scale=F.
engine::CpuPolicy parse_cpu(std::string_view option, std::string_view text);

// --trace-format: perfetto|csv.
observe::TraceFormat parse_trace_format(std::string_view option, std::string_view text);

// "0,4-7": numbers below `ranks` and ranges of them; ascending, each once.
std::vector<std::uint32_t> parse_rank_list(std::string_view option, std::string_view text, std::uint64_t ranks);

// --output-filename: DIR[:nojobid][,nocopy].
OutputFiles parse_output_files(std::string_view option, std::string_view text);

} // namespace umwelt::plan
