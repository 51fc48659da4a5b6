// SPDX-License-Identifier: LGPL-2.1-or-later
// `umwelt kernels`: an ordinary run in which all functions of the built-in table are watched, and from what they took a
// first kernels file.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/kernels/calls.h"
#include "runtime/kernels/kernels_file.h"
#include "runtime/kernels/profile.h"

namespace umwelt::kernels
{

// All of the table, `action: watch`, and these symbols, whose arguments are not known. Nobody is told of functions of
// the table that the program does not have. Left out is Fortran's spelling without underscore: C programs have
// functions of such names with other arguments. Throws UsageError for a symbol that comes twice.
Kernels watched_kernels(std::span<const std::string> symbols);

// One more, which runs and has that mark (Kernel); `why` it is wanted, for messages. Throws UsageError: there is a
// kernel of that symbol.
Kernel& add_mark(Kernels& kernels, const std::string& symbol, std::uint32_t mark, std::string_view why);

// A kernels file with an entry for each kernel that took `least` (a fraction) of `computing` seconds or more, and as
// comments the functions of the program that `profile` says so of. `totals`: of all ranks, in the order of the kernels.
// `commands`: of the run's programs.
std::string first_kernels_file(const Kernels& kernels, std::span<const Totals> totals, const Profile& profile,
                               double computing, double least, std::span<const std::string> commands);

} // namespace umwelt::kernels
