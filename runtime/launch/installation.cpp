// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/launch/installation.h"

namespace umwelt::launch
{

Installation find_installation()
{
  const std::filesystem::path programs = std::filesystem::canonical("/proc/self/exe").parent_path();
  const std::filesystem::path libraries = programs.parent_path() / UMWELT_LIBDIR / "umwelt";
  return {programs,
          libraries / "libumwelt-preload.so",
          libraries / "libumwelt-fold.so",
          libraries / "libumwelt-mpi.so",
          libraries / "libumwelt-wrapper.so",
          libraries,
          libraries / "openmpi",
          programs.parent_path() / UMWELT_DATADIR / "umwelt" / "openmpi",
          libraries / "libfabric",
          libraries / "umwelt-calibrate",
          libraries / "umwelt-tune",
          libraries / "umwelt-sweep",
          libraries / "umwelt-serve"};
}

std::vector<std::string> Installation::preloaded(bool folding, bool mpi_layer) const
{
  std::vector<std::string> all;
  if (folding) // first: MPI_Alloc_mem is for whoever calls it, which libumwelt-fold.so does not see otherwise
    all.push_back(fold);
  if (mpi_layer)
    all.push_back(mpi);
  all.push_back(shim);
  return all;
}

std::filesystem::path Installation::portals(plan::PortalsAbi abi) const
{
  switch (abi) {
  case plan::PortalsAbi::four_two:
    return libraries / "libportals-4.2.so";
  case plan::PortalsAbi::bxi:
    return libraries / "libportals.so.1";
  default:
    return {};
  }
}

std::vector<std::filesystem::path> Installation::needed() const
{
  return {shim,
          fold,
          mpi,
          wrapper,
          libraries / "libportals.so.4",
          portals(plan::PortalsAbi::four_two),
          portals(plan::PortalsAbi::bxi)};
}

} // namespace umwelt::launch
