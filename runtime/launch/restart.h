// SPDX-License-Identifier: LGPL-2.1-or-later
// The second start of `umwelt run`. Some things are decided when a process begins: address-space randomisation, and the
// arguments that others see of it. So the command, once it is known to be sound, executes itself again: its arguments
// are then the program's, and its own command line and what it has found out travel in a memory file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/plan/options.h"

namespace umwelt::launch
{

// Which run of several it is (repeat.h).
struct Repetition {
  unsigned number = 0; // from 0
  int report = -1;     // descriptor its report goes to; -1: it is the only run
  [[nodiscard]] bool is_one_of_several() const { return report >= 0; }
};

struct Restarted {
  std::vector<std::string> arguments; // of the umwelt command, without argv[0]
  std::vector<std::string> findings;  // as given to restart()
  Repetition repetition;
  plan::Loader loader = plan::Loader::linker;
};

// In the second start: what the first left. Also takes the traces of it out of the environment.
std::optional<Restarted> restarted();

// Executes this program again with `program_argv` as its arguments. What the loader needs in the environment is not
// seen by ranks. Returns only on failure, with the reason.
std::string restart(const Restarted& what, const std::vector<std::string>& program_argv, bool fixed_addresses);

} // namespace umwelt::launch
