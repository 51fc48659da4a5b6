// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/cli/command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <string_view>
#include <vector>

#include "runtime/base/environment.h"
#include "runtime/base/nearest.h"
#include "runtime/base/usage_error.h"

namespace umwelt::cli
{
namespace
{

constexpr const char* version = "umwelt " UMWELT_VERSION "\n";

struct Subcommand {
  std::string_view name;
  const char* summary;
  Command::Kind kind;
};

constexpr auto subcommands = std::to_array<Subcommand>({
    {"run", "Run an MPI or Portals program on a simulated machine (umwelt run --help)", Command::Kind::run},
    {"mpirun", "The same (also if the command itself has that name, or mpiexec)", Command::Kind::run},
    {"oshrun", "The same, for OpenSHMEM programs (also if the command itself has that name)", Command::Kind::run},
    {"platforms", "List the simulated machines", Command::Kind::platforms},
    {"models", "List the network models and their parameters", Command::Kind::models},
    {"calibrate", "Fit a network model to measurements of a NIC (umwelt calibrate --help)", Command::Kind::calibrate},
    {"doctor", "Check whether this machine can run simulations, and say what to do", Command::Kind::doctor},
    {"coverage", "List the functions that are simulated", Command::Kind::coverage},
});

void check_name(const std::string& word)
{
  std::array<std::string_view, subcommands.size()> names;
  std::transform(subcommands.begin(), subcommands.end(), names.begin(), [](const Subcommand& s) { return s.name; });
  if (word.starts_with('-') || std::find(names.begin(), names.end(), word) != names.end())
    return;
  throw UsageError(
      fmt::format("unknown command {}\n  The nearest known one is '{}'; programs are started with: umwelt run "
                  "-np N PROGRAM",
                  in_quotes(word), nearest(word, names)));
}

bool is_run(std::string_view word)
{
  return std::any_of(subcommands.begin(), subcommands.end(), [word](const Subcommand& known) {
    return known.name == word && known.kind == Command::Kind::run;
  });
}

Command parse_run_command(std::span<const std::string> arguments, const Lookup& environment)
{
  Command command;
  command.run = parse_run(arguments, environment);
  if (command.run.help)
    command.text = run_help();
  else if (command.run.version)
    command.text = version;
  else
    command.kind = Command::Kind::run;
  return command;
}

} // namespace

std::vector<std::string> command_words(std::string_view program, std::span<const std::string> arguments)
{
  const std::string_view name = program.substr(program.rfind('/') + 1);
  std::vector<std::string> words(arguments.begin(), arguments.end());
  if (is_run(name) || name == "mpiexec")
    words.insert(words.begin(), "run");
  return words;
}

Command parse_command(std::span<const std::string> arguments, const Lookup& environment)
{
  if (!arguments.empty()) {
    if (is_run(arguments.front()))
      return parse_run_command(arguments.subspan(1), environment);
    if (arguments.front() == "calibrate") {
      Command command;
      command.kind = Command::Kind::calibrate;
      command.arguments.assign(arguments.begin() + 1, arguments.end());
      return command;
    }
    check_name(arguments.front());
  } else
    throw UsageError("command", "run, platforms, models, calibrate, doctor or coverage", "none",
                     "For example: umwelt run -np 2 PROGRAM; `umwelt --help` tells more.");

  Command command;
  CLI::App app("Runs unmodified MPI and Portals programs on a simulated HPC machine", "umwelt");
  app.set_version_flag("-V,--version", std::string(version).substr(0, std::string_view(version).size() - 1));
  app.require_subcommand(1);
  for (const Subcommand& known : subcommands) {
    CLI::App* subcommand = app.add_subcommand(std::string(known.name), known.summary);
    subcommand->callback([&command, kind = known.kind] { command.kind = kind; });
    if (known.kind != Command::Kind::run && known.kind != Command::Kind::calibrate)
      subcommand->add_flag("--json", command.json, "JSON instead of text");
  }
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend()); // the order CLI11 takes
  try {
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    command.kind = Command::Kind::text;
    command.text = app.help();
  } catch (const CLI::CallForVersion& call) {
    command.kind = Command::Kind::text;
    command.text = std::string(call.what()) + "\n";
  } catch (const CLI::ParseError& error) {
    throw UsageError(fmt::format(
        "umwelt: {}\n  `umwelt --help` lists the commands, `umwelt COMMAND --help` their options.", error.what()));
  }
  return command;
}

} // namespace umwelt::cli
