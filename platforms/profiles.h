// SPDX-License-Identifier: LGPL-2.1-or-later
// What a platform says of the course of time: profiles of SimGrid, in whose format they are written and who plays them.
// Links that fail and come back are kept as outages, and act as --fault does (link_failures.h). What else changes with
// time (bandwidths, latencies, hosts) no model follows, and is refused.
#pragma once

#include <span>
#include <string>

#include "platforms/platform.h"
#include "platforms/xml_profiles.h"

namespace umwelt::platform
{

// Lets SimGrid's time pass up to the end of simulated time, or until so many changes were seen, and returns what became
// of links, for add_outages(). The engine cannot be used afterwards: for a rehearsal (simgrid.h). Throws
// std::invalid_argument for what no model follows.
std::string record_states();
inline constexpr std::size_t most_changes = 200'000;

// The same for profiles that SimGrid's platform does not have, played alone; in a rehearsal of its own. Files are
// looked for in the current directory and in `directory`.
std::string play_profiles(std::span<const XmlProfile> profiles, const std::string& directory);

// Throws std::invalid_argument if the platform that is loaded has not the link of one of them.
void check_links_of(std::span<const XmlProfile> profiles);

// To Platform::outages() from such a record.
void add_outages(Platform& platform, const std::string& record);

} // namespace umwelt::platform
