// SPDX-License-Identifier: LGPL-2.1-or-later
// The report as a page: one HTML file that holds what it shows and how, and loads nothing (README.md).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace umwelt::report
{

// A report as `umwelt run --report` writes it, or those of --repeat in one (`runs`).
struct Run {
  std::string name; // as it is shown: that of its file
  nlohmann::ordered_json report;
};

// One run, or several side by side, the first of which is what others are compared to.
std::string page(std::span<const Run> runs);

// The two steps of that. `nonce`: scripts have it, for a content security policy; empty: none.
nlohmann::ordered_json page_data(std::span<const Run> runs);
std::string page_of(const nlohmann::ordered_json& data, std::string_view nonce);

// Writes it as `option` of the command line asks for. Throws UsageError if it cannot be. Returns its size in
// bytes.
std::size_t write_page(const std::string& option, const std::string& path, std::span<const Run> runs);

} // namespace umwelt::report
