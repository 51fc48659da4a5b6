// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/report/explain_command.h"

#include <sstream>
#include <vector>

#include <fmt/format.h>

#include "runtime/observe/format.h"
#include "runtime/report/findings.h"
#include "runtime/report/findings_parts.h"
#include "runtime/report/input.h"
#include "runtime/report/member.h"
#include "runtime/report/middle_run.h"

namespace umwelt::report
{
namespace
{

// In lines for a terminal; those behind the first begin with as many spaces as `first` has characters.
std::string wrapped(const std::string& first, const std::string& text)
{
  constexpr std::size_t width = 100;
  std::string result = first;
  std::size_t column = first.size();
  std::istringstream words(text);
  bool begins = true;
  for (std::string word; words >> word;) {
    if (!begins && column + 1 + word.size() > width) {
      result += "\n" + std::string(first.size(), ' ');
      column = first.size();
      begins = true;
    }
    result += (begins ? "" : " ") + word;
    column += (begins ? 0 : 1) + word.size();
    begins = false;
  }
  return result + "\n";
}

// What the report does not have, by the option that would have given it.
std::string missing(const Json& run)
{
  std::vector<std::string> options;
  if (member(run, "mpi_calls") == nullptr)
    options.emplace_back("--mpi-calls");
  if (member(run, "critical_path") == nullptr)
    options.emplace_back("--report-details");
  return options.empty() ? std::string() : fmt::format("More is known with {}.", fmt::join(options, " "));
}

} // namespace

std::string explain_command(const std::string& path, bool json)
{
  const Run given = read_report(path);
  const Json& run = middle_run(given.report);
  const std::vector<Finding> found = findings(run);
  if (json)
    return findings_json(found).dump(2) + "\n";
  std::string text_of_all =
      fmt::format("{}: {} on {}, {} of simulated time, {}\n", path, plural(ranks_in(run), "rank"),
                  text(run, "platform"), observe::show_time(number(run, "simulated_ps")), text(run, "ending"));
  for (std::size_t i = 0; i < found.size(); ++i) {
    text_of_all += "\n" + wrapped(fmt::format("{}. ", i + 1), found[i].what);
    for (const std::string& detail : found[i].details)
      text_of_all += wrapped("   - ", detail);
    text_of_all += wrapped("   Try: ", found[i].next);
  }
  if (found.empty())
    text_of_all += "\nNothing stands out: no rank is late for others, and no link is busy.\n";
  if (const std::string more = missing(run); !more.empty())
    text_of_all += "\n" + more + "\n";
  return text_of_all;
}

} // namespace umwelt::report
