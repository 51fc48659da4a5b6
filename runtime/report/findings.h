// SPDX-License-Identifier: LGPL-2.1-or-later
// What stands out in a run, in words, and what to try: for `umwelt explain`, and for the page.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace umwelt::report
{

struct Finding {
  std::string what;                 // a sentence, with figures
  std::vector<std::string> details; // more of them
  std::string next;                 // what to try; options by their names
  double weight = 0;                // share of the run that it is about; what must be known first is above 1
};

// Of one run as `umwelt run --report` wrote it, those with most weight first. What the report does not have says
// nothing.
std::vector<Finding> findings(const nlohmann::ordered_json& run);

// [{"what", "details": [], "next", "weight"}]
nlohmann::ordered_json findings_json(const std::vector<Finding>& findings);

} // namespace umwelt::report
