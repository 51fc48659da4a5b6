// SPDX-License-Identifier: LGPL-2.1-or-later
// Which Portals components go with an Open MPI. A component shares Open MPI's inner structures, which differ between
// series (4.1, 5.0) and by how it was configured. Umwelt has those for the Open MPI that it was built with; for others
// they are built from that Open MPI's source, once, and kept:
//
//     $XDG_CACHE_HOME/umwelt/openmpi/IDENTITY/mca_*.so, `made`      (XDG_CACHE_HOME: ~/.cache)
//
// `made` says by what; components that another Umwelt has made, or this one before it was moved, count as not there.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "runtime/base/environment.h"

namespace umwelt::openmpi
{

// The parts of Umwelt that matter here.
struct Parts {
  std::filesystem::path components; // for the Open MPI it was built with
  std::filesystem::path recipe;     // what builds others: preload/openmpi as it is installed
  std::filesystem::path libraries;  // directory of libportals.so.4
};

// Of the Open MPI that Umwelt was built with; empty: of none.
std::string_view own_version();
std::string_view own_identity();

// Where components for the library are kept. Throws UsageError if neither XDG_CACHE_HOME nor HOME is set.
std::filesystem::path kept_at(const std::filesystem::path& library, const Lookup& environment);

// What `made` says of components that this Umwelt makes.
std::string made_by(const Parts& parts);

// Components that are there: Umwelt's own if it was built with this very library, those that were made for it. None:
// neither.
std::optional<std::filesystem::path> find(const Parts& parts, const std::filesystem::path& library,
                                          const Lookup& environment);

// The same for a run, which makes them if UMWELT_OPENMPI_SOURCE says of what. Throws loader::Refusal: those of another
// build of the same release corrupt memory (with --enable-debug, or without an mtl, structures differ).
std::filesystem::path choose(const Parts& parts, const std::filesystem::path& library, const Lookup& environment);

} // namespace umwelt::openmpi
