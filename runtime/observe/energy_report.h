// SPDX-License-Identifier: LGPL-2.1-or-later
// What a run has drawn and cost: the part of summary and report.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "runtime/observe/statistics.h"

namespace umwelt::observe
{

// Lines of the summary; none where nothing is known of it.
std::string energy_lines(const JobRecord& job);
// The report's `energy`. Joules, watts; runtime/energy/README.md describes it.
nlohmann::ordered_json energy_json(const EnergyRecord& energy, sim::SimTime simulated);

// "12.3 kJ", "1.5 MW"; three or four digits.
std::string show_joules(double joules);
std::string show_watts(double watts);

} // namespace umwelt::observe
