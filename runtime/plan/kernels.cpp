// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/plan/kernels.h"

#include <optional>

#include "runtime/base/usage_error.h"
#include "runtime/kernels/watching.h"

namespace umwelt::plan
{

std::shared_ptr<const kernels::Kernels> read_kernels(const RunOptions& options)
{
  if (options.kernels_files.empty() && !options.watch)
    return nullptr;
  if (options.watch) {
    if (!options.cpu.measures())
      throw UsageError("umwelt kernels", "--cpu measured or scale, since it measures calls",
                       "one with which nothing is measured", "Leave --cpu out.");
    return std::make_shared<const kernels::Kernels>(kernels::watched_kernels(options.watch->functions));
  }
  const auto seed = options.seed != 0 ? std::optional(options.seed) : std::nullopt;
  auto kernels = std::make_shared<kernels::Kernels>(kernels::read_kernels(options.kernels_files, seed));
  kernels->speed = options.compute_factor;
  for (const kernels::Kernel& kernel : kernels->list)
    if (kernel.action == kernels::Action::sample && !options.cpu.measures())
      throw UsageError(kernel.where, "--cpu measured or scale, since `action: sample` measures calls",
                       "one with which nothing is measured", "Leave --cpu out, or give a `duration:` instead.");
  return kernels;
}

} // namespace umwelt::plan
