// SPDX-License-Identifier: LGPL-2.1-or-later
// Whether files are still what they were.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace umwelt::openmpi
{

// FNV-1a, 64 bits (draft-eastlake-fnv, section 2), of all bytes of the files in this order; what cannot be read counts
// as empty.
std::uint64_t content_hash(const std::vector<std::filesystem::path>& files);

} // namespace umwelt::openmpi
