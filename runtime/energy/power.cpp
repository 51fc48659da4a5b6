// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/energy/power.h"

namespace umwelt::energy
{

std::string Power::activity_name(Activity activity) const
{
  switch (activity) {
  case computing:
    return "computing";
  case communicating:
    return "communicating";
  case waiting:
    return "waiting";
  default:
    return kernels[activity - first_kernel];
  }
}

void set_linear(PowerState& state, double epsilon, double all, std::size_t cores)
{
  state.busy.clear();
  for (std::size_t busy = 1; busy < cores; ++busy)
    state.busy.push_back(epsilon + static_cast<double>(busy) / static_cast<double>(cores) * (all - epsilon));
  state.busy.push_back(all);
}

} // namespace umwelt::energy
