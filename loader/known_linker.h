// SPDX-License-Identifier: LGPL-2.1-or-later
// Whether a dynamic linker is one of those that a rank can have for itself (linker.h), which rests on things that glibc
// promises to nobody.
#pragma once

#include <string>

namespace umwelt::loader
{

// One line; empty: it is known.
std::string why_unknown(const std::string& interpreter);

} // namespace umwelt::loader
