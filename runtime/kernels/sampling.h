// SPDX-License-Identifier: LGPL-2.1-or-later
// Kernels that are measured while the program runs: the first calls of each class of arguments run and are measured,
// until the mean is known well enough; later ones take what was measured. As SMPI's SMPI_SAMPLE_LOCAL does for
// blocks of source code (P.-N. Clauss et al., "Single node on-line simulation of MPI applications with SMPI", 2011).
//
// The first calls are not like the others: their data is new to the caches and its pages to the kernel, and both this
// machine and the program change while they run. So one call in a while is measured again, and once there are enough of
// those they count alone.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/base/time.h"
#include "runtime/kernels/parameter_table.h"
#include "runtime/kernels/random.h"

namespace umwelt::kernels
{

// Mean and variance of what came so far, without keeping it (B. P. Welford, "Note on a method for calculating corrected
// sums of squares and products", Technometrics 1962).
class Statistics
{
public:
  void add(double value);
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] double mean() const { return mean_; }
  [[nodiscard]] double deviation() const; // of the sample; 0 of fewer than two values
  // Half of the 95 % confidence interval of the mean by Student's t; infinite of fewer than two values.
  [[nodiscard]] double half_width() const;

private:
  std::uint64_t count_ = 0;
  double mean_ = 0;
  double squares_ = 0; // of differences from the mean
};

struct SamplingLimits {
  double interval = 0.05;   // half of the confidence interval at which it ends, relative to the mean
  std::uint64_t least = 10; // calls of a class that are measured; at least 2
  std::uint64_t again = 64; // of later ones of the class, one in so many is measured; 0: none
};

class Sampler
{
public:
  Sampler(std::string_view kernel, SamplingLimits limits, std::uint64_t seed)
      : limits_(limits), key_(seed, kernel, Purpose::sampling)
  {
  }

  // Whether the next call of the class, which is counted, is to be measured. A class is what has equal values of the
  // `class:` expressions; each that has been measured is remembered.
  [[nodiscard]] bool measure(std::span<const double> values);
  void add(std::span<const double> values, sim::SimTime measured);

  // Of the `call`-th call on that rank, without measuring: log-normal with the mean and the standard deviation of the
  // measured ones, so that the spread remains. Some of the class must have been measured. Depends on what was added
  // before.
  [[nodiscard]] sim::SimTime duration(const Place& place, std::span<const double> values, std::uint64_t call) const;

  [[nodiscard]] std::size_t classes() const { return classes_.size(); }
  // That count, of a class; null if it did not occur.
  [[nodiscard]] const Statistics* statistics(std::span<const double> values) const;

private:
  struct Class {
    Statistics first; // in seconds, until they are known well enough;
    Statistics later; // of those that were measured again
    bool known = false;
    std::uint64_t calls = 0; // since
  };
  // By bit patterns, so that NaN (a null reference) is a value like others.
  using Key = std::vector<std::uint64_t>;
  [[nodiscard]] static Key key(std::span<const double> values);

  SamplingLimits limits_;
  RandomKey key_;
  std::map<Key, Class> classes_;
};

} // namespace umwelt::kernels
