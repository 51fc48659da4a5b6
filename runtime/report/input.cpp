// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/report/input.h"

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "runtime/base/usage_error.h"
#include "runtime/report/member.h"

namespace umwelt::report
{
namespace
{

using Json = nlohmann::ordered_json;

constexpr std::int64_t newest_version = 1; // of reports, that is read here
constexpr const char* make_one = "Reports are written by: umwelt run --report FILE ...";
constexpr const char* a_report = "a report of umwelt run --report";

std::string contents(const std::string& path)
{
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "re"), &std::fclose);
  if (!file)
    throw UsageError(in_quotes(path), a_report, std::strerror(errno), make_one);
  std::string text;
  constexpr std::size_t piece = 1 << 20;
  std::size_t got = 0;
  do {
    text.resize(text.size() + piece);
    got = std::fread(text.data() + text.size() - piece, 1, piece, file.get());
    text.resize(text.size() - piece + got);
  } while (got == piece);
  if (std::ferror(file.get()) != 0)
    throw UsageError(in_quotes(path), a_report, std::strerror(errno), make_one);
  return text;
}

// What parts of the page take for granted of a run.
void check_run(const std::string& path, const Json& run)
{
  for (const char* key : {"simulated_ps", "nodes"})
    if (const Json* value = member(run, key); value == nullptr || !value->is_number())
      throw UsageError(
          in_quotes(path), fmt::format("a report, with {} as a number", key),
          value == nullptr ? "none" : in_quotes(value->dump(-1, ' ', false, Json::error_handler_t::replace)), make_one);
  const Json* ranks = array(run, "ranks");
  if (ranks == nullptr)
    throw UsageError(in_quotes(path), "a report, with a list of ranks", "none", make_one);
  for (const Json& rank : *ranks)
    for (const char* key : {"compute_ps", "communication_ps", "waiting_ps", "finished_ps"})
      if (const Json* value = member(rank, key); value == nullptr || !value->is_number())
        throw UsageError(in_quotes(path), fmt::format("a report, with {} of every rank", key), "a rank without it",
                         make_one);
}

void check_version(const std::string& path, const Json& report)
{
  const Json* version = member(report, "report_version");
  if (version == nullptr || !version->is_number_integer())
    throw UsageError(in_quotes(path), fmt::format("{} (with report_version)", a_report), "other JSON", make_one);
  if (const auto found = number(report, "report_version"); found > newest_version || found < 1)
    throw UsageError(in_quotes(path), fmt::format("report_version {}", newest_version), fmt::format("{}", found),
                     fmt::format("Use the Umwelt that wrote it ({}), or a newer one.",
                                 text(report, "umwelt").empty() ? "unknown" : text(report, "umwelt")));
}

} // namespace

Run read_report(const std::string& path)
{
  Run run{std::filesystem::path(path).filename().string(), {}};
  try {
    run.report = Json::parse(contents(path));
  } catch (const Json::parse_error& error) {
    throw UsageError(in_quotes(path), a_report, fmt::format("no JSON at byte {}", error.byte), make_one);
  }
  check_version(path, run.report);
  const Json* runs = member(run.report, "runs");
  if (runs == nullptr) {
    check_run(path, run.report);
    return run;
  }
  if (!runs->is_array() || runs->empty())
    throw UsageError(in_quotes(path), "the reports of some runs", "none", make_one);
  for (const Json& one : *runs)
    check_run(path, one);
  return run;
}

} // namespace umwelt::report
