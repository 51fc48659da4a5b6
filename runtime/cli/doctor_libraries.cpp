// SPDX-License-Identifier: LGPL-2.1-or-later
// Libraries the ranks and the runtime use. They are loaded in a child process: their constructors are none of ours.
#include "runtime/cli/doctor.h"

#include <cstring>
#include <dlfcn.h>
#include <fmt/format.h>
#include <simgrid/forward.h> // for the macros that version.h uses
#include <simgrid/version.h>
#include <string_view>
#include <unistd.h>
#include <vector>

#include "runtime/base/child_answer.h"
#include "runtime/openmpi/components.h"
#include "runtime/openmpi/library.h"

namespace umwelt::cli
{
namespace
{

std::vector<const char*> components()
{
  std::vector<const char*> files{"mca_btl_portals4.so", "mca_mtl_portals4.so", "mca_osc_portals4.so",
                                 "mca_coll_portals4.so"};
  if (openmpi::own_version().starts_with("4."))
    files.push_back("mca_osc_pt2pt.so");
  return files;
}

std::string last_error()
{
  const char* error = dlerror();
  return error == nullptr ? "unknown error" : error;
}

// Empty if all of them load, else the first error.
std::string load_components(const std::filesystem::path& directory)
{
  if (dlopen("libmpi.so.40", RTLD_LAZY | RTLD_GLOBAL) == nullptr)
    return last_error();
  for (const char* component : components()) {
    if (dlopen((directory / component).c_str(), RTLD_LAZY | RTLD_LOCAL) == nullptr)
      return last_error();
  }
  return "loaded";
}

} // namespace

Finding check_open_mpi()
{
  Finding finding{"Open MPI", Health::ok, "", ""};
  const std::string answer = openmpi::description("libmpi.so.40");
  if (answer.empty() || answer.front() == '!') {
    finding.health = Health::warn;
    finding.detail = answer.empty() ? "libmpi.so.40 crashed while it was loaded" : answer.substr(1);
    finding.advice = "To run MPI programs: apt-get install openmpi-bin. Portals programs run without.";
    return finding;
  }
  const auto line = answer.find('\n');
  const std::string version = answer.substr(0, answer.find(',')); // "Open MPI v4.1.4, package: ..."
  finding.detail = fmt::format("{} ({})", version, answer.substr(line + 1));
  const std::string_view built_for = openmpi::series(openmpi::own_version());
  if (!built_for.empty() && !version.starts_with(fmt::format("Open MPI v{}.", built_for))) {
    finding.health = Health::warn;
    finding.advice = fmt::format("Umwelt's components are built for Open MPI {}. For this one: umwelt openmpi --source "
                                 "SOURCE {}",
                                 built_for, answer.substr(line + 1));
  }
  return finding;
}

Finding check_components(const std::filesystem::path& directory, bool open_mpi, bool built)
{
  if (!built)
    return {"Portals components", Health::warn, "none: Umwelt was built without an Open MPI (UMWELT_OPENMPI=OFF)",
            "For the Open MPI of a program: umwelt openmpi --source SOURCE PROGRAM. Others need none."};
  Finding finding{"Portals components", Health::ok, directory.string(), ""};
  const Health trouble = open_mpi ? Health::fail : Health::warn; // nobody needs them without it
  constexpr const char* rebuild = "Build and install Umwelt with libopenmpi-dev and Open MPI's source package at hand.";
  for (const char* component : components()) {
    const std::filesystem::path file = directory / component;
    if (access(file.c_str(), R_OK) != 0) {
      finding.health = trouble;
      finding.detail = errno == ENOENT ? fmt::format("{} is missing", file.string())
                                       : fmt::format("{}: {}", file.string(), std::strerror(errno));
      finding.advice = fmt::format("{} Without them MPI programs have no network.", rebuild);
      return finding;
    }
  }
  const std::string answer = child_answer([&] { return load_components(directory); });
  if (answer != "loaded") {
    finding.health = trouble;
    finding.detail =
        answer.empty() ? fmt::format("{}: a component crashed while it was loaded", directory.string()) : answer;
    finding.advice = fmt::format("{} They must match the Open MPI installed here.", rebuild);
  }
  return finding;
}

Finding check_simgrid()
{
  int major = 0;
  int minor = 0;
  int patch = 0;
  sg_version_get(&major, &minor, &patch);
  Finding finding{"SimGrid", Health::ok, fmt::format("{}.{}", major, minor), ""};
  if (major != SIMGRID_VERSION_MAJOR || minor != SIMGRID_VERSION_MINOR) {
    finding.health = Health::fail;
    finding.detail = fmt::format("{}.{}, but Umwelt was built with {}.{}", major, minor, SIMGRID_VERSION_MAJOR,
                                 SIMGRID_VERSION_MINOR);
    finding.advice = "Rebuild Umwelt, or install the version it was built with.";
  }
  return finding;
}

} // namespace umwelt::cli
