// SPDX-License-Identifier: LGPL-2.1-or-later
// The page without its data, as the build has put it together (assemble.cmake) and the command holds it.
#pragma once

#include <string_view>

namespace umwelt::report
{

std::string_view page_template();

} // namespace umwelt::report
