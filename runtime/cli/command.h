// SPDX-License-Identifier: LGPL-2.1-or-later
// The command line as a whole: which subcommand, and what it was given.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/environment.h"
#include "runtime/cli/options.h"
#include "runtime/cli/platform_question.h"

namespace umwelt::cli
{

// A command as it is shown: in the help, in the manual page, in completions.
struct CommandEntry {
  std::string_view name;
  std::string_view summary;
  bool runs = false; // takes what `umwelt run` takes
};

std::vector<CommandEntry> commands();

struct Command {
  enum class Kind {
    run,
    platforms,
    models,
    doctor,
    coverage,
    calibrate, // `arguments` are another program's
    tune,      // likewise
    sweep,     // likewise
    debug,     // `arguments` are those of `umwelt run`, `debugger` gdb's
    ctl,       // `arguments` are requests to the run of `process`
    report,    // `arguments`: one report; `page`: -o
    compare,   // `arguments`: reports; `page`: --html
    explain,   // `arguments`: the report; `json`
    openmpi,   // `arguments`: a program or a library; `source`
    text,      // help, completion, --version: print `text` on standard output and end with exit_code::ok
  } kind = Kind::text;
  plan::RunOptions run;
  bool json = false; // --json of platforms, models, doctor and coverage
  PlatformQuestion platform;
  int process = 0;
  std::vector<std::string> arguments;
  std::vector<std::string> debugger;
  std::string source; // --source of openmpi; empty: not said
  std::string page;   // where a page of HTML goes; empty: not said
  std::string text;
};

// The words of the command that was started by the name `program`: a link to umwelt that is called mpirun, mpiexec or
// oshrun runs programs.
std::vector<std::string> command_words(std::string_view program, std::span<const std::string> arguments);

// `arguments` are those behind the program's name. Throws UsageError.
Command parse_command(std::span<const std::string> arguments, const Lookup& environment = process_environment);

} // namespace umwelt::cli
