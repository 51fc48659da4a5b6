// SPDX-License-Identifier: LGPL-2.1-or-later
// The `umwelt` command.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "loader/program.h"
#include "net_models/catalogue.h"
#include "platforms/platform.h"
#include "runtime/base/control_channel.h"
#include "runtime/base/exit_codes.h"
#include "runtime/base/usage_error.h"
#include "runtime/cli/command.h"
#include "runtime/cli/coverage.h"
#include "runtime/cli/doctor.h"
#include "runtime/cli/models_command.h"
#include "runtime/cli/platforms_command.h"
#include "runtime/launch/installation.h"
#include "runtime/launch/repeat.h"
#include "runtime/launch/restart.h"
#include "runtime/launch/run.h"
#include "runtime/openmpi/command.h"
#include "runtime/rank_host/signals.h"
#include "runtime/report/compare_command.h"
#include "runtime/report/explain_command.h"
#include "runtime/report/report_command.h"

#if defined(__SANITIZE_ADDRESS__)
// Faults of ranks are theirs. Stacks of ranks that a run ends are left as they stand, with what their frames own.
extern "C" const char* __asan_default_options();
const char* __asan_default_options()
{
  return "detect_leaks=0:handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0:handle_abort=0:exitcode=99";
}
#endif

namespace
{

using namespace umwelt;

int doctor(bool json)
{
  const char* temporary = std::getenv("TMPDIR");
  const launch::Installation installation = launch::find_installation();
  const auto findings = cli::examine_machine({installation.components,
                                              temporary != nullptr && *temporary != '\0' ? temporary : "/tmp",
                                              installation.needed(),
                                              {{"umwelt calibrate", installation.calibrate},
                                               {"umwelt tune", installation.tune},
                                               {"umwelt sweep", installation.sweep},
                                               {"umwelt run --serve", installation.serve}}});
  fmt::print("{}", json ? cli::doctor_json(findings) : cli::doctor_text(findings));
  return cli::doctor_exit_code(findings);
}

// Another program in place of this one.
[[noreturn]] void become(std::string program, std::string_view command, std::vector<std::string> arguments)
{
  std::vector<char*> argv{program.data()};
  for (std::string& argument : arguments)
    argv.push_back(argument.data());
  argv.push_back(nullptr);
  execv(program.c_str(), argv.data());
  throw std::runtime_error(fmt::format("{}: expected the program behind `umwelt {}`, got: {}. Install Umwelt again, "
                                       "or build the whole project",
                                       program, command, std::strerror(errno)));
}

// Linked to GSL, whose licence is not ours.
[[noreturn]] void calibrate(std::vector<std::string> arguments)
{
  become(launch::find_installation().calibrate, "calibrate", std::move(arguments));
}

// A program that starts this command many times.
[[noreturn]] void become_caller(std::string program, std::string_view command, std::vector<std::string> arguments)
{
  arguments.insert(arguments.begin(), std::filesystem::canonical("/proc/self/exe").string());
  become(std::move(program), command, std::move(arguments));
}

// gdb in place of this one.
[[noreturn]] void debug(const cli::Command& command)
{
  std::vector<std::string> words{"gdb", "-q", "-x", launch::find_installation().libraries / "umwelt-gdb.py"};
  words.insert(words.end(), command.debugger.begin(), command.debugger.end());
  words.insert(words.end(), {"--args", std::filesystem::canonical("/proc/self/exe").string(), "run", "--workers", "0"});
  words.insert(words.end(), command.arguments.begin(), command.arguments.end());
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words)
    argv.push_back(word.data());
  argv.push_back(nullptr);
  execvp(argv.front(), argv.data());
  throw std::runtime_error(
      fmt::format("umwelt debug: expected gdb in PATH, got: {}. Next step: install gdb", std::strerror(errno)));
}

int ctl(int process, std::vector<std::string> requests)
{
  constexpr unsigned patience = 60; // seconds
  if (requests.empty())
    requests.emplace_back("status");
  for (const std::string& request : requests) {
    const std::string answer = ask_run(process, request, patience);
    const std::string_view text = std::string_view(answer).substr(std::min(answer.find(' ') + 1, answer.size()));
    if (!answer.starts_with("ok "))
      throw UsageError(fmt::format("{}", text));
    fmt::print("{}\n", text);
  }
  return exit_code::ok;
}

