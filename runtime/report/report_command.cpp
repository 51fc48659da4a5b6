// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/report/report_command.h"

#include <filesystem>

#include <fmt/format.h>

#include "runtime/base/usage_error.h"
#include "runtime/observe/format.h"
#include "runtime/report/input.h"
#include "runtime/report/page.h"

namespace umwelt::report
{
namespace
{

namespace fs = std::filesystem;

std::string page_beside(const std::string& path)
{
  fs::path page(path);
  if (page.extension() == ".html")
    throw UsageError(in_quotes(path), "a report of umwelt run --report", "what is named as a page",
                     "Say where the page is to go: umwelt report FILE -o PAGE");
  if (page.extension() == ".json")
    page.replace_extension(".html");
  else
    page += ".html";
  return page.string();
}

} // namespace

std::string report_command(const std::string& path, const std::string& output)
{
  const Run run = read_report(path);
  const std::string page = output.empty() ? page_beside(path) : output;
  std::error_code error;
  if (fs::equivalent(path, page, error))
    throw UsageError(in_quotes(page), "another file than the report", "the same", "Name another one: -o PAGE");
  const std::size_t bytes = write_page("--output", page, {&run, 1});
  return fmt::format("{}: {}, for any browser\n", page, observe::show_bytes(bytes));
}

} // namespace umwelt::report
