// SPDX-License-Identifier: LGPL-2.1-or-later
// What the plans of FFTW 3 do. A call that executes a plan does not say how large the transform is: whoever follows a
// process tells here of the calls that make and destroy plans, and asks when one is executed.
//
//   at the entry of a function of makers():       const PlanSizes sizes = Plans::read(maker, frame);
//   at its return, with what it returned:         plans.add(plan, sizes);
//   at the entry of one of destroyers():          plans.forget(plan);
//   at the entry of a function of the table that is `of_plan` (runtime/kernels/builtin.h), its first argument:
//                                                 plans.find(plan)
//
// FFTW's makers call each other, which tells the same of a plan several times and does no harm. Fortran's makers call
// C's. Plans of fftw_mpi are unknown.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "runtime/kernels/builtin.h"
#include "runtime/kernels/call_registers.h"

namespace umwelt::kernels
{

enum class Transform : std::uint8_t { complex, real_to_complex, complex_to_real, real_to_real };

struct PlanSizes {
  double points = 1;  // of one transform, in all dimensions: of the real side if one is real
  double howmany = 1; // transforms
  Transform kind = Transform::complex;

  // In the order of KernelFunction::sizes: N, HOWMANY, REAL.
  [[nodiscard]] std::array<double, 3> values() const
  {
    return {points, howmany, kind == Transform::complex ? 0.0 : 1.0};
  }
};

class Plans
{
public:
  // Functions that return plans, and those that destroy the plan in their first argument; of all precisions.
  static const std::vector<Spelling>& makers();
  static const std::vector<Spelling>& destroyers();

  // What a call of one of makers() asks for. Follows its pointers to sizes.
  static PlanSizes read(const Signature& maker, const CallRegisters& frame);

  // `plan`: its address; 0, which says that FFTW could not make it, is left out.
  void add(std::uint64_t plan, const PlanSizes& sizes);
  void forget(std::uint64_t plan);
  // Null: nobody has told of it.
  [[nodiscard]] const PlanSizes* find(std::uint64_t plan) const;

private:
  std::unordered_map<std::uint64_t, PlanSizes> plans_;
};

} // namespace umwelt::kernels
