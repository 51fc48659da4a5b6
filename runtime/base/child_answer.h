// SPDX-License-Identifier: LGPL-2.1-or-later
// Work that must leave no trace in this process: to load a library whose constructors are none of ours, say.
#pragma once

#include <functional>
#include <string>

namespace umwelt
{

// The text that `work` returns in a child process; what a crash of the child leaves is empty. Throws std::system_error
// if there can be no child.
std::string child_answer(const std::function<std::string()>& work);

} // namespace umwelt
