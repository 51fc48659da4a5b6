// SPDX-License-Identifier: LGPL-2.1-or-later
// The known word that a misspelt one was probably meant to be.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace umwelt
{

// Insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b` (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b);

// The known word at the smallest distance from `word`, the first of several; empty if there are none.
std::string_view nearest(std::string_view word, std::span<const std::string_view> known);

// The same, but empty if none is within half of the word's length (or 2), since a far-fetched guess helps nobody.
std::string_view plausible(std::string_view word, std::span<const std::string> known);

} // namespace umwelt
