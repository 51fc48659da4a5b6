// SPDX-License-Identifier: LGPL-2.1-or-later
// The functions that everybody's kernels files name, so that nobody has to declare them: BLAS, LAPACK and FFTW 3, in
// all types, as Fortran and C call them. Each has its signatures, the sizes that its run time depends on, and how many
// floating point operations and bytes of memory a call takes. Where the counts come from is said in tables/.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/kernels/signature.h"

namespace umwelt::kernels
{

// One of the symbols under which programs call a function.
struct Spelling {
  std::string symbol;
  Signature signature;
  // Parameters of which one is -1 if the call only asks how much workspace it would need (LWORK of LAPACK). Such a call
  // takes no time and has to run, since its answer counts.
  std::vector<std::size_t> queries;
};

struct KernelFunction {
  std::string name; // "dgemm": what a kernels file calls it
  std::vector<Spelling> spellings;
  // Parameters of all spellings, for use in models; those of `of_plan` are of runtime/kernels/fftw_plans.h instead.
  // Characters (SIDE, JOBZ ...) are codes, of CBLAS the numbers of its enumerations.
  std::vector<std::string> sizes;
  std::string flops, bytes; // expressions of the sizes
  bool of_plan = false;
};

// By its name or any of its symbols; null: there is none. Names of kernels go before symbols. The table is made at the
// first call of any of these functions and lives as long as the program.
const KernelFunction* find_builtin(std::string_view name);

std::vector<std::string> builtin_names(); // sorted

// Whether one of `queries` is -1 in `values`, which Signature::read has read.
bool asks_for_workspace(const Spelling& spelling, std::span<const double> values);

} // namespace umwelt::kernels
