// SPDX-License-Identifier: LGPL-2.1-or-later
// `umwelt coverage`: what of each interposed API is served, from the tables the shim itself is generated from.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace umwelt::cli
{

struct CoverageRow {
  std::string_view symbol;
  std::string_view version; // symbol version, or revision of the API
  std::string_view level;   // FULL, PARTIAL, IGNORED or ERROR (preload/abi/table.h)
  std::string_view note;
};

struct CoverageTable {
  std::string_view title;
  std::vector<CoverageRow> rows;
};

// All tables of preload/abi/tables, in the order of preload/abi/tables/all.h. Services of the gate are no symbols and
// left out.
std::vector<CoverageTable> coverage_tables();

// A section with a table for each API, and what the levels mean.
std::string coverage_markdown(std::span<const CoverageTable> tables);

// {"levels": {...}, "apis": [{"title", "symbols": [{"symbol", "version", "level", "note"}]}]}
std::string coverage_json(std::span<const CoverageTable> tables);

} // namespace umwelt::cli
