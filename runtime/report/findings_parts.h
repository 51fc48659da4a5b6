// SPDX-License-Identifier: LGPL-2.1-or-later
// What findings.cpp puts together: each looks at one side of a run and adds what it finds there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "runtime/report/findings.h"

namespace umwelt::report
{

using Json = nlohmann::ordered_json;

// findings_trouble.cpp: it did not end well, or its figures are doubtful.
void find_deadlock(const Json& run, std::vector<Finding>& found);
void find_failure(const Json& run, std::vector<Finding>& found);
void find_doubt(const Json& run, std::vector<Finding>& found);

// findings_ranks.cpp: what ranks do to each other.
void find_imbalance(const Json& run, std::vector<Finding>& found);
void find_lateness(const Json& run, std::vector<Finding>& found);
void find_polling(const Json& run, std::vector<Finding>& found);
void find_beginning(const Json& run, std::vector<Finding>& found);

// findings_network.cpp: NICs, links, collectives.
void find_refusals(const Json& run, std::vector<Finding>& found);
void find_hot_links(const Json& run, std::vector<Finding>& found);
void find_bounds(const Json& run, std::vector<Finding>& found);
void find_collectives(const Json& run, std::vector<Finding>& found);

// "37 %", "0.4 %"
std::string percent(double share);
// Time that all ranks ran, ps.
double life_of(const Json& run);
std::size_t ranks_in(const Json& run);
std::string plural(std::uint64_t count, const std::string& what);
// "rank 3", "ranks 3, 4 and 5", "ranks 0, 1, 2 and 5 others"
std::string list_of_ranks(const std::vector<std::int64_t>& ranks);

} // namespace umwelt::report
