// SPDX-License-Identifier: LGPL-2.1-or-later
// "Did you mean ...": the known word that is closest to what somebody wrote.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace umwelt
{

// The candidate with the smallest edit distance (insert, delete, replace, each 1) to `word`; empty when none is within
// half of the word's length, since a far-fetched guess helps nobody.
std::string_view nearest(std::string_view word, std::span<const std::string> candidates);

} // namespace umwelt
