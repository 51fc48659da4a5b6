// SPDX-License-Identifier: LGPL-2.1-or-later
// A statistical profile: in which functions the threads of a rank were when their CPU time had gone on by a tick.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace umwelt::kernels
{

struct Profile {
  // File name of the program or library, and the function's symbol; empty: it has none there.
  using Function = std::pair<std::string, std::string>;
  std::map<Function, std::uint64_t> ticks;

  [[nodiscard]] std::uint64_t all() const;
  // Those with at least `least` (a fraction) of all ticks, the ones with most first.
  [[nodiscard]] std::vector<std::pair<Function, std::uint64_t>> most(double least) const;
};

// As texts that processes tell each other, of at most 64 KiB and a line; none if there is nothing to tell.
std::vector<std::string> profile_texts(const Profile& profile);
// Adds one of them; lines that are none say nothing. False: the text is something else.
bool add_profile(Profile& profile, std::string_view text);

} // namespace umwelt::kernels
