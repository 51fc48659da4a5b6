// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/observe/now.h"

#include <nlohmann/json.hpp>

namespace umwelt::observe
{

std::string now_json(const Now& now, const std::string& report)
{
  using Json = nlohmann::ordered_json;
  Json states = Json::array();
  Json calls = Json::array();
  Json since = Json::array();
  for (const RankNow& rank : now.ranks) {
    states.push_back(rank.state);
    calls.push_back(rank.call);
    since.push_back(rank.since);
  }
  const Json json{
      {"state", now.state},
      {"note", now.note},
      {"exit_code", now.exit_code},
      {"wall_seconds", now.wall_seconds},
      {"simulated_ps", now.simulated},
      {"events", now.events},
      {"ranks", {{"state", std::move(states)}, {"call", std::move(calls)}, {"since_ps", std::move(since)}}}};
  return "{\"now\": " + json.dump(-1, ' ', false, Json::error_handler_t::replace) + ", \"report\": " + report + "}";
}

} // namespace umwelt::observe
