// SPDX-License-Identifier: LGPL-2.1-or-later
// The formats of a trace file.
#pragma once

#include <optional>
#include <string_view>

namespace umwelt::observe
{

enum class TraceFormat {
  csv,      // S4BXI's columns and operation types, for its viewers and for spreadsheets
  perfetto, // Perfetto's TrackEvent protobuf, for ui.perfetto.dev
};

// By the name of the file: .csv; .pftrace, .perfetto-trace or .pb.
constexpr std::optional<TraceFormat> trace_format_of(std::string_view path)
{
  if (path.ends_with(".csv"))
    return TraceFormat::csv;
  if (path.ends_with(".pftrace") || path.ends_with(".perfetto-trace") || path.ends_with(".pb"))
    return TraceFormat::perfetto;
  return std::nullopt;
}

} // namespace umwelt::observe
