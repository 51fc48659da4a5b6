// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/report/page.h"

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "runtime/base/usage_error.h"
#include "runtime/observe/result_file.h"
#include "runtime/report/condensed.h"
#include "runtime/report/template.h"

namespace umwelt::report
{
namespace
{

using Json = nlohmann::ordered_json;

constexpr int page_version = 1; // of the data, for the scripts
constexpr std::string_view place = "@DATA@";

// In a script element only "</" and "<!--" mean anything to a browser; in JSON '<' occurs in strings alone.
std::string without_tags(const std::string& json)
{
  std::string result;
  result.reserve(json.size());
  for (const char c : json) {
    if (c == '<')
      result += "\\u003c";
    else
      result += c;
  }
  return result;
}

// Scripts of the template stand behind the data, and have their tags on lines of their own.
std::string with_nonce(std::string_view text, std::string_view nonce)
{
  constexpr std::string_view tag = "\n<script>\n";
  std::string result;
  for (std::size_t at = text.find(tag); at != std::string_view::npos; at = text.find(tag)) {
    result += text.substr(0, at);
    result += "\n<script nonce=\"";
    result += nonce;
    result += "\">\n";
    text.remove_prefix(at + tag.size());
  }
  result += text;
  return result;
}

} // namespace

nlohmann::ordered_json page_data(std::span<const Run> runs)
{
  Json data{{"page_version", page_version}, {"runs", Json::array()}};
  for (const Run& run : runs)
    data["runs"].push_back(
        {{"name", run.name},
         {"report", run.report.contains("runs") ? condensed_repetitions(run.report) : condensed(run.report)}});
  return data;
}

std::string page_of(const nlohmann::ordered_json& data, std::string_view nonce)
{
  const std::string json = without_tags(data.dump(-1, ' ', false, Json::error_handler_t::replace));
  const std::string_view whole = page_template();
  const std::size_t at = whole.find(place);
  if (at == std::string_view::npos)
    throw std::logic_error("page of the report: expected a place for the data in its template, got none");
  std::string text;
  text.reserve(whole.size() + json.size());
  text += whole.substr(0, at);
  text += json;
  text +=
      nonce.empty() ? std::string(whole.substr(at + place.size())) : with_nonce(whole.substr(at + place.size()), nonce);
  return text;
}

std::string page(std::span<const Run> runs)
{
  return page_of(page_data(runs), {});
}

std::size_t write_page(const std::string& option, const std::string& path, std::span<const Run> runs)
{
  const std::string text = page(runs);
  std::optional<observe::ResultFile> file;
  try {
    file.emplace(option, path);
  } catch (const std::invalid_argument& error) {
    throw UsageError(error.what());
  }
  file->buffer() += text;
  file->finish("Make room or name another file.");
  return text.size();
}

} // namespace umwelt::report
