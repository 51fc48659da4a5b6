// SPDX-License-Identifier: LGPL-2.1-or-later
// The functions of MPI that ranks' calls are told by.
#pragma once

#include <cstdint>
#include <string_view>

#include "preload/abi/mpi_calls.h"

namespace umwelt::mpi
{

std::string_view function_name(std::uint32_t function); // "MPI_Send"; of an umw_mpi_function
umw_mpi_class function_class(std::uint32_t function);
// A message is received by it, or a receive begun; MPI_Sendrecv, too.
bool function_receives(std::uint32_t function);

} // namespace umwelt::mpi
