// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/plan/kernels.h"

#include <algorithm>
#include <optional>

#include "preload/abi/mpi_calls.h"
#include "runtime/base/usage_error.h"
#include "runtime/kernels/watching.h"
#include "runtime/plan/node_cpus.h"

namespace umwelt::plan
{

namespace
{

kernels::Kernels of_files(const RunOptions& options)
{
  const auto seed = options.seed != 0 ? std::optional(options.seed) : std::nullopt;
  kernels::Kernels kernels = kernels::read_kernels(options.kernels_files, seed);
  kernels.speed = options.compute_factor;
  for (const kernels::Kernel& kernel : kernels.list)
    if (kernel.action == kernels::Action::sample && !always_measures(options))
      throw UsageError(kernel.where, "--cpu measured or scale, since `action: sample` measures calls",
                       "one with which nothing is measured",
                       "Leave --cpu, --cpu-at and --cpu-region out, or give a `duration:` instead.");
  return kernels;
}

} // namespace

std::shared_ptr<kernels::Kernels> read_kernels(const RunOptions& options, const RegionFunctions& marked)
{
  auto kernels = std::make_shared<kernels::Kernels>();
  if (options.watch) {
    if (!always_measures(options))
      throw UsageError("umwelt kernels", "--cpu measured or scale, since it measures calls",
                       "one with which nothing is measured", "Leave --cpu, --cpu-at and --cpu-region out.");
    *kernels = kernels::watched_kernels(options.watch->functions);
  } else if (!options.kernels_files.empty()) {
    *kernels = of_files(options);
  }
  auto mark = static_cast<std::uint32_t>(UMW_MPI_FUNCTIONS);
  for (const std::string& function : marked.others()) {
    kernels::Kernel& kernel = kernels::add_mark(*kernels, function, mark++, "a region that begins or ends at");
    kernel.told = true;
    kernel.traced = std::count(options.trace_functions.begin(), options.trace_functions.end(), function) > 0;
  }
  for (const std::string& function : options.trace_functions)
    if (std::count(marked.others().begin(), marked.others().end(), function) == 0)
      kernels::add_mark(*kernels, function, mark++, "--trace-functions").traced = true;
  return kernels->list.empty() ? nullptr : kernels;
}

} // namespace umwelt::plan
