// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/report/middle_run.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "runtime/report/member.h"

namespace umwelt::report
{

std::size_t middle_of(const nlohmann::ordered_json& runs)
{
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < runs.size(); ++i)
    if (number(runs[i], "exit_code") == 0)
      order.push_back(i);
  if (order.empty()) {
    order.resize(runs.size());
    std::iota(order.begin(), order.end(), 0U);
  }
  std::stable_sort(order.begin(), order.end(), [&runs](std::size_t a, std::size_t b) {
    return number(runs[a], "simulated_ps") < number(runs[b], "simulated_ps");
  });
  return order[(order.size() - 1) / 2];
}

const nlohmann::ordered_json& middle_run(const nlohmann::ordered_json& report)
{
  const nlohmann::ordered_json* const runs = array(report, "runs");
  return runs == nullptr ? report : (*runs)[middle_of(*runs)];
}

} // namespace umwelt::report
