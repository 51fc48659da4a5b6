// SPDX-License-Identifier: LGPL-2.1-or-later
// A statistical profile of ranks: at each tick of the time slices (slices.h), the function whose code was interrupted.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/entries/function_symbols.h"
#include "runtime/kernels/profile.h"

namespace umwelt::rank_host
{

struct Rank;

class Profiler
{
public:
  // From the handler of the tick, with the rank's code interrupted at `pc`.
  void tick(const Rank& rank, std::uintptr_t pc);
  // What has been seen of the rank, which is forgotten then.
  kernels::Profile take(const Rank& rank);

private:
  using Offset = std::pair<std::string, std::uint64_t>; // object, and where in it

  [[nodiscard]] const std::vector<entries::FunctionSymbol>& functions_of(const std::string& object);
  [[nodiscard]] std::string function_at(const Offset& offset);

  std::unordered_map<const Rank*, std::map<Offset, std::uint64_t>> seen_;
  std::unordered_map<std::string, std::vector<entries::FunctionSymbol>> functions_; // by address
};

} // namespace umwelt::rank_host
