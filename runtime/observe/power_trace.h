// SPDX-License-Identifier: LGPL-2.1-or-later
// The power of the simulated machine over time as CSV (--power-trace): what each node draws from which time on,
// whenever that changes, and at the end the network's parts. The integral over a part's lines is the energy that the
// report says it took.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/time.h"
#include "runtime/observe/result_file.h"

namespace umwelt::observe
{

class PowerTrace
{
public:
  // `nodes`: name of each. Throws std::invalid_argument if the file cannot be written.
  PowerTrace(const std::string& path, std::vector<std::string> nodes);

  // From then on. Names of parts that are no nodes: links, switches, nics.
  void add(sim::SimTime at, std::uint32_t node, double watts) { add(at, nodes_[node], watts); }
  void add(sim::SimTime at, const std::string& part, double watts);
  // The run was so long. Throws std::runtime_error if the file is not whole.
  void finish(sim::SimTime end);

  [[nodiscard]] const ResultFile& file() const { return file_; }
  [[nodiscard]] std::uint64_t lines() const { return lines_; }

private:
  ResultFile file_;
  std::vector<std::string> nodes_;
  std::uint64_t lines_ = 0;
};

} // namespace umwelt::observe
