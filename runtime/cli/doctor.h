// SPDX-License-Identifier: LGPL-2.1-or-later
// `umwelt doctor`: can this machine run simulations, and what to do if not. Each check looks at the effect it is about
// (it executes the instruction, maps the file, loads the library) rather than at a configuration that promises it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace umwelt::cli
{

enum class Health { ok, warn, fail }; // warn: runs work, but slower, fewer or without a feature

struct Finding {
  std::string subject;
  Health health = Health::ok;
  std::string detail;
  std::string advice; // empty when ok
};

struct DoctorRequest {
  std::filesystem::path components;             // directory of Umwelt's mca_*_portals4.so
  std::filesystem::path temporary;              // where files of a run go: $TMPDIR or /tmp
  std::vector<std::filesystem::path> libraries; // of Umwelt itself, which every run needs
  // Programs behind commands and options, with the name of these.
  std::vector<std::pair<std::string, std::filesystem::path>> programs;
};

std::vector<Finding> examine_machine(const DoctorRequest& request);

// One line per finding (OK, WARN, FAIL), advice below it.
std::string doctor_text(std::span<const Finding> findings);

// {"ok": bool, "findings": [{"subject", "health", "detail", "advice"}]}
std::string doctor_json(std::span<const Finding> findings);

// exit_code::ok if nothing failed, else exit_code::failure.
int doctor_exit_code(std::span<const Finding> findings);

// The single checks.
Finding check_fsgsbase();
Finding check_syscall_dispatch();
Finding check_memory_of_children();
Finding check_glibc(const std::string& version);
Finding check_dynamic_linker();
Finding check_clock();
Finding check_stack_limit(std::uint64_t soft);
Finding check_descriptor_limit(std::uint64_t soft);
Finding check_process_limit(std::uint64_t soft);
Finding check_address_space_limit(std::uint64_t soft);
Finding check_memory_maps(std::uint64_t max_map_count);
Finding check_memory(std::uint64_t available_bytes);
Finding check_directory(const std::filesystem::path& directory);
Finding check_confinement(const std::string& process_status, const std::string& ptrace_scope);
// `refused`: plan::refused_calls().
Finding check_system_calls(const std::vector<std::string>& refused);
Finding check_open_mpi();
// `open_mpi`: the one that they are built for is here. `built`: Umwelt was built with some.
Finding check_components(const std::filesystem::path& directory, bool open_mpi, bool built);
// `version`: of this command, which the library is to have, too.
Finding check_library(const std::filesystem::path& file, std::string_view version);
// The program behind a command such as "umwelt calibrate".
Finding check_program(std::string_view command, const std::filesystem::path& program);
Finding check_simgrid();

} // namespace umwelt::cli
