// SPDX-License-Identifier: LGPL-2.1-or-later
// Lines of source, where programs have debug information: their own, or in a file of its own under
// /usr/lib/debug/.build-id, as distributions pack it. Nothing is fetched.
#pragma once

#include <cstdint>
#include <string>

namespace umwelt::diagnose
{

// "file.c:12", without the file's directories, of the instruction at `relative` to where the object is loaded; empty if
// it is not known.
std::string source_line(const std::string& path, std::uint64_t relative);

} // namespace umwelt::diagnose
