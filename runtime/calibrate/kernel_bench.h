// SPDX-License-Identifier: LGPL-2.1-or-later
// Calls of a kernel on cores of this machine, one process for each, all at the same time: what a core can do depends on
// what the others do, and on a machine that computes they do the same.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/calibrate/kernel_measurements.h"
#include "runtime/calibrate/kernel_sizes.h"

namespace umwelt::calibrate
{

struct BenchWishes {
  SizeWishes sizes;
  std::map<std::string, double> fixed; // arguments that are no sizes, too
  unsigned repetitions = 3;
  bool all_cores = true;
  std::optional<std::uint32_t> node; // what this node is called
};

// CPUs that this process may use.
std::vector<int> usable_cpus();

// `function`: of the kernel. Each core makes all calls, `repetitions` times, in an order of its own. Throws
// std::runtime_error if the function ends the process.
KernelMeasurements measure(const kernels::KernelFunction& kernel, void* function, const BenchWishes& wishes);

} // namespace umwelt::calibrate
