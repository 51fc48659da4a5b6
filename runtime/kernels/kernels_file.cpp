// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/kernels/kernels_file.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "runtime/base/usage_error.h"
#include "runtime/kernels/kernel_reader.h"
#include "runtime/kernels/section.h"

namespace umwelt::kernels
{
namespace
{

bool same_object(const std::string& a, const std::string& b)
{
  return a.empty() || b.empty() || a == b;
}

// The function that both want; empty: none.
std::string shared_function(const Kernel& a, const Kernel& b)
{
  if (a.at && b.at)
    return a.at->object == b.at->object && a.at->offset == b.at->offset
               ? fmt::format("{}+{:#x}", a.at->object, a.at->offset)
               : "";
  if (a.at || b.at || !same_object(a.object, b.object))
    return "";
  for (const Entry& first : a.entries)
    for (const Entry& second : b.entries)
      if (first.symbol == second.symbol)
        return first.symbol;
  return "";
}

void read_document(Section& file, std::uint64_t seed, std::vector<Kernel>& kernels)
{
  const Item list = file.require("kernels", "For example: kernels: [{name: dgemm, action: run}]");
  const std::size_t earlier = kernels.size();
  std::vector<std::string> names;
  for (const Item& item : list.list()) {
    Kernel kernel = read_kernel(Section(item.node, file.path(), ""), seed);
    if (std::find(names.begin(), names.end(), kernel.name) != names.end())
      throw UsageError(kernel.where, "each kernel once in a file", "it again", "Remove one of them.");
    names.push_back(kernel.name);
    const auto end = kernels.begin() + static_cast<std::ptrdiff_t>(earlier);
    const auto same =
        std::find_if(kernels.begin(), end, [&](const Kernel& other) { return other.name == kernel.name; });
    if (same != end)
      *same = std::move(kernel);
    else
      kernels.push_back(std::move(kernel));
  }
  file.finish();
}

} // namespace

Kernels read_kernels(std::span<const std::string> paths, std::optional<std::uint64_t> seed)
{
  Kernels kernels;
  std::vector<Section> files;
  try {
    for (const std::string& path : paths) {
      files.emplace_back(
          load_yaml(path, "kernels file", "It begins with 'kernels:'; give several files for several sets of kernels."),
          path, "");
      if (const auto item = files.back().find("seed"))
        kernels.seed = read_whole(*item, 0, std::numeric_limits<std::uint64_t>::max());
    }
    kernels.seed = seed.value_or(kernels.seed);
    for (Section& file : files)
      read_document(file, kernels.seed, kernels.list);
  } catch (const YAML::Exception& wrong) {
    throw UsageError("kernels file", "the values of README.md's format", wrong.what(),
                     "Compare with the example there.");
  }
  for (auto later = kernels.list.begin(); later != kernels.list.end(); ++later)
    for (auto earlier = kernels.list.begin(); earlier != later; ++earlier)
      if (const std::string shared = shared_function(*earlier, *later); !shared.empty())
        throw UsageError(later->where, "functions of which no other kernel is",
                         fmt::format("{}, which is of kernel {}, too ({})", shared, earlier->name, earlier->where),
                         "Remove one of them, or name one spelling in each.");
  return kernels;
}

void check(const Kernels& kernels, std::uint32_t nodes, std::uint32_t sockets, std::uint32_t cores)
{
  for (const Kernel& kernel : kernels.list)
    if (kernel.model)
      kernel.model->check(nodes, sockets, cores);
}

} // namespace umwelt::kernels