int execute(const cli::Command& command, const std::vector<std::string>& arguments)
{
  switch (command.kind) {
  case cli::Command::Kind::run:
    return command.run.repeat > 1 ? launch::repeat(command.run, arguments) : launch::prepare(command.run, arguments);
  case cli::Command::Kind::platforms:
    if (!command.platform.spec.empty()) {
      const cli::PlatformAnswer answer = cli::answer(command.platform, command.json);
      fmt::print("{}", answer.text);
      return answer.sound ? exit_code::ok : exit_code::usage;
    }
    fmt::print("{}",
               command.json ? cli::platforms_json(platform::catalogue()) : cli::platforms_text(platform::catalogue()));
    return exit_code::ok;
  case cli::Command::Kind::models:
    fmt::print("{}", command.json ? cli::models_json(net::models(), net::node_entry())
                                  : cli::models_text(net::models(), net::node_entry()));
    return exit_code::ok;
  case cli::Command::Kind::calibrate:
    calibrate(command.arguments);
  case cli::Command::Kind::tune:
    become_caller(launch::find_installation().tune, "tune", command.arguments);
  case cli::Command::Kind::sweep:
    become_caller(launch::find_installation().sweep, "sweep", command.arguments);
  case cli::Command::Kind::debug:
    debug(command);
  case cli::Command::Kind::openmpi:
    return openmpi::examine(launch::find_installation().for_open_mpi(), command.arguments.front(), command.source,
                            process_environment);
  case cli::Command::Kind::ctl:
    return ctl(command.process, command.arguments);
  case cli::Command::Kind::report:
    fmt::print("{}", report::report_command(command.arguments.front(), command.page));
    return exit_code::ok;
  case cli::Command::Kind::compare:
    fmt::print("{}", report::compare_command(command.arguments, command.page));
    return exit_code::ok;
  case cli::Command::Kind::explain:
    fmt::print("{}", report::explain_command(command.arguments.front(), command.json));
    return exit_code::ok;
  case cli::Command::Kind::doctor:
    return doctor(command.json);
  case cli::Command::Kind::coverage:
    fmt::print("{}", command.json ? cli::coverage_json(cli::coverage_tables())
                                  : cli::coverage_markdown(cli::coverage_tables()));
    return exit_code::ok;
  case cli::Command::Kind::text:
    break;
  }
  fmt::print("{}", command.text);
  return exit_code::ok;
}

} // namespace

int main(int argc, char** argv)
{
  rank_host::Signals::tolerate_stray_traps();
  std::string_view who = "umwelt run"; // for messages about programs
  try {
    if (const auto again = launch::restarted()) {
      plan::RunOptions options = launch::options_of(again->repetition, cli::parse_command(again->arguments).run);
      options.loader = again->loader;
      launch::run(std::move(options), launch::unpack(again->findings), again->arguments);
    }
    const std::vector<std::string> given(argv + std::min(argc, 1), argv + argc);
    const std::vector<std::string> arguments = cli::command_words(argc > 0 ? argv[0] : "umwelt", given);
    const cli::Command command = cli::parse_command(arguments);
    if (command.kind == cli::Command::Kind::openmpi)
      who = "umwelt openmpi";
    const int code = execute(command, arguments);
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
      throw std::runtime_error(
          fmt::format("standard output: expected all of it to be written, got: {}. Next step: make "
                      "room, or send it elsewhere",
                      std::strerror(errno)));
    return code;
  } catch (const UsageError& error) {
    fmt::print(stderr, "umwelt: {}\n", error.what());
    return exit_code::usage;
  } catch (const loader::Refusal& error) {
    fmt::print(stderr, "{}: {}\n", who, error.what());
    return error.kind() == loader::Refusal::Kind::not_found ? exit_code::not_found : exit_code::refused;
  } catch (const std::invalid_argument& error) {
    fmt::print(stderr, "umwelt run: {}\n", error.what());
    return exit_code::usage;
  } catch (const std::exception& error) {
    fmt::print(stderr, "umwelt: {}\n", error.what());
    return exit_code::failure;
  }
}
