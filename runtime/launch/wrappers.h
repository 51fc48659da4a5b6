// SPDX-License-Identifier: LGPL-2.1-or-later
// Wrappers: what stands around a program, as in `umwelt run -np 2 ./script.sh` or `umwelt run -np 2 env NAME=VALUE
// ./app`, among them the scripts that libtool puts in place of programs. They are not simulated. Before anything else
// each rank's runs natively until it is about to execute the program; that becomes the rank's, with the arguments,
// environment, working directory and standard streams that it was given. The process that would have become the program
// stands in for it (preload/wrapper/): it ends as the rank does, and the wrapper goes on.
//
// What counts as the program: whatever the wrapper's first process executes in its own place, if that is no wrapper; of
// the others' executions what is linked to MPI, OpenSHMEM, Portals or PMI.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <sys/types.h>

#include "loader/program.h"

namespace umwelt::launch
{

struct WrapperStart {
  unsigned rank = 0;
  loader::Program program;
  std::vector<std::string> environment;
  std::string directory;
};

// What the wrapper of a rank has come to execute.
struct Execution {
  unsigned rank = 0;
  pid_t wrapper = -1;                        // a child of this process
  int stand_in = -1;                         // connection to the process that stands in for the rank
  std::array<int, 3> streams = {-1, -1, -1}; // the rank's 0, 1, 2 where the wrapper has redirected them
  std::string name;                          // its argv[0]
  std::vector<std::string> argv;             // path and arguments
  std::vector<std::string> environment;
  std::string directory;
  bool same_addresses = false; // it was to be executed without randomisation of addresses (setarch -R)
};

// The wrappers of a run.
struct Wrappers {
  std::vector<Execution> executions; // by rank; none: no program came of them
  int exit_code = 0;                 // then: of the wrappers, which have ended
  // A process that ends what is left of them if this one is gone, and answers their questions once the ranks run. -1:
  // there is none.
  int keeper = -1;  // pipe to it
  std::string mark; // what their processes have in their environments
};

// Runs all of them as far as they come. `library`: libumwelt-wrapper.so; `own_programs`: as of loader::find_program;
// `timeout`: seconds. Throws loader::Refusal for what cannot be simulated.
Wrappers run_wrappers(std::vector<WrapperStart> starts, const std::string& library, const std::string& own_programs,
                      std::optional<unsigned> timeout);

// --- the same in the second start of the command ---
std::vector<std::string> pack(const Wrappers& wrappers);
Wrappers unpack(std::span<const std::string> words);

// The ranks have ended: `statuses` as wait(2) has them, in the order of the executions. Lets the wrappers go on to
// their own ends, but for a moment only if the job has failed, and returns the exit code of the first that did not end
// with 0, if any.
int finish(const Wrappers& wrappers, std::span<const int> statuses, bool failed);

// Umwelt cannot go on.
void kill(const Wrappers& wrappers);

} // namespace umwelt::launch
