// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/mpi/functions.h"

#include <array>

namespace umwelt::mpi
{

namespace
{

// Not within the functions: there they would be copied to the stack at each call.
constexpr auto function_names = std::to_array<std::string_view>({
    "none",
#define UMW_MPI(name, class, arity, ...) "MPI_" #name,
#include "preload/abi/tables/mpi.def"
#undef UMW_MPI
});
static_assert(function_names.size() == UMW_MPI_FUNCTIONS);

constexpr auto function_classes = std::to_array<umw_mpi_class>({
    UMW_MPI_management,
#define UMW_MPI(name, class, arity, ...) UMW_MPI_##class,
#include "preload/abi/tables/mpi.def"
#undef UMW_MPI
});

} // namespace

std::string_view function_name(std::uint32_t function)
{
  return function_names.at(function);
}

umw_mpi_class function_class(std::uint32_t function)
{
  return function_classes.at(function);
}

bool function_receives(std::uint32_t function)
{
  const std::string_view name = function_name(function);
  return name.find("recv") != std::string_view::npos || name.find("Recv") != std::string_view::npos;
}

} // namespace umwelt::mpi
