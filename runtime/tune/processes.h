// SPDX-License-Identifier: LGPL-2.1-or-later
// Other programs, several at the same time, and what they say.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace umwelt::tune
{

struct Outcome {
  int code = 0; // exit code, 128 + n after signal n
  std::string output;
  std::string errors;
};

// Runs each command (a path and its arguments), at most `jobs` at a time, in this order, and calls `done` with its
// number when it has ended. Ctrl-C and the like end all of them; that is thrown as Stopped. They end, too, if this
// process is killed. For a process of one thread.
void run_all(const std::vector<std::vector<std::string>>& commands, unsigned jobs,
             const std::function<void(std::size_t, const Outcome&)>& done);

struct Stopped {
  int signal;
};

} // namespace umwelt::tune
