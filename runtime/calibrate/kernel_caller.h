// SPDX-License-Identifier: LGPL-2.1-or-later
// Calls of functions of BLAS and LAPACK by their rows in the built-in table: what each argument is, its name says.
//
// Fortran's spelling is called, all of whose arguments are addresses, so one type of function serves for all of them.
// What is passed behind the last argument does no harm (System V ABI), and where Fortran compilers pass the lengths of
// characters there are ones.
//
// Operands are random numbers, since speed may depend on them; of matrices the diagonal is 1 and the rest small, so
// that whatever is solved or factorised stays finite call after call. ALPHA is -1 and BETA 1. Leading dimensions are
// those of a matrix as large as the largest size of the call, as if operands were parts of larger matrices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/kernels/builtin.h"

namespace umwelt::calibrate
{

class Library
{
public:
  // Empty: what the loader finds as libblas.so.3 and liblapack.so.3. Throws UsageError. Threads of the library are
  // switched off: a call is to be that of one core.
  explicit Library(const std::string& name);

  // The kernel's function. Throws UsageError if there is none.
  [[nodiscard]] void* function(const kernels::KernelFunction& kernel) const;
  // Where the function is: "/usr/lib/libopenblas.so.0".
  [[nodiscard]] static std::string place_of(void* function);

private:
  std::vector<void*> handles_;
  std::string names_;
};

// Throws UsageError if the kernel cannot be called here: it executes plans, or asks for workspace.
void require_callable(const kernels::KernelFunction& kernel);

class Caller
{
public:
  // `fixed`: arguments with values of their own, characters by their codes. `largest`: the largest sizes that will be
  // asked for, each.
  Caller(const kernels::KernelFunction& kernel, void* function, const std::map<std::string, double>& fixed,
         double largest, std::uint64_t seed);

  // Bytes of operands that a caller has.
  static double bytes_of(const kernels::KernelFunction& kernel, double largest);

  // Seconds that a call takes, without those in which another process had the core.
  double measure(std::span<const double> sizes);

private:
  struct Argument {
    enum class What : std::uint8_t { size, leading, number, real, complex, character, indexes, vector, matrix } what;
    std::size_t index = 0; // of the size, of the buffer
    std::int32_t integer = 0;
    double value = 0;
    float single = 0;
    char letter = 0;
    std::unique_ptr<std::byte[], void (*)(void*)> bytes{nullptr, nullptr}; // of an operand, of a complex number
  };

  void fill(Argument& argument, double elements);
  void set(Argument& argument, std::span<const double> sizes, std::int32_t leading);
  void set_diagonal(Argument& matrix, std::int32_t leading, std::int32_t length, bool to_one);

  const kernels::KernelFunction& kernel_;
  void* function_;
  bool single_, complex_;
  double largest_;
  std::uint64_t seed_;
  std::vector<Argument> arguments_;
  double clock_ = 0; // what it takes to look at the clock
};

} // namespace umwelt::calibrate
