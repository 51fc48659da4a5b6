// SPDX-License-Identifier: LGPL-2.1-or-later
// A row of the built-in table (tables/*.def) and what it stands for.
//
// A row is of all types of a function. Its texts have places in which the types differ:
//   ?           in the prototype: the letter s, d, c or z; of FFTW the prefix fftw_, fftwf_ or fftwl_ (d, s, l)
//   {a|b}       the first for real, the second for complex types; with as many parts as the row has types, one each
//   T, R        in the prototype and the parameters: the type of the elements, and that of their real parts
//   I, C        results of the prototype: an index (int in Fortran, size_t in CBLAS); a complex number
//   $m $a $f    in counts: operations of a multiplication, of an addition, and of both (real: 1, 1, 2; complex: 6, 2,
//   8) $s $r       in counts: bytes of an element, and of its real part
//
// Parameters are Fortran's. Those of C follow from them: Fortran's references to scalars are values (pointers if they
// are complex), CBLAS has enumerations for characters, CBLAS from level 2 on and LAPACKE have a layout in front, and
// LAPACKE does without INFO and workspace. A complex result is written like its real part, since GNU Fortran returns
// both parts in vector registers; CBLAS has one more pointer for it instead.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/kernels/builtin.h"

namespace umwelt::kernels
{

enum class Interface : std::uint8_t {
  level1,         // Fortran, and CBLAS without a layout
  level23,        // Fortran, and CBLAS with a layout
  fortran,        // Fortran alone
  lapack,         // Fortran, and LAPACKE with a layout
  lapack_vectors, // Fortran, and LAPACKE without a layout: nothing but vectors
  fftw            // C, and Fortran with the plan by reference
};

struct TableRow {
  Interface interface;
  std::string_view types; // letters
  std::string_view prototype;
  std::string_view parameters;
  std::string_view sizes; // names between blanks
  std::string_view flops, bytes;
};

// One function for each of the row's types.
std::vector<KernelFunction> expand(const TableRow& row);

std::span<const TableRow> table_rows();

} // namespace umwelt::kernels
