// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/launch/tracers.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>

#include "loader/program.h"
#include "runtime/base/usage_error.h"

namespace umwelt::launch
{

namespace
{

struct Tracer {
  std::string_view name;
  bool has_commands; // the word behind it is one of these: perf stat, rr record
  std::string_view why;
  std::string_view instead; // {}: the program with its arguments
};

constexpr std::string_view traces = "it traces a process of its own, and ranks share one with the simulation";

constexpr auto tracers = std::to_array<Tracer>({
    {"gdb", false, traces,
     "Start Umwelt inside it: gdb -ex 'handle SIG62 SIG63 SIGSYS nostop noprint pass' --args umwelt run --cpu none "
     "--workers 0 -np N {}\n"
     "  How it learns the symbols of the ranks: loader/README.md, part gdb."},
    {"ltrace", false, traces,
     "Run the program natively: mpirun -np N ltrace {}\n"
     "  Under Umwelt, umwelt run --trace FILE ... shows messages."},
    {"perf", true, traces, "Start Umwelt inside it, which carries the ranks: perf stat umwelt run -np N {}"},
    {"rr", true, traces,
     "Record the program natively: mpirun -np N rr record {}\n"
     "  Under Umwelt, umwelt run --cpu none ... repeats a run exactly."},
    {"strace", false, traces, "Start Umwelt inside it, which carries the ranks: strace -f umwelt run -np N {}"},
    {"valgrind", false, "it is statically linked, and emulates the processor by itself",
     "Run the program natively: mpirun -np N valgrind {}"},
});

} // namespace

void refuse_tracer(const std::vector<std::string>& argv, const std::vector<std::string>& environment,
                   const std::string& directory)
{
  const std::string name = std::filesystem::path(argv.front()).filename();
  const auto tracer = std::find_if(tracers.begin(), tracers.end(), [&](const Tracer& t) { return t.name == name; });
  if (tracer == tracers.end())
    return;
  const auto is_program = [&](const std::string& word) {
    try {
      return !word.empty() && word.front() != '-' && !loader::locate_program(word, environment, directory).empty();
    } catch (const loader::Refusal&) {
      return false;
    }
  };
  const auto arguments = argv.begin() + (tracer->has_commands && argv.size() > 1 ? 2 : 1);
  const auto program = std::find_if(arguments, argv.end(), is_program);
  if (program == argv.end())
    return;
  const std::string command = fmt::format("{}", fmt::join(program, argv.end(), " "));
  throw UsageError(fmt::format("program {}", in_quotes(argv.front())), "the program to simulate",
                   fmt::format("a tool to watch it with; {}", tracer->why),
                   fmt::format(fmt::runtime(tracer->instead), command));
}

} // namespace umwelt::launch
