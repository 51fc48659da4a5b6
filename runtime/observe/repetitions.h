// SPDX-License-Identifier: LGPL-2.1-or-later
// What several runs of one job say together (--repeat): the median, and an interval that holds the median of all runs
// one could make, with a confidence that depends on how many there were and on nothing that would have to be assumed of
// their distribution (W. J. Conover, Practical Nonparametric Statistics, 3rd edition, 1999, section 3.2: the k-th
// smallest and the k-th largest of n miss the median with probability 2 P(B <= k - 1), B binomial of n and 1/2).
#pragma once

#include <span>
#include <string>
#include <vector>

namespace umwelt::observe
{

struct Interval {
  double median = 0;
  double low = 0;
  double high = 0;
  double confidence = 0; // of low to high: at least `wanted_confidence`, or, with too few values, what all of them give
};

inline constexpr double wanted_confidence = 0.95;

// `values`: one or more, in any order.
[[nodiscard]] Interval interval_of(std::vector<double> values);

// One line for people about one run, a report as report_json() has made it: how it ended, what it took.
[[nodiscard]] std::string run_text(const std::string& report);
// A table for people, of such reports; empty unless two have come to their end.
[[nodiscard]] std::string repetitions_text(std::span<const std::string> reports);
// For programs: {"report_version", "repetitions", "confidence", "simulated_ps": {"median", "low", "high"}, likewise
// others, "runs": [the reports]}; all but "runs" of those that have come to their end.
[[nodiscard]] std::string repetitions_json(std::span<const std::string> reports);

} // namespace umwelt::observe
