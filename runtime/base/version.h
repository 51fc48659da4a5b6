// SPDX-License-Identifier: LGPL-2.1-or-later
// Which version this is.
#pragma once

#include <string_view>

namespace umwelt
{

// "0.1.0 (git 8fbea10b1234)": with the commit it was built from, if that is known.
std::string_view version();

} // namespace umwelt
