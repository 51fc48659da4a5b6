// SPDX-License-Identifier: LGPL-2.1-or-later
// Sizes at which a kernel is measured. Drawn one by one in each argument, nearly all of the work would lie in the
// largest few calls, and nearly all calls would be of one shape. So the work of a call (operations; bytes of kernels
// that have none) is drawn uniformly up to a bound, and apart from it its shape: ratios of the sizes, each as likely as
// its inverse (T. Cornebize's thesis, "High Performance Computing: Towards Better Performance Predictions and
// Experiments", 2021, draws products of dgemm so).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runtime/kernels/builtin.h"

namespace umwelt::calibrate
{

struct SizeWishes {
  struct Range {
    double low = 0;
    double high = 0;
  };
  std::map<std::string, Range> ranges; // by argument; "" for all others
  std::map<std::string, double> fixed; // by argument; characters by their codes
  double largest = 0;                  // of the work; 0: as fits the kernel
  bool logarithmic = false;            // the work's logarithm is uniform instead
  std::size_t count = 100;
  std::uint64_t seed = 0;
};

// Each in the order of KernelFunction::sizes. Throws UsageError if nothing fits, or an argument is none of the kernel.
std::vector<std::vector<double>> draw_sizes(const kernels::KernelFunction& kernel, const SizeWishes& wishes);

} // namespace umwelt::calibrate
