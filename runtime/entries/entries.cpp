// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/entries/entries.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "runtime/entries/function_symbols.h"

namespace umwelt::entries
{

namespace
{

// Whether it is what the user calls `name`: the whole path, or its end.
bool is_called(const std::string& path, const std::string& name)
{
  return path.ends_with(name) &&
         (path.size() == name.size() || name.front() == '/' || path[path.size() - name.size() - 1] == '/');
}

std::string text_of(const Wanted& wanted)
{
  return wanted.address ? fmt::format("{}+{:#x}", wanted.object, *wanted.address) : wanted.symbol;
}

} // namespace

Entries::Entries(std::vector<Wanted> wanted) : wanted_(std::move(wanted)), there_(wanted_.size())
{
  for (const Wanted& one : wanted_)
    if (!one.address)
      symbols_.insert(one.symbol);
}

Entries::Object& Entries::object_of(const std::string& path, std::vector<std::string>& wrong)
{
  const auto [object, is_new] = objects_.try_emplace(path);
  if (!is_new)
    return object->second;
  std::vector<FunctionSymbol> symbols;
  if (!symbols_.empty())
    symbols = find_functions(path, symbols_);
  std::vector<PatchedObject::Site> sites;
  for (unsigned i = 0; i < wanted_.size(); ++i) {
    const Wanted& one = wanted_[i];
    if (!one.object.empty() && !is_called(path, one.object))
      continue;
    if (one.address) {
      sites.push_back({i, *one.address, 0});
      continue;
    }
    std::vector<FunctionSymbol> found; // several: versions of an exported one, or static ones that are no relations
    std::copy_if(symbols.begin(), symbols.end(), std::back_inserter(found),
                 [&one](const FunctionSymbol& symbol) { return symbol.name == one.symbol; });
    if (found.size() > 1 &&
        std::any_of(found.begin(), found.end(), [](const FunctionSymbol& symbol) { return symbol.is_static; })) {
      if (one.optional)
        continue;
      wrong.push_back(fmt::format("{}: expected one function of that name in {}, got several, at {:#x} and {:#x}. Next "
                                  "step: name one by its address (at: {}+{:#x})",
                                  one.symbol, path, found[0].address, found[1].address,
                                  path.substr(path.rfind('/') + 1), found[0].address));
      continue;
    }
    for (const FunctionSymbol& symbol : found)
      if (!symbol.chosen_late)
        sites.push_back({i, symbol.address, symbol.bytes});
      else if (!one.optional)
        wrong.push_back(fmt::format("{} of {}: expected a function, got one that the linker is to choose among several "
                                    "(IFUNC). Next step: name the one that is chosen",
                                    one.symbol, path));
  }
  // Of several names of the same function the first counts.
  std::stable_sort(sites.begin(), sites.end(), [](const auto& a, const auto& b) { return a.address < b.address; });
  for (std::size_t i = 1; i < sites.size(); ++i)
    if (sites[i].address == sites[i - 1].address)
      there_[sites[i].function] = true;
  sites.erase(
      std::unique(sites.begin(), sites.end(), [](const auto& a, const auto& b) { return a.address == b.address; }),
      sites.end());
  if (sites.empty())
    return object->second;
  auto patched = std::make_unique<PatchedObject>(path, sites);
  std::vector<bool> refused(wanted_.size());
  for (const PatchedObject::Refusal& refusal : patched->refusals()) {
    refused[refusal.function] = true;
    if (wanted_[refusal.function].optional)
      continue;
    wrong.push_back(fmt::format("{} of {}: its entry {}. Next step: leave it out, or say in which object "
                                "it is (in:)",
                                text_of(wanted_[refusal.function]), path, refusal.why));
  }
  for (const PatchedObject::Site& site : sites)
    if (!refused[site.function])
      there_[site.function] = true;
  if (patched->descriptor() >= 0) {
    descriptors_.push_back(patched->descriptor());
    object->second.patched = std::move(patched);
  }
  return object->second;
}

std::vector<std::string> Entries::take_over(const r_debug& rank, std::span<const loader::LoadedObject> objects)
{
  std::vector<std::string> wrong;
  auto& loaded = ranks_[&rank];
  std::unordered_set<std::uintptr_t> seen;
  for (const auto& [object, path, is_program] : objects) {
    seen.insert(object->l_addr);
    const auto [here, is_new] = loaded.try_emplace(object->l_addr, Loaded{path, {}});
    if (!is_new && here->second.path == path)
      continue;
    for (const std::uintptr_t call : std::exchange(here->second, Loaded{path, {}}).calls)
      entries_.erase(call);
    const Object& its = object_of(path, wrong);
    if (!its.patched)
      continue;
    for (const PatchedObject::Entry& entry : its.patched->apply(object->l_addr)) {
      entries_.insert_or_assign(entry.called_from, Entry{entry.function, entry.original});
      here->second.calls.push_back(entry.called_from);
    }
  }
  std::erase_if(loaded, [&](const auto& one) {
    if (seen.contains(one.first))
      return false;
    for (const std::uintptr_t call : one.second.calls)
      entries_.erase(call);
    return true;
  });
  return wrong;
}

std::vector<std::string> Entries::known_names() const
{
  std::vector<std::string> names;
  for (const auto& [path, object] : objects_)
    for (std::string& name : function_names(path))
      names.push_back(std::move(name));
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::vector<int> Entries::take_descriptors()
{
  return std::exchange(descriptors_, {});
}

} // namespace umwelt::entries
