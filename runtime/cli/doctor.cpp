// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/cli/doctor.h"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <gnu/libc-version.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <sys/resource.h>

#include "runtime/base/exit_codes.h"
#include "runtime/base/version.h"
#include "runtime/openmpi/components.h"
#include "runtime/plan/needed_calls.h"

namespace umwelt::cli
{
namespace
{

std::string contents_of(const char* path)
{
  std::ifstream in(path);
  std::ostringstream text;
  if (in)
    text << in.rdbuf();
  return text.str();
}

std::uint64_t soft_limit(__rlimit_resource resource)
{
  rlimit limit{};
  return getrlimit(resource, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

std::uint64_t number_in(const char* path)
{
  std::uint64_t number = 0;
  std::istringstream(contents_of(path)) >> number;
  return number;
}

// MemAvailable of /proc/meminfo, in bytes.
std::uint64_t available_memory()
{
  std::istringstream lines(contents_of("/proc/meminfo"));
  std::string key;
  std::uint64_t kibibytes = 0;
  for (std::string line; std::getline(lines, line);) {
    if (std::istringstream(line) >> key >> kibibytes && key == "MemAvailable:")
      return kibibytes * 1024;
  }
  return 0;
}

std::string_view word_for(Health health)
{
  switch (health) {
  case Health::ok:
    return "OK";
  case Health::warn:
    return "WARN";
  case Health::fail:
    break;
  }
  return "FAIL";
}

} // namespace

std::vector<Finding> examine_machine(const DoctorRequest& request)
{
  const Finding open_mpi = check_open_mpi();
  std::vector<Finding> findings{
      check_fsgsbase(),
      check_syscall_dispatch(),
      check_memory_of_children(),
      check_glibc(gnu_get_libc_version()),
      check_dynamic_linker(),
      check_clock(),
      check_stack_limit(soft_limit(RLIMIT_STACK)),
      check_descriptor_limit(soft_limit(RLIMIT_NOFILE)),
      check_process_limit(soft_limit(RLIMIT_NPROC)),
      check_address_space_limit(soft_limit(RLIMIT_AS)),
      check_memory_maps(number_in("/proc/sys/vm/max_map_count")),
      check_memory(available_memory()),
      check_directory(request.temporary),
      check_confinement(contents_of("/proc/self/status"), contents_of("/proc/sys/kernel/yama/ptrace_scope")),
      check_system_calls(plan::refused_calls()),
      check_simgrid(),
      open_mpi,
      check_components(request.components, open_mpi.health == Health::ok, !openmpi::own_version().empty()),
  };
  for (const std::filesystem::path& library : request.libraries)
    findings.push_back(check_library(library, version()));
  for (const auto& [name, program] : request.programs)
    findings.push_back(check_program(name, program));
  return findings;
}

std::string doctor_text(std::span<const Finding> findings)
{
  std::size_t width = 0;
  for (const Finding& finding : findings)
    width = std::max(width, finding.subject.size());
  std::string text;
  for (const Finding& finding : findings) {
    text += fmt::format("{:<4}  {:<{}}  {}\n", word_for(finding.health), finding.subject, width, finding.detail);
    if (!finding.advice.empty())
      text += fmt::format("{:<{}}  -> {}\n", "", width + 6, finding.advice);
  }
  const auto count = [&](Health health) {
    return std::count_if(findings.begin(), findings.end(), [health](const Finding& f) { return f.health == health; });
  };
  if (count(Health::fail) != 0)
    return text + "\nUmwelt cannot run here until what FAILed is mended.\n";
  return text + (count(Health::warn) != 0 ? "\nUmwelt can run here, within the warnings above.\n"
                                          : "\nUmwelt can run here.\n");
}

std::string doctor_json(std::span<const Finding> findings)
{
  nlohmann::ordered_json json;
  json["ok"] = doctor_exit_code(findings) == exit_code::ok;
  json["findings"] = nlohmann::ordered_json::array();
  for (const Finding& finding : findings)
    json["findings"].push_back({{"subject", finding.subject},
                                {"health", word_for(finding.health)},
                                {"detail", finding.detail},
                                {"advice", finding.advice}});
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

int doctor_exit_code(std::span<const Finding> findings)
{
  const bool failed =
      std::any_of(findings.begin(), findings.end(), [](const Finding& f) { return f.health == Health::fail; });
  return failed ? exit_code::failure : exit_code::ok;
}

} // namespace umwelt::cli
