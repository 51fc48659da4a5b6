// SPDX-License-Identifier: LGPL-2.1-or-later
// The `umwelt` command.
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include <cstdlib>

#include <fmt/format.h>

#include "loader/program.h"
#include "platforms/platform.h"
#include "runtime/cli/command.h"
#include "runtime/cli/coverage.h"
#include "runtime/cli/doctor.h"
#include "runtime/cli/exit_codes.h"
#include "runtime/cli/platforms_command.h"
#include "runtime/launch/installation.h"
#include "runtime/launch/restart.h"
#include "runtime/launch/run.h"

namespace
{

using namespace umwelt;

int doctor(bool json)
{
  const char* temporary = std::getenv("TMPDIR");
  const auto findings = cli::examine_machine(
      {launch::find_installation().components, temporary != nullptr && *temporary != '\0' ? temporary : "/tmp"});
  fmt::print("{}", json ? cli::doctor_json(findings) : cli::doctor_text(findings));
  return cli::doctor_exit_code(findings);
}

int execute(const cli::Command& command, const std::vector<std::string>& arguments)
{
  switch (command.kind) {
  case cli::Command::Kind::run:
    return launch::prepare(command.run, arguments);
  case cli::Command::Kind::platforms:
    fmt::print("{}",
               command.json ? cli::platforms_json(platform::catalogue()) : cli::platforms_text(platform::catalogue()));
    return cli::exit_code::ok;
  case cli::Command::Kind::doctor:
    return doctor(command.json);
  case cli::Command::Kind::coverage:
    fmt::print("{}", command.json ? cli::coverage_json(cli::coverage_tables())
                                  : cli::coverage_markdown(cli::coverage_tables()));
    return cli::exit_code::ok;
  case cli::Command::Kind::text:
    break;
  }
  fmt::print("{}", command.text);
  return cli::exit_code::ok;
}

} // namespace

int main(int argc, char** argv)
{
  try {
    if (const auto again = launch::restarted())
      launch::run(cli::parse_command(again->arguments).run, argv);
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    return execute(cli::parse_command(arguments), arguments);
  } catch (const cli::UsageError& error) {
    fmt::print(stderr, "umwelt: {}\n", error.what());
    return cli::exit_code::usage;
  } catch (const loader::Refusal& error) {
    fmt::print(stderr, "umwelt run: {}\n", error.what());
    return error.kind() == loader::Refusal::Kind::not_found ? cli::exit_code::not_found : cli::exit_code::refused;
  } catch (const std::exception& error) {
    fmt::print(stderr, "umwelt: {}\n", error.what());
    return cli::exit_code::failure;
  }
}
