// SPDX-License-Identifier: LGPL-2.1-or-later
#include <array>

#include "runtime/kernels/table_row.h"
#include "runtime/kernels/tables/counts.h"

namespace umwelt::kernels
{

namespace
{

#define UMW_KERNEL(interface, types, prototype, parameters, sizes, flops, bytes)                                       \
  TableRow{Interface::interface, types, prototype, parameters, sizes, flops, bytes},
constexpr auto rows = std::to_array<TableRow>({
#include "runtime/kernels/tables/blas.def"
#include "runtime/kernels/tables/fftw.def"
#include "runtime/kernels/tables/lapack_eigenvalues.def"
#include "runtime/kernels/tables/lapack_linear.def"
});
#undef UMW_KERNEL

} // namespace

std::span<const TableRow> table_rows()
{
  return rows;
}

} // namespace umwelt::kernels
