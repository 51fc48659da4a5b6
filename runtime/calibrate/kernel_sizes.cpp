// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/calibrate/kernel_sizes.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runtime/base/usage_error.h"
#include "runtime/kernels/fitting/terms.h"

namespace umwelt::calibrate
{
namespace
{

// In [0,1); std::uniform_real_distribution differs between libraries.
double uniform(std::mt19937_64& random)
{
  return std::ldexp(static_cast<double>(random() >> 11), -53);
}

class Drawing
{
public:
  Drawing(const kernels::KernelFunction& kernel, const SizeWishes& wishes)
      : kernel_(kernel), wishes_(wishes), terms_(&kernel), random_(wishes.seed)
  {
    const double proportion = std::log2(work_of(std::vector<double>(kernel.sizes.size(), 2048)) /
                                        work_of(std::vector<double>(kernel.sizes.size(), 1024)));
    const bool linear = proportion < 1.5; // vectors
    const bool square = proportion < 2.5; // a matrix
    standard_ = {16, linear ? 1e6 : square ? 4096.0 : 2048.0};
    largest_ = wishes.largest > 0 ? wishes.largest : linear ? 1.6e7 : square ? 3.2e7 : 1e8;
    for (const std::string& size : kernel.sizes) {
      const auto fixed = wishes.fixed.find(size);
      if (fixed != wishes.fixed.end())
        ranges_.push_back({fixed->second, fixed->second});
      else if (kernels::is_character(kernel, size))
        ranges_.push_back({'L', 'L'});
      else
        ranges_.push_back(range_of(size));
    }
  }

  std::vector<double> next()
  {
    const double least = work_of(scaled(0));
    const double most = std::min(largest_, work_of(scaled(huge)));
    if (most < least)
      throw UsageError(fmt::format("--largest {:g}", largest_),
                       fmt::format("at least the work of the smallest call of {}, {:g}", kernel_.name, least), "less",
                       "Give smaller sizes, or a larger bound.");
    constexpr int attempts = 1000;
    for (int i = 0; i < attempts; ++i) {
      const double draw = uniform(random_);
      const double wanted =
          wishes_.logarithmic && least > 0 ? least * std::pow(most / least, draw) : least + draw * (most - least);
      if (auto sizes = of_work(wanted))
        return *sizes;
    }
    throw UsageError(fmt::format("sizes of {}", kernel_.name), "ranges in which its work can vary", "none",
                     "Give wider ranges, or fix all sizes.");
  }

private:
  static constexpr double huge = 1e12;

  SizeWishes::Range range_of(const std::string& size) const
  {
    for (const std::string& name : {size, std::string()})
      if (const auto found = wishes_.ranges.find(name); found != wishes_.ranges.end())
        return found->second;
    return standard_;
  }

  [[nodiscard]] double work_of(const std::vector<double>& sizes) const
  {
    return terms_.work() ? terms_.evaluate(sizes)[*terms_.work()] : 1;
  }

  // The shape, that much larger, but within the ranges; whole numbers.
  [[nodiscard]] std::vector<double> scaled(double factor) const
  {
    std::vector<double> sizes;
    for (std::size_t i = 0; i < ranges_.size(); ++i) {
      const double side = shape_.empty() ? factor : factor * shape_[i];
      sizes.push_back(std::round(std::clamp(side, ranges_[i].low, ranges_[i].high)));
    }
    return sizes;
  }

  // Sizes of a random shape with that work, if the ranges allow it.
  std::optional<std::vector<double>> of_work(double wanted)
  {
    shape_.clear();
    for (const auto& [low, high] : ranges_)
      shape_.push_back(low == high ? 1 : low * std::pow(high / low, uniform(random_)));
    double below = 1e-9;
    double above = 1e9;
    for (int i = 0; i < 80; ++i) {
      const double middle = std::sqrt(below * above);
      (work_of(scaled(middle)) < wanted ? below : above) = middle;
    }
    std::vector<double> sizes = scaled(above);
    const bool clamped = std::abs(work_of(sizes) - wanted) > 0.2 * wanted;
    shape_.clear();
    return clamped ? std::nullopt : std::optional(std::move(sizes));
  }

  const kernels::KernelFunction& kernel_;
  const SizeWishes& wishes_;
  kernels::Terms terms_;
  std::mt19937_64 random_;
  SizeWishes::Range standard_;
  double largest_;
  std::vector<SizeWishes::Range> ranges_;
  std::vector<double> shape_;
};

} // namespace

std::vector<std::vector<double>> draw_sizes(const kernels::KernelFunction& kernel, const SizeWishes& wishes)
{
  Drawing drawing(kernel, wishes);
  std::vector<std::vector<double>> list;
  for (std::size_t i = 0; i < wishes.count; ++i)
    list.push_back(drawing.next());
  return list;
}

} // namespace umwelt::calibrate
