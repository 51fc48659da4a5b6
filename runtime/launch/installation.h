// SPDX-License-Identifier: LGPL-2.1-or-later
// Where the parts of Umwelt lie, relative to the running executable: PREFIX/bin/umwelt and PREFIX/lib/umwelt/ in an
// installation and in the build directory alike.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runtime/openmpi/components.h"
#include "runtime/plan/portals_abi.h"

namespace umwelt::launch
{

struct Installation {
  std::filesystem::path programs;   // directory of umwelt itself and of ptlbench
  std::filesystem::path shim;       // libumwelt-preload.so
  std::filesystem::path fold;       // libumwelt-fold.so
  std::filesystem::path mpi;        // libumwelt-mpi.so
  std::filesystem::path wrapper;    // libumwelt-wrapper.so
  std::filesystem::path libraries;  // directory of libportals.so.4
  std::filesystem::path components; // directory of mca_*_portals4.so
  std::filesystem::path recipe;     // directory of what builds them for another Open MPI
  std::filesystem::path providers;  // directory of libumwelt-fi.so
  std::filesystem::path calibrate;  // the program behind `umwelt calibrate`
  std::filesystem::path tune;       // likewise
  std::filesystem::path sweep;      // likewise; Python
  std::filesystem::path serve;      // the program behind --serve

  [[nodiscard]] openmpi::Parts for_open_mpi() const { return {components, recipe, libraries}; }
  // The files that every run needs.
  [[nodiscard]] std::vector<std::filesystem::path> needed() const;
  // What translates this ABI of Portals into the shim's; empty: nothing has to.
  [[nodiscard]] std::filesystem::path portals(plan::PortalsAbi abi) const;
  // Libraries for ranks (loader/linker.h).
  [[nodiscard]] std::vector<std::string> preloaded(bool folding, bool mpi_layer) const;
};

Installation find_installation();

} // namespace umwelt::launch
