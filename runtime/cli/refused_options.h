// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <string_view>

namespace umwelt::cli
{

// mpirun's options that ask for something else than what would happen without them: accepting them would be a lie.
struct Refused {
  std::string_view name;
  std::string_view instead;
};

constexpr auto refused_options = std::to_array<Refused>({
    {"am", "Write the parameters as --mca KEY VALUE."},
    {"app", "Write the programs on the command line, separated by ':'."},
    {"cpu-list", "Cores are assigned by rank: see --cpus-per-rank and --display-map."},
    {"cpu-set", "Cores are assigned by rank: see --cpus-per-rank and --display-map."},
    {"debug", "Run the program under gdb without Umwelt, or use -v and the deadlock report."},
    {"dvm", "Every run is a simulation of its own."},
    {"enable-recovery", "A rank that dies ends the job; with Open MPI 5, --with-ft ulfm lets the others go on."},
    {"get-stack-traces", "Deadlocks are reported with stack traces without being asked for."},
    {"npersocket", "A simulated node has one socket: use -N."},
    {"path", "Give the program's path, or set PATH."},
    {"personality", "Only Open MPI's is known."},
    {"ppr", "Use -N, or --map-by ppr:N:node."},
    {"preload-binary", "Every rank sees the files of this machine."},
    {"preload-files", "Every rank sees the files of this machine."},
    {"rankfile", "Use --host or --hostfile with --map-by and --rank-by."},
    {"rf", "Use --host or --hostfile with --map-by and --rank-by."},
    {"report-pid", "$! of the shell holds the process id."},
    {"set-cwd-to-session-dir", "Use -wdir."},
    {"stdin", "Standard input goes to rank 0; redirect it inside the program for others."},
    {"tune", "Write the parameters as --mca KEY VALUE and the variables as -x NAME=VALUE."},
    {"tv", "Run the program under gdb without Umwelt, or use -v and the deadlock report."},
    {"xml", "Use --report FILE for a summary in JSON."},
    {"xterm", "Use --tag-output or --output-filename."},
});

} // namespace umwelt::cli
