// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/launch/mpi_settings.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "runtime/base/environment.h"
#include "runtime/base/usage_error.h"
#include "runtime/job/environment.h"
#include "runtime/openmpi/components.h"
#include "runtime/plan/openmpi.h"

namespace umwelt::launch
{

namespace
{

namespace fs = std::filesystem;

// Where Open MPI's library is among these; empty: it is not.
fs::path open_mpi_of(const std::vector<loader::Library>& libraries)
{
  const auto found = std::find_if(libraries.begin(), libraries.end(), [](const loader::Library& library) {
    return library.name.starts_with("libmpi.so.40"); // libmpi.so.12 is of MPICH's ABI
  });
  return found == libraries.end() ? fs::path() : fs::path(found->path);
}

std::size_t most_of_node(const plan::Placement& placement)
{
  std::size_t most = 0;
  for (const plan::RankPlace& place : placement.ranks)
    most = std::max<std::size_t>(most, place.local_rank + 1);
  return most;
}

// libfabric finds the provider of this network (preload/libfabric). A program that is linked to libfabric, or to a
// library with the ABI of MPICH, which may open it, gets that one and no other, unless the user has chosen.
void add_provider(job::Environment& environment, const std::vector<std::string>& needed, const std::string& directory)
{
  constexpr std::string_view path = "FI_PROVIDER_PATH";
  constexpr std::string_view chosen = "FI_PROVIDER";
  const char* const given = job::variable(environment, path);
  const std::string users = given != nullptr ? given : "";
  if (users.empty())
    job::set_variable(environment, path, directory);
  else if (fmt::format(":{}:", users).find(fmt::format(":{}:", directory)) ==
           std::string::npos) // a script's program has it from the script
    job::set_variable(environment, path, fmt::format("{}:{}", users, directory));
  const bool uses = std::any_of(needed.begin(), needed.end(), [](const std::string& name) {
    return name.starts_with("libfabric.so.") || name.starts_with("libmpi.so.12");
  });
  if (uses && job::variable(environment, chosen) == nullptr)
    job::set_variable(environment, chosen, "umwelt");
}

} // namespace

std::vector<std::string> sonames(const loader::Program& program)
{
  std::vector<std::string> names;
  for (const loader::Library& library : program.libraries)
    names.push_back(library.name);
  return names;
}

void add_mpi_settings(plan::ProgramPlan& plan, const plan::RunOptions& options, std::size_t index,
                      const plan::Placement& placement, const Installation& installation,
                      std::vector<std::string>& notes)
{
  const std::vector<std::string> needed = sonames(plan.program);
  if (plan.portals_library.empty())
    add_provider(plan.environment, needed, installation.providers);
  fs::path mpi = open_mpi_of(plan.program.libraries);
  if (const auto oshmem = std::find_if(needed.begin(), needed.end(),
                                       [](const std::string& name) { return name.starts_with("liboshmem."); });
      oshmem != needed.end())
    throw loader::Refusal(loader::Refusal::Kind::not_runnable,
                          fmt::format("{}: expected an OpenSHMEM library over Portals 4 (libsma of Sandia OpenSHMEM), "
                                      "got Open MPI's ({}), which needs a UCX with a "
                                      "network of its own. Next step: build the program with oshcc of Sandia OpenSHMEM "
                                      "(runtime/portals/OPENSHMEM.md)",
                                      plan.program.path, *oshmem));
  if (options.fault_tolerant && !mpi.empty()) // before components are built for it
    plan::check_fault_tolerance(mpi);
  const std::vector<plan::Setting> mca = plan::mca_of_program(options, index);
  // Umwelt's components are of one ABI with the shim.
  fs::path components;
  const auto set_up = [&] {
    return plan::set_up_open_mpi({mca, process_environment, options.programs[index].exports, mpi, components,
                                  std::max<std::size_t>(placement.ranks.size(), 1), most_of_node(placement),
                                  options.fault_tolerant});
  };
  if (plan::is_open_mpi(needed)) {
    if (plan.portals_library.empty())
      components = openmpi::choose(installation.for_open_mpi(), mpi, process_environment);
    const plan::OpenMpiSetup setup = set_up();
    for (const auto& [name, value] : setup.variables)
      job::set_variable(plan.environment, name, value);
    notes.insert(notes.end(), setup.notes.begin(), setup.notes.end());
    return;
  }
  // One that is linked to no MPI may open it later: Python with mpi4py.
  const bool other_mpi = std::any_of(needed.begin(), needed.end(), [](const std::string& name) {
    return name.starts_with("libmpi") || name.starts_with("libsma.") || name.starts_with("libportals.");
  });
  if (!other_mpi)
    mpi = open_mpi_of(loader::libraries_of(installation.components / "mca_mtl_portals4.so", plan.program,
                                           plan.environment, plan.directory));
  if (!mpi.empty() && plan.portals_library.empty())
    components = openmpi::find(installation.for_open_mpi(), mpi, process_environment).value_or(installation.components);
  if (mpi.empty() && options.fault_tolerant)
    throw UsageError(
        "--with-ft ulfm", "a program of Open MPI 5, or one that may open it",
        fmt::format("{}, which is of another library", plan.program.path),
        "Build it with the mpicc of an Open MPI 5, or leave the option out: then a rank that dies ends the "
        "job.");
  if (!mpi.empty())
    for (const auto& [name, value] : set_up().variables)
      job::set_variable(plan.environment, name, value);
  else
    for (const auto& [key, value] : mca)
      job::set_variable(plan.environment, "OMPI_MCA_" + key, value);
}

} // namespace umwelt::launch
