// SPDX-License-Identifier: LGPL-2.1-or-later
// Calls of MPI in summary and report (--mpi-calls).
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "runtime/observe/statistics.h"

namespace umwelt::observe
{

std::string mpi_tables(const JobRecord& job); // empty: they were not followed
nlohmann::ordered_json mpi_json(const JobRecord& job);

} // namespace umwelt::observe
