// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/observe/deadlock_report.h"

#include <nlohmann/json.hpp>

namespace umwelt::observe
{

nlohmann::ordered_json deadlock_json(const JobRecord& job)
{
  nlohmann::ordered_json waits = nlohmann::ordered_json::array();
  for (const DeadlockRecord::Wait& wait : job.deadlock->waits) {
    auto& one = waits.emplace_back(nlohmann::ordered_json{
        {"rank", wait.rank}, {"host", job.ranks.at(wait.rank).host}, {"call", wait.call}, {"since_ps", wait.since}});
    if (!wait.place.empty())
      one["place"] = wait.place;
    one["for"] = wait.others;
  }
  return {{"waits", waits}, {"cycle", job.deadlock->cycle}, {"next_step", job.deadlock->next_step}};
}

} // namespace umwelt::observe
