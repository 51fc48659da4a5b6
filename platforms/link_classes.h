// SPDX-License-Identifier: LGPL-2.1-or-later
// Links that a user means by one word: a pattern of names, or a kind of cable.
#pragma once

#include <string>
#include <vector>

#include "platforms/platform.h"

namespace umwelt::platform
{

// All links of the platform whose name matches `word` as a shell's pattern ("bxi3 *", "leaf* to spine0"), or whose
// cable is of that kind: `node` (between node and switch), `local` and `global` (between switches), if the platform is
// no file. Throws std::invalid_argument if there are none; `object` says what needs them ("--latency-factor leaf*=2").
std::vector<simgrid::s4u::Link*> find_links(const Platform& platform, const std::string& word,
                                            const std::string& object);

} // namespace umwelt::platform
