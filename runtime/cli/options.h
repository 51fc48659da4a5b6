// SPDX-License-Identifier: LGPL-2.1-or-later
// The command line of `umwelt run`, a drop-in for Open MPI 4.1's mpirun: what mpirun's options mean there they mean
// here. What differs, and why:
// - Without hosts every rank gets a node of its own (-N, --map-by change it): the simulated cluster has the size the
//   run needs. mpirun takes the cores of the machine it runs on, which say nothing about the simulated one.
// - -np missing: the slots of the given hosts (as mpirun); without hosts, N with -N N, else 1.
// - A rank has cores of its own, or all of its node with --bind-to none and the like; --oversubscribe lifts the slots
//   of the host list, not the cores.
// - An --mca key given twice to one program is an error, as in mpirun. Of several sources the nearest wins: the
//   program's --mca, --gmca, then --mca of the first program, which in mpirun too reaches all programs.
// - Options that concern the whole job may stand before any of the programs; mpirun silently drops all but those of the
//   first.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/environment.h"
#include "runtime/base/usage_error.h"
#include "runtime/plan/options.h"

namespace umwelt::cli
{

enum class RunKind : std::uint8_t {
  ordinary, // umwelt run
  watched   // umwelt kernels, which has some options of its own
};

// Parses what follows `umwelt run`. Throws UsageError. plan::Host files are read here.
plan::RunOptions parse_run(std::span<const std::string> arguments, const Lookup& environment = process_environment,
                           RunKind kind = RunKind::ordinary);

// An option as it is shown: in the help, in the manual page, in completions.
struct OptionEntry {
  std::vector<std::string> names;       // with their dashes, the one for messages first
  std::vector<std::string_view> values; // placeholders; none: a flag
  std::string_view help;
  std::vector<std::string> former = {}; // earlier names, still accepted but no longer shown or offered
};

struct OptionGroup {
  std::string_view title;
  std::vector<OptionEntry> options;
  bool of_kernels = false; // of `umwelt kernels` alone
};

// All options of `umwelt run` and `umwelt kernels`, each in one group, what people need first in the first.
std::vector<OptionGroup> option_groups();

// Whether `word` is an option of `umwelt run`, with one dash or two, with or without "=VALUE".
bool is_run_option(std::string_view word);

} // namespace umwelt::cli
