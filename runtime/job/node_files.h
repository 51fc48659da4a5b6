// SPDX-License-Identifier: LGPL-2.1-or-later
// Files below /proc and /sys of which a simulated node has its own version: its network interfaces. The shim leads there
// (preload/files.c).
#pragma once

#include <cstdint>
#include <string>

namespace umwelt::job
{

// Makes them in `folder`/files, for a node with the IPv4 address `address` (host byte order). Throws std::filesystem::filesystem_error,
// std::system_error.
void make_node_files(const std::string& folder, std::uint32_t address);

} // namespace umwelt::job
