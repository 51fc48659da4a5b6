// SPDX-License-Identifier: LGPL-2.1-or-later
// An Open MPI as it is installed: which it is, told without loading it into this process.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace umwelt::openmpi
{

// What tells this libmpi.so.40 from others: its build-id or, if it has none, a hash of the file. In hexadecimal.
std::string identity(const std::filesystem::path& library);

// "TEXT\nPATH": what it says of itself ("Open MPI v4.1.4, package: ..."), and where ld.so found it; "!ERROR" if it
// cannot be asked; empty if it crashed. It is loaded into a child process for that.
std::string description(const std::filesystem::path& library);

// Of that, "4.1.4". It is loaded into a child process for that, with the libraries it needs. Throws
// loader::Refusal if that fails.
std::string version_of(const std::filesystem::path& library);

// "5.0" of "5.0.7".
std::string_view series(std::string_view version);

} // namespace umwelt::openmpi
