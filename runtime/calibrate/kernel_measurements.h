// SPDX-License-Identifier: LGPL-2.1-or-later
// Calls of kernels that were measured, and the CSV files that hold them:
//
//   kernel,node,core,M,N,K,duration [us]
//   dgemm,0,0,128,1024,64,4711.3
//
// Columns in any order. `kernel` is needed where a file has several; a column for each size of the kernel (names as in
// its declaration; of characters as SIDE the letter, if it is not L); `duration` with its unit; optional: node, socket
// (or cpu) and core, which tell places apart, and day, of which each is a row of the parameters of its place. Other
// columns, and the cells of other kernels' sizes, may hold anything.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/kernels/builtin.h"
#include "runtime/kernels/parameter_table.h"

namespace umwelt::calibrate
{

struct MeasuredCall {
  std::vector<double> sizes; // in the order of KernelFunction::sizes
  double duration = 0;       // seconds
  kernels::Place place;
  std::string day;
};

struct KernelMeasurements {
  const kernels::KernelFunction* kernel = nullptr;
  // What the calls tell of where they were measured.
  bool node = false, socket = false, core = false, day = false;
  std::vector<MeasuredCall> calls;
};

// Throws UsageError with the line, what was expected there and what is there.
KernelMeasurements read_measurements(const std::string& path, const kernels::KernelFunction& kernel);

std::string measurements_csv(std::span<const KernelMeasurements> measurements);

// The kernel of that name; throws UsageError with the nearest name.
const kernels::KernelFunction& known_kernel(const std::string& name);

} // namespace umwelt::calibrate
