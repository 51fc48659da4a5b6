// SPDX-License-Identifier: LGPL-2.1-or-later
// Platforms in C++, as SimGrid has them: a shared object with extern "C" void load_platform(const
// simgrid::s4u::Engine&), which makes zones, hosts, links and routes.
#pragma once

#include <string>

namespace umwelt::platform
{

// By its content, whatever its name is.
bool is_elf(const std::string& path);

// Throws std::invalid_argument (only what was expected and got, for the caller to embed) if the file cannot be such a
// platform: another machine's, no shared object, or one that was built against another SimGrid. Runs nothing of it.
void check_shared_object(const std::string& path);

// Loads it and calls its load_platform(); it stays loaded. Throws std::invalid_argument if ld.so cannot load it or it
// has no such function, and what the function throws.
void call_load_platform(const std::string& path);

} // namespace umwelt::platform
