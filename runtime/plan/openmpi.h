// SPDX-License-Identifier: LGPL-2.1-or-later
// What an Open MPI program needs in its environment to find Umwelt's Portals components and to use them.
//
// Open MPI reads its parameters from OMPI_MCA_<name> variables, which override $HOME/.openmpi/mca-params.conf, which
// overrides /etc/openmpi/openmpi-mca-params.conf. Umwelt sets a parameter only if the user has set it nowhere: not with
// --mca or --gmca, not in the environment, not in the file in his home. The system's file is the distribution's
// (Debian's excludes components by name) and does not count as the user's will.
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/environment.h"
#include "runtime/plan/options.h"

namespace umwelt::plan
{

// From the sonames of a program and everything it needs: is it linked to Open MPI's MPI or OpenSHMEM library?
bool is_open_mpi(std::span<const std::string> needed);

// Parameters of one program of the job: its --mca, --gmca, and --mca of the first program; the nearest wins.
std::vector<Setting> mca_of_program(const RunOptions& run, std::size_t program);

// Reads a parameter file (name = value, comments with # and //); lines that are neither are skipped, as Open MPI does.
std::map<std::string, std::string> parse_mca_file(std::string_view text);

// --with-ft: throws UsageError if libmpi.so.40 is not of an Open MPI that can be fault tolerant.
void check_fault_tolerance(const std::filesystem::path& library);

struct OpenMpiRequest {
  std::vector<Setting> mca;                 // mca_of_program()
  Lookup environment = process_environment; // the ranks' environment before -x of the program ...
  std::vector<Setting> exports;             // ... and these
  std::filesystem::path library;            // libmpi.so.40 as the program's loader finds it
  std::filesystem::path components;         // directory of Umwelt's mca_*_portals4.so; empty: the library has its own
  std::size_t ranks = 1;                    // of the run
  std::size_t most_of_node = 1;             // of these: on one node
  bool fault_tolerant = false;              // --with-ft
};

struct OpenMpiSetup {
  std::vector<Setting> variables; // to be set in the ranks' environment, OMPI_MCA_...
  std::vector<std::string> notes; // one line each: what takes traffic off the simulated network, or costs much
};

// Throws UsageError if Open MPI's own components cannot be found beside its library, and if it cannot be fault tolerant
// and is to be.
OpenMpiSetup set_up_open_mpi(const OpenMpiRequest& request);

} // namespace umwelt::plan
