// SPDX-License-Identifier: LGPL-2.1-or-later
// What the rules of forgetful memory have come to on a rank.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace umwelt::fold
{

struct Totals {                // of a rule
  std::uint64_t pieces = 0;    // allocations that fitted it,
  std::uint64_t bytes = 0;     // of all of them,
  std::uint64_t forgotten = 0; // and how often the contents of one were
  bool exists = true;          // some object had the rule's function or was the one it names; if none:
  std::string nearest;         // the function's name that is most like it, or empty

  Totals& operator+=(const Totals& other);
};

// One for each rule, as text and back: processes tell each other.
std::string totals_text(const std::vector<Totals>& totals);
// Adds them. What is not such a text says nothing.
void add_totals(std::vector<Totals>& totals, std::string_view text);

} // namespace umwelt::fold
