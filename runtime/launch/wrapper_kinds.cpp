// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/launch/wrapper_kinds.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <string_view>
#include <vector>

#include "runtime/job/environment.h"

namespace umwelt::launch
{

namespace fs = std::filesystem;

namespace
{

constexpr auto shells = std::to_array<std::string_view>(
    {"sh", "ash", "bash", "busybox", "csh", "dash", "fish", "ksh", "ksh93", "mksh", "posh", "tcsh", "yash", "zsh"});
constexpr auto tools = std::to_array<std::string_view>({"chrt", "env", "ionice", "nice", "nohup", "numactl", "prlimit",
                                                        "setarch", "setsid", "stdbuf", "taskset", "time", "timeout"});
// A program that is linked to one of these takes part in a job.
constexpr auto job_libraries = std::to_array<std::string_view>(
    {"libmpi", "liboshmem.", "libpmi.", "libpmi2.", "libpmix.", "libportals.", "libsma.", "libshmem."});

template <std::size_t n> bool contains(const std::array<std::string_view, n>& names, std::string_view name)
{
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool takes_part_in_jobs(const loader::Program& program)
{
  return std::any_of(program.libraries.begin(), program.libraries.end(), [](const loader::Library& library) {
    return std::any_of(job_libraries.begin(), job_libraries.end(),
                       [&library](std::string_view name) { return library.name.starts_with(name); });
  });
}

} // namespace

bool is_tool(const loader::Program& program)
{
  return contains(tools, fs::path(program.path).filename().string());
}

bool is_wrapper(const loader::Program& program)
{
  return contains(shells, fs::path(program.path).filename().string()) || (is_tool(program) && program.argv.size() > 1);
}

const ExecutionKind& Judge::operator()(const Question& question)
{
  auto environment = question.environment;
  job::set_variable(environment, "PATH", question.path_variable);
  const char* libraries = job::variable(environment, "LD_LIBRARY_PATH");
  const std::string name =
      question.searched || question.file.find('/') != std::string::npos ? question.file : "./" + question.file;
  const auto key = std::make_tuple(name, question.argv.size() > 1, question.directory,
                                   std::string(libraries != nullptr ? libraries : ""), question.path_variable);
  if (const auto known = known_.find(key); known != known_.end())
    return known->second;
  ExecutionKind kind;
  remove_traces(environment, library_);
  try {
    kind.file = loader::locate_program(name, environment, question.directory, own_programs_);
    std::vector<std::string> argv = question.argv;
    argv.front() = kind.file;
    const loader::Program program = loader::find_program(argv, environment, question.directory, own_programs_);
    kind.wrapper = is_wrapper(program);
    kind.tool = is_tool(program);
    kind.in_jobs = takes_part_in_jobs(program);
  } catch (const loader::Refusal& refusal) {
    kind.refused = refusal.kind() == loader::Refusal::Kind::not_runnable;
    kind.absent = !kind.refused; // the wrapper says so itself
    kind.why = refusal.what();
  }
  return known_.emplace(key, kind).first->second;
}

} // namespace umwelt::launch
