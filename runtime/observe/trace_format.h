// SPDX-License-Identifier: LGPL-2.1-or-later
// The formats of a trace file.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace umwelt::observe
{

enum class TraceFormat : std::uint8_t {
  csv,      // S4BXI's columns and operation types, for its viewers and for spreadsheets
  perfetto, // Perfetto's TrackEvent protobuf, for ui.perfetto.dev
  otf2,     // an archive of the Open Trace Format 2, for Vampir, Scalasca, otf2-print
  pcapng,   // packets of sockets, for Wireshark
  paje,     // Paje's events, for the tools of SimGrid's users
};

struct TraceFormatRow {
  TraceFormat format;
  std::string_view name;                   // --trace-format
  std::array<std::string_view, 3> endings; // of names of files; empty: none
  bool shows_calls;                        // of MPI, so these have to be followed
};

inline constexpr auto trace_formats = std::to_array<TraceFormatRow>({
    {TraceFormat::csv, "csv", {".csv"}, false},
    {TraceFormat::perfetto, "perfetto", {".pftrace", ".perfetto-trace", ".pb"}, true},
    {TraceFormat::otf2, "otf2", {".otf2"}, true},
    {TraceFormat::pcapng, "pcapng", {".pcapng", ".pcap-ng"}, false},
    {TraceFormat::paje, "paje", {".paje"}, true},
});

constexpr bool shows_calls(TraceFormat format)
{
  return trace_formats.at(static_cast<std::size_t>(format)).shows_calls;
}

// How much links carry over time.
constexpr bool shows_links(TraceFormat format)
{
  return format == TraceFormat::perfetto || format == TraceFormat::paje;
}

// By the name of the file.
constexpr std::optional<TraceFormat> trace_format_of(std::string_view path)
{
  for (const TraceFormatRow& row : trace_formats)
    for (const std::string_view ending : row.endings)
      if (!ending.empty() && path.ends_with(ending))
        return row.format;
  return std::nullopt;
}

// "csv, perfetto, ... or otf2"
inline std::string trace_format_names()
{
  std::string text;
  for (const TraceFormatRow& row : trace_formats)
    text += (text.empty() ? "" : &row == &trace_formats.back() ? " or " : ", ") + std::string(row.name);
  return text;
}

// ".csv (csv), .pftrace, .perfetto-trace, .pb (perfetto), ... or .otf2 (otf2)"
inline std::string trace_format_endings()
{
  std::string text;
  for (const TraceFormatRow& row : trace_formats) {
    if (!text.empty())
      text += &row == &trace_formats.back() ? " or " : ", ";
    for (const std::string_view ending : row.endings)
      if (!ending.empty())
        text += (ending == row.endings.front() ? "" : ", ") + std::string(ending);
    text += " (" + std::string(row.name) + ")";
  }
  return text;
}

} // namespace umwelt::observe
