// SPDX-License-Identifier: LGPL-2.1-or-later
// Which of the two ways to load ranks a run takes (loader/README.md).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "loader/program.h"
#include "runtime/plan/options.h"

namespace umwelt::plan
{

struct LoaderChoice {
  Loader loader = Loader::linker; // not `automatic`
  std::string note;               // one line, for who has not chosen: why it is not the usual one; empty: it is
};

// `linker` where the programs' dynamic linkers are known to work so, else `dlmopen`. Throws loader::Refusal if the
// programs cannot be loaded in the way that is wished for.
LoaderChoice choose_loader(Loader wish, std::span<const loader::Program* const> programs);

// What a process may have of ranks if `room` of them fit otherwise.
unsigned room_with(Loader loader, unsigned room);

} // namespace umwelt::plan
