// SPDX-License-Identifier: LGPL-2.1-or-later
// MPICH's file of choices, for MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE (MPICH 4.0, src/mpi/coll/src/csel.c).
//
// A tree of objects: each member is a question ("comm_size<=16"), its value what follows from yes, the next member what
// follows from no; "algorithm=MPIR_Bcast_intra_binomial" is an answer. The file takes the place of the whole tree that
// is built into the library, and a call without an answer ends the program. So that tree is read from the library, and
// branches are put into it.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "runtime/tune/measurements.h"

namespace umwelt::tune
{

using Tree = nlohmann::ordered_json; // the order of the members is that of the questions

struct MpichLibrary { // NOLINT(bugprone-exception-escape): only where the library of JSON has no memory to move
  Tree tree;          // built in
  std::map<std::string, std::vector<std::string>> answers; // by function: "MPIR_Bcast_intra_binomial" ...
};

// `contents`: of the file of the library. Throws std::runtime_error if it has no such tree. `path` is for that.
MpichLibrary read_mpich_library(std::string_view contents, const std::string& path);

// What MPIR_CVAR_<FUNCTION>_INTRA_ALGORITHM calls an answer: "binomial", "nb".
std::string variable_value(std::string_view answer);

// The text of the file. Only calls on exactly as many ranks as were measured are answered in another way than by the
// library itself: several algorithms need a power of two. Choices have the names of variable_value().
std::string mpich_selection(const MpichLibrary& library, std::span<const Group> groups);

} // namespace umwelt::tune
