// SPDX-License-Identifier: LGPL-2.1-or-later
// Measurements of a NIC: CSV files in, one time per message size out.
//
// Columns are found by their names in the first line, so that files of the original programs, of ptlbench and of a
// user's own can be read alike:
//   size   "message size (B)", "Msg size (B)" or "size (B)"
//   time   per message: "Latency (us)" or "time (us)" (also with µ); else from "message rate (kmsg/s)"
//   rank   optional; where several ranks wrote lines, only those of the initiator count
// All other columns are ignored. Several lines of one size are repetitions: their median counts.
#pragma once

#include <cstdint>
#include <istream>
#include <map>
#include <set>
#include <string>

namespace umwelt::net
{

using Series = std::map<std::uint64_t, double>; // message size in bytes to microseconds per message

// `name` stands for the file in messages. `ranks`: only lines of these count; needed if there are lines of several
// ranks. Throws std::invalid_argument (file, line, expected, got, next step).
Series read_series(std::istream& stream, const std::string& name, const std::set<std::uint64_t>& ranks = {});
Series load_series(const std::string& path, const std::set<std::uint64_t>& ranks = {});

// exp(mean |ln(predicted / measured)|) - 1 over the sizes both have; 0 if there are none.
double mean_error(const Series& predicted, const Series& measured);

} // namespace umwelt::net
