// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/cli/platforms_command.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace umwelt::cli
{

std::string platforms_text(std::span<const platform::CatalogueEntry> catalogue)
{
  std::size_t width = 0;
  for (const platform::CatalogueEntry& entry : catalogue)
    width = std::max(width, entry.name.size());
  std::string text;
  for (const platform::CatalogueEntry& entry : catalogue) {
    text += fmt::format("{:<{}}  {}\n", entry.name, width, entry.summary);
    if (!entry.parameters.empty())
      text += fmt::format("{:<{}}  parameters: {}\n", "", width, entry.parameters);
  }
  return text +
         "\nWith parameters: umwelt run --platform NAME:KEY=VALUE,KEY=VALUE ...\n"
         "Its NICs' parameters (`umwelt models`, model bxi): nic:KEY=VALUE among these.\n"
         "A SimGrid platform in XML, or in C++ with load_platform(): umwelt run --platform FILE.xml, FILE.so ...\n";
}

std::string platforms_json(std::span<const platform::CatalogueEntry> catalogue)
{
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const platform::CatalogueEntry& entry : catalogue)
    json.push_back({{"name", entry.name}, {"summary", entry.summary}, {"parameters", entry.parameters}});
  return json.dump(2) + "\n";
}

} // namespace umwelt::cli
