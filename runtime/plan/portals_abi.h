// SPDX-License-Identifier: LGPL-2.1-or-later
// In which ABI a program calls Portals 4 (preload/portals/ABIS.md): that of preload/abi/portals4.h, or one that a
// library in front of the shim translates. All objects of a process have the same, since ld.so finds a function of
// Portals by its name, for whomever.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "loader/program.h"

namespace umwelt::plan
{

enum class PortalsAbi { four_three, four_two, bxi };

// As the user writes it, and as libraries call it.
std::string_view name_of(PortalsAbi abi);

// auto|4.3|4.2|bxi; nothing for auto. Throws UsageError.
std::optional<PortalsAbi> parse_portals_abi(std::string_view option, std::string_view text);

// An object, program or library, that calls Portals.
struct PortalsObject {
  std::string path;
  std::vector<std::string> calls; // functions of Portals that it finds elsewhere
  std::string library;            // soname of the libportals that it is linked against; empty: none
  bool has_note = false;          // it was compiled with Umwelt's own portals4.h
};

struct PortalsChoice {
  PortalsAbi abi = PortalsAbi::four_three;
  std::string note; // one line for the user; empty: nothing was left open
};

// Throws loader::Refusal for objects that cannot be served by one library, UsageError if an object is for certain not
// of the `wanted` one (--portals-abi).
PortalsChoice choose_portals_abi(std::span<const PortalsObject> objects, std::optional<PortalsAbi> wanted);

// Those of a program and its libraries that call Portals. None if no library is named libportals.so..., without a look
// into any.
std::vector<PortalsObject> find_portals_objects(const loader::Program& program);

} // namespace umwelt::plan
