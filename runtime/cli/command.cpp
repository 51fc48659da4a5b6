// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/cli/command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <string_view>
#include <system_error>
#include <unistd.h>
#include <vector>

#include "loader/program.h"
#include "net_models/catalogue.h"
#include "platforms/platform.h"
#include "runtime/base/environment.h"
#include "runtime/base/nearest.h"
#include "runtime/base/usage_error.h"
#include "runtime/base/version.h"
#include "runtime/cli/completion.h"
#include "runtime/cli/help.h"
#include "runtime/cli/manual.h"

namespace umwelt::cli
{
namespace
{

namespace fs = std::filesystem;

struct Subcommand {
  std::string_view name;
  const char* summary;
  Command::Kind kind;
};

constexpr auto subcommands = std::to_array<Subcommand>({
    {"run", "Run an MPI or Portals program on a simulated machine (umwelt run --help)", Command::Kind::run},
    {"mpirun", "The same (also if the command itself has that name, or mpiexec)", Command::Kind::run},
    {"oshrun", "The same, for OpenSHMEM programs (also if the command itself has that name)", Command::Kind::run},
    {"kernels", "Run a program and tell which functions take its time, as a file for --kernels (umwelt kernels --help)",
     Command::Kind::run},
    {"debug", "Run a program in gdb, with the symbols of all ranks (umwelt debug --help)", Command::Kind::debug},
    {"platforms", "List the simulated machines, or examine one: its routes, a picture (umwelt platforms --help)",
     Command::Kind::platforms},
    {"models", "List the network models and their parameters", Command::Kind::models},
    {"calibrate",
     "Fit a network model to measurements of a NIC (umwelt calibrate --help), or models of BLAS and LAPACK (umwelt "
     "calibrate kernels --help)",
     Command::Kind::calibrate},
    {"tune",
     "Find the best algorithms of MPI's collectives on a simulated machine, as files for Open MPI and MPICH (umwelt "
     "tune "
     "collectives --help)",
     Command::Kind::tune},
    {"report", "Show the report of a run as a page with pictures, one HTML file (umwelt report --help)",
     Command::Kind::report},
    {"compare", "Compare reports of runs: what changed, as text or as a page (umwelt compare --help)",
     Command::Kind::compare},
    {"explain",
     "Say what stands out in a run, why it was slow or could not go on, and what to try (umwelt explain --help)",
     Command::Kind::explain},
    {"sweep", "Run a program for every point of a design, here or by Slurm, and compare (umwelt sweep --help)",
     Command::Kind::sweep},
    {"ctl", "Ask a run that was started with --ctl how it is, or give nodes another model (umwelt ctl --help)",
     Command::Kind::ctl},
    {"openmpi",
     "Say which Open MPI a program has and whether Umwelt has components for it, or build them (umwelt openmpi --help)",
     Command::Kind::openmpi},
    {"doctor", "Check whether this machine can run simulations, and say what to do", Command::Kind::doctor},
    {"coverage", "List the functions that are simulated", Command::Kind::coverage},
    {"help", "Show the help of a command (umwelt help run), or with --man the manual page in roff",
     Command::Kind::text},
    {"completion", "Show what a shell needs to complete words of umwelt (umwelt completion bash)", Command::Kind::text},
});

constexpr std::string_view watching = "kernels"; // the command that runs a program to watch it

std::string help_of(std::string_view command)
{
  return command == watching ? kernels_help(option_groups()) : run_help(option_groups());
}

bool is_run(std::string_view word)
{
  return std::any_of(subcommands.begin(), subcommands.end(), [word](const Subcommand& known) {
    return known.name == word && known.kind == Command::Kind::run;
  });
}

bool is_known(std::string_view word)
{
  return std::any_of(subcommands.begin(), subcommands.end(), [word](const Subcommand& s) { return s.name == word; });
}

bool asks_for_help(std::string_view word)
{
  return word == "-h" || word == "--help";
}

Command text_command(std::string text)
{
  Command command;
  command.text = std::move(text);
  return command;
}

std::string version_line()
{
  return fmt::format("umwelt {}", version());
}

// The program that `word` seems to be, as `umwelt run` wants it; empty if it does not look like one.
std::string as_program(const std::string& word, const Lookup& environment)
{
  std::error_code error;
  if (fs::is_regular_file(word, error)) {
    const std::string script = access(word.c_str(), X_OK) != 0 ? loader::by_interpreter(word) : "";
    return !script.empty() ? script : word.find('/') != std::string::npos ? word : "./" + word;
  }
  if (word.find('/') != std::string::npos)
    return word;
  try {
    loader::locate_program(word, {"PATH=" + environment("PATH").value_or("")}, fs::current_path(error));
    return word;
  } catch (const loader::Refusal&) {
    return {};
  }
}

// Throws if the first argument is neither a command nor an option of umwelt itself.
void check_name(std::span<const std::string> arguments, const Lookup& environment)
{
  const std::string& word = arguments.front();
  if (is_known(word) || asks_for_help(word) || word == "-V" || word == "--version")
    return;
  std::array<std::string_view, subcommands.size()> names;
  std::transform(subcommands.begin(), subcommands.end(), names.begin(), [](const Subcommand& s) { return s.name; });
  const std::string others = fmt::format("{}{}", arguments.size() > 1 ? " " : "", fmt::join(arguments.subspan(1), " "));
  if (is_run_option(word))
    throw UsageError(in_quotes(word), "a command first", "an option of one",
                     fmt::format("Programs are started with: umwelt run {}{}", word, others));
  if (word.starts_with('-'))
    return; // CLI11 says what there is
  if (const std::string program = as_program(word, environment); !program.empty())
    throw UsageError(in_quotes(word), fmt::format("a command ({})", fmt::join(names, ", ")), "a program",
                     fmt::format("Programs are started with: umwelt run {}{}", program, others));
  throw UsageError(
      fmt::format("unknown command {}\n  The nearest known one is '{}'; programs are started with: umwelt run "
                  "-np N PROGRAM",
                  in_quotes(word), nearest(word, names)));
}

Command parse_run_command(std::string_view name, std::span<const std::string> arguments, const Lookup& environment)
{
  Command command;
  command.run = parse_run(arguments, environment, name == watching ? RunKind::watched : RunKind::ordinary);
  if (command.run.help)
    command.text = help_of(name);
  else if (command.run.version)
    command.text = version_line() + "\n";
  else
    command.kind = Command::Kind::run;
  return command;
}

// What another program does.
Command handed_on(Command::Kind kind, std::span<const std::string> arguments)
{
  Command command;
  command.kind = kind;
  command.arguments.assign(arguments.begin(), arguments.end());
  return command;
}

constexpr std::string_view debug_help =
    "umwelt debug [--batch] [-ex COMMAND]... [options of umwelt run] PROGRAM [arguments]\n"
    "\n"
    "Opens gdb on `umwelt run --workers 0 ...`, with symbols of all ranks as they are loaded. `run` starts it.\n"
    "All ranks are in one process: options for worker processes are wrong use.\n"
    "\n"
    "  --batch       gdb ends when all commands have run\n"
    "  -ex COMMAND   a command for gdb\n"
    "\n"
    "In gdb, besides its own commands:\n"
    "  break FUNCTION           stops in every rank\n"
    "  rank-break N FUNCTION    stops in rank N alone\n"
    "  rank                     lists ranks: what each does, and where it is\n"
    "  rank N                   shows the stack of rank N, also while it waits\n"
    "  rank all COMMAND         that command for each rank; backtrace-all\n"
    "  rank-finish              goes on until the call that the shown rank is in has returned\n"
    "\n"
    "With --break rank=R:FUNCTION:N it stops before that call. `umwelt help run` has the other options.\n";

// `arguments`: what follows `umwelt debug`.
Command parse_debug(std::span<const std::string> arguments, const Lookup& environment)
{
  Command command;
  std::size_t at = 0;
  for (; at < arguments.size(); ++at) {
    const std::string& word = arguments[at];
    if (word == "--batch" || word == "-batch") {
      command.debugger.emplace_back("-batch");
    } else if (word == "-ex" || word == "--ex") {
      if (++at == arguments.size())
        throw UsageError("-ex", "a command of gdb after it", "the end", "For example: umwelt debug -ex run ./app");
      command.debugger.insert(command.debugger.end(), {"-ex", arguments[at]});
    } else {
      break;
    }
  }
  const std::span<const std::string> rest = arguments.subspan(at);
  if (!rest.empty() && asks_for_help(rest.front()))
    return text_command(std::string(debug_help));
  const plan::RunOptions run = parse_run(rest, environment, RunKind::ordinary);
  if (run.help || run.version)
    return text_command(std::string(debug_help));
  if (run.workers.workers.value_or(0) > 0 || run.workers.parallel || run.workers.ranks_per_worker || run.repeat > 1)
    throw UsageError("umwelt debug", "one run, with all ranks in one process",
                     "--workers, --ranks-per-worker, -j or --repeat", "Leave it out.");
  command.kind = Command::Kind::debug;
  command.arguments.assign(rest.begin(), rest.end());
  return command;
}

// The commands that only take --json, and umwelt itself.
Command parse_with_cli11(std::span<const std::string> arguments);

// `arguments`: what follows `umwelt help`.
Command parse_help(std::span<const std::string> arguments, const Lookup& environment)
{
  static const std::vector<std::string> general{"--help"};
  if (arguments.size() > 1)
    throw UsageError("umwelt help", "one command", fmt::format("{}", fmt::join(arguments, " ")),
                     "For example: umwelt help run");
  if (arguments.empty() || asks_for_help(arguments.front()))
    return parse_with_cli11(general);
  const std::string& word = arguments.front();
  if (word == "--man")
    return text_command(manual(commands(), option_groups(), version()));
  check_name(arguments, environment);
  if (is_run(word))
    return text_command(help_of(word));
  if (word == "debug")
    return text_command(std::string(debug_help));
  if (word == "calibrate")
    return handed_on(Command::Kind::calibrate, general);
  if (word == "tune")
    return handed_on(Command::Kind::tune, general);
  if (word == "sweep")
    return handed_on(Command::Kind::sweep, general);
  return parse_with_cli11(std::vector<std::string>{word, general.front()});
}

// `arguments`: what follows `umwelt completion`.
Command parse_completion(std::span<const std::string> arguments)
{
  if (arguments.size() == 1 && asks_for_help(arguments.front()))
    return parse_with_cli11(std::vector<std::string>{"completion", "--help"});
  if (arguments.size() != 1 || arguments.front() != "bash")
    throw UsageError("umwelt completion", "bash, the only shell it knows",
                     arguments.empty() ? "nothing" : in_quotes(fmt::format("{}", fmt::join(arguments, " "))),
                     "For this shell alone: source <(umwelt completion bash)");
  std::vector<ValueNames> names{{"--model", {}}, {"--platform", {}}};
  for (const net::ModelEntry& model : net::models())
    names[0].names.emplace_back(model.name);
  for (const platform::CatalogueEntry& entry : platform::catalogue())
    names[1].names.emplace_back(entry.name);
  return text_command(bash_completion(commands(), option_groups(), names));
}

} // namespace

std::vector<CommandEntry> commands()
{
  std::vector<CommandEntry> entries;
  entries.reserve(std::size(subcommands));
  for (const Subcommand& known : subcommands)
    entries.push_back({known.name, known.summary, known.kind == Command::Kind::run});
  return entries;
}

std::vector<std::string> command_words(std::string_view program, std::span<const std::string> arguments)
{
  const std::string_view name = program.substr(program.rfind('/') + 1);
  std::vector<std::string> words(arguments.begin(), arguments.end());
  if ((is_run(name) && name != watching) || name == "mpiexec")
    words.insert(words.begin(), "run");
  return words;
}

Command parse_command(std::span<const std::string> arguments, const Lookup& environment)
{
  if (arguments.empty())
    throw UsageError(
        "command",
        "run, kernels, platforms, models, calibrate, tune, report, compare, explain, sweep, ctl, openmpi, doctor or "
        "coverage",
        "none", "For example: umwelt run -np 2 PROGRAM; `umwelt --help` tells more.");
  const std::string& word = arguments.front();
  const std::span<const std::string> others = arguments.subspan(1);
  if (is_run(word))
    return parse_run_command(word, others, environment);
  if (word == "debug")
    return parse_debug(others, environment);
  if (word == "calibrate")
    return handed_on(Command::Kind::calibrate, others);
  if (word == "tune")
    return handed_on(Command::Kind::tune, others);
  if (word == "sweep")
    return handed_on(Command::Kind::sweep, others);
  if (word == "help" || asks_for_help(word))
    return parse_help(others, environment);
  if (word == "completion")
    return parse_completion(others);
  check_name(arguments, environment);
  return parse_with_cli11(arguments);
}

namespace
{

void add_platform_question(CLI::App& subcommand, PlatformQuestion& question)
{
  CLI::Option* name = subcommand.add_option("NAME", question.spec, "of one, with parameters as for --platform");
  for (CLI::Option* option :
       {subcommand.add_option("--routes", question.routes, "links between two of its nodes")
            ->expected(2)
            ->type_name("NODE NODE"),
        subcommand.add_flag("--check", question.check,
                            "whether every pair of nodes has a route, and nothing can deadlock"),
        subcommand.add_flag("--bisection", question.bisection, "what its network carries between two halves"),
        subcommand.add_option("--draw", question.draw, "write a picture (SVG)")->type_name("FILE"),
        subcommand.add_option("--nodes", question.nodes, "nodes, where a run decides how many there are; default 64")
            ->type_name("N")
            ->check(CLI::Range(1U, 16'777'214U))})
    option->needs(name);
}

void add_reports(CLI::App& subcommand, Command& command, Command::Kind kind)
{
  constexpr int most_reports = 64;
  if (kind == Command::Kind::report) {
    subcommand.add_option("FILE", command.arguments, "what umwelt run --report has written")->required()->expected(1);
    subcommand.add_option("-o,--output", command.page, "the page; default: beside the report, with .html for .json")
        ->type_name("PAGE");
  } else if (kind == Command::Kind::explain) {
    subcommand.add_option("FILE", command.arguments, "what umwelt run --report has written")->required()->expected(1);
    subcommand.add_flag("--json", command.json, "JSON instead of text");
  } else {
    subcommand
        .add_option("FILE", command.arguments,
                    "what umwelt run --report has written; others are compared with the first")
        ->required()
        ->expected(1, most_reports);
    subcommand.add_option("--html", command.page, "write a page with pictures, instead of text on the terminal")
        ->type_name("PAGE");
  }
}

Command parse_with_cli11(std::span<const std::string> arguments)
{
  Command command;
  CLI::App app("Runs unmodified MPI and Portals programs on a simulated HPC machine", "umwelt");
  app.set_version_flag("-V,--version", version_line());
  app.require_subcommand(1);
  for (const Subcommand& known : subcommands) {
    CLI::App* subcommand = app.add_subcommand(std::string(known.name), known.summary);
    subcommand->callback([&command, kind = known.kind] { command.kind = kind; });
    const bool lists = known.kind == Command::Kind::platforms || known.kind == Command::Kind::models ||
                       known.kind == Command::Kind::doctor || known.kind == Command::Kind::coverage;
    if (lists)
      subcommand->add_flag("--json", command.json, "JSON instead of text");
    if (known.kind == Command::Kind::platforms)
      add_platform_question(*subcommand, command.platform);
    if (known.kind == Command::Kind::report || known.kind == Command::Kind::compare ||
        known.kind == Command::Kind::explain)
      add_reports(*subcommand, command, known.kind);
    if (known.kind == Command::Kind::openmpi) {
      subcommand
          ->add_option("PROGRAM", command.arguments, "a program that is linked to Open MPI, or a libmpi.so.40 itself")
          ->required()
          ->expected(1);
      subcommand
          ->add_option("--source", command.source,
                       "source of that release of Open MPI, a directory or an archive: builds components for it")
          ->type_name("SOURCE");
    }
    if (known.kind == Command::Kind::ctl) {
      subcommand->add_option("PID", command.process, "process of umwelt run")->required()->check(CLI::PositiveNumber);
      subcommand->add_option(
          "REQUEST", command.arguments,
          "model=[NODES=]MODEL, as for --model-at, or cpu=[NODES=]POLICY, as for --cpu-at; without any: "
          "how the run is");
    }
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

} // namespace

} // namespace umwelt::cli
