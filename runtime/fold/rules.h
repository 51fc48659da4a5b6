// SPDX-License-Identifier: LGPL-2.1-or-later
// Forgetful memory (`umwelt run --fold RULE`): which allocations of a program may lose their contents at any time, and
// which bytes of them are to be kept all the same. README.md describes the rules.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/kept_ranges.h"
#include "runtime/kernels/expression.h"

namespace umwelt::fold
{

struct Rule {
  struct Keep {
    kernels::Expression begin, end; // of the allocation's size: bytes from its beginning
  };

  std::string text;                 // as given
  std::string where;                // for messages: "--fold", "rules.txt:3"
  std::uint64_t at_least = 1 << 20; // bytes
  std::uint64_t at_most = std::numeric_limits<std::uint64_t>::max();
  std::string function;              // that allocates; empty: any
  std::optional<std::uint64_t> call; // address of the call, in the object's own terms
  std::string object;                // in which it is; empty: the program itself
  std::vector<Keep> keep;

  // What of an allocation of so many bytes is to be kept. Throws UsageError for what is not a number of bytes.
  [[nodiscard]] KeptRanges kept(std::uint64_t bytes) const;
};

struct Rules {
  std::vector<Rule> list;   // the first that fits an allocation counts
  std::uint64_t budget = 0; // bytes that each rank may have in memory of what may be forgotten

  // No smaller allocation can fit a rule.
  [[nodiscard]] std::uint64_t least() const;
};

// Of a rank, in bytes. Not of this machine's memory: what is forgotten should not depend on where the run is made.
constexpr std::uint64_t smallest_budget = 64 << 10;
[[nodiscard]] std::uint64_t default_budget(std::uint64_t ranks);

// Rules as --fold has them, or "@FILE" with one on each line. Throws UsageError. The budget is not set.
Rules read_rules(std::span<const std::string> texts);

} // namespace umwelt::fold
