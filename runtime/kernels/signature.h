// SPDX-License-Identifier: LGPL-2.1-or-later
// What a function takes and returns, as its C declaration says, and how to read the arguments of a call where it enters
// the function: System V ABI, AMD64 supplement 1.0, section 3.2.3. Integers and pointers come in rdi, rsi, rdx, rcx, r8
// and r9, floating point in xmm0 to xmm7, both in order and independently of each other; the rest lies in memory, eight
// bytes each, in the order of the declaration.
//
// What Fortran passes by reference is written with `&`, as C++ would: `int& N` is a pointer of which the value counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/kernels/call_registers.h"

namespace umwelt::kernels
{

enum class Kind : std::uint8_t { int32, int64, uint32, uint64, float32, float64, character, pointer };

[[nodiscard]] constexpr bool is_floating(Kind kind)
{
  return kind == Kind::float32 || kind == Kind::float64;
}

struct Parameter {
  std::string name; // P1, P2, ... where the declaration has none
  Kind kind;
  bool by_reference;
};

class Signature
{
public:
  // "void dgemm_(char& TRANSA, char& TRANSB, int& M, int& N, int& K, double& ALPHA, double* A, int& LDA, ...)".
  // Types: the integers of C and <stdint.h> of 32 and 64 bits, float, double, char, `enum X` and the enumerations of
  // CBLAS (int), pointers to anything, arrays (pointers), void. Integers named by BLAS libraries (lapack_int, blasint,
  // CBLAS_INT, MKL_INT) are int. Structures, long double and complex numbers by value are refused.
  // Throws UsageError: `object`, what was expected in which column, what is there.
  static Signature parse(std::string_view text, std::string_view object);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::optional<Kind> result() const { return result_; } // nullopt: void
  [[nodiscard]] const std::vector<Parameter>& parameters() const { return parameters_; }
  // Where in parameters() the one of that name is.
  [[nodiscard]] std::optional<std::size_t> position(std::string_view parameter) const;

  // Values of all parameters in the order of parameters(); `values` has room for all. A character is its code (0 to
  // 255), a pointer its address, a null reference NaN. Integers beyond 2^53 are rounded. References are followed, so
  // the frame has to be one of this process.
  void read(const CallRegisters& frame, std::span<double> values) const;
  // Gives the value that a reference is of; a null reference stays one. Conversion as result_bits().
  void set(const CallRegisters& frame, std::size_t parameter, double value) const;

  // A value as the result of the function: in xmm0 if result_in_vector(), in rax otherwise. Integers are truncated and
  // saturate; NaN is 0 of them. 0 if the result is void.
  [[nodiscard]] std::uint64_t result_bits(double value) const;
  [[nodiscard]] bool result_in_vector() const;

private:
  enum class Place : std::uint8_t { general, vector, stack };
  struct Slot {
    Place place;
    std::uint32_t index; // of the register or of the eight bytes in memory
  };

  void assign_slots();
  [[nodiscard]] const std::uint64_t* bytes_of(const CallRegisters& frame, std::size_t parameter) const;

  std::string name_;
  std::optional<Kind> result_;
  std::vector<Parameter> parameters_;
  std::vector<Slot> slots_;
  friend class SignatureParser;
};

} // namespace umwelt::kernels
