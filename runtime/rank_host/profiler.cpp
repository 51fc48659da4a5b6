// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/rank_host/profiler.h"

#include <algorithm>

#include <dlfcn.h>
#include <link.h>

#include "preload/abi/gate.h"
#include "runtime/rank_host/rank_host.h"

namespace umwelt::rank_host
{

void Profiler::tick(const Rank& rank, std::uintptr_t pc)
{
  dl_find_object object{};
  Offset offset{"?", pc};
  if (rank.gate.find_object(reinterpret_cast<void*>(pc), &object) == 0) {
    offset = {rank.loader->path_of(*object.dlfo_link_map), pc - object.dlfo_link_map->l_addr};
  } else if (_dl_find_object(reinterpret_cast<void*>(pc), &object) == 0) { // on the way into the runtime, or out of it
    offset = {"umwelt", 0};
  }
  ++seen_[&rank][offset];
}

kernels::Profile Profiler::take(const Rank& rank)
{
  kernels::Profile profile;
  for (const auto& [offset, number] : seen_[&rank]) {
    const std::string& path = offset.first;
    profile.ticks[{path.substr(path.rfind('/') + 1), function_at(offset)}] += number;
  }
  seen_.erase(&rank);
  return profile;
}

const std::vector<entries::FunctionSymbol>& Profiler::functions_of(const std::string& object)
{
  const auto [known, is_new] = functions_.try_emplace(object);
  if (is_new)
    known->second = entries::all_functions(object);
  return known->second;
}

std::string Profiler::function_at(const Offset& offset)
{
  const auto& [object, address] = offset;
  const std::vector<entries::FunctionSymbol>& functions = functions_of(object);
  auto after = std::upper_bound(functions.begin(), functions.end(), address,
                                [](std::uint64_t at, const auto& function) { return at < function.address; });
  if (after == functions.begin())
    return {};
  const entries::FunctionSymbol& function = *--after;
  // Of functions in assembly language the size is often not known.
  return function.bytes == 0 || address < function.address + function.bytes ? function.name : std::string();
}

} // namespace umwelt::rank_host
