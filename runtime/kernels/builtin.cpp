// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/kernels/builtin.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "runtime/kernels/table_row.h"

namespace umwelt::kernels
{

namespace
{

struct Table {
  std::vector<KernelFunction> functions;
  std::map<std::string_view, const KernelFunction*> by_name; // and by symbol

  Table()
  {
    for (const TableRow& row : table_rows()) {
      std::vector<KernelFunction> expanded = expand(row);
      std::move(expanded.begin(), expanded.end(), std::back_inserter(functions));
    }
    for (const KernelFunction& function : functions)
      by_name.emplace(function.name, &function);
    for (const KernelFunction& function : functions) {
      for (const Spelling& spelling : function.spellings)
        by_name.emplace(spelling.symbol, &function);
    }
  }
};

const Table& table()
{
  static const Table made;
  return made;
}

} // namespace

const KernelFunction* find_builtin(std::string_view name)
{
  const auto found = table().by_name.find(name);
  return found != table().by_name.end() ? found->second : nullptr;
}

std::vector<std::string> builtin_names()
{
  std::vector<std::string> names;
  for (const KernelFunction& function : table().functions)
    names.push_back(function.name);
  std::sort(names.begin(), names.end());
  return names;
}

bool asks_for_workspace(const Spelling& spelling, std::span<const double> values)
{
  return std::any_of(spelling.queries.begin(), spelling.queries.end(),
                     [&](std::size_t parameter) { return values[parameter] == -1.0; });
}

} // namespace umwelt::kernels
