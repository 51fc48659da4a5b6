// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/kernels/sampling.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <limits>

#include <boost/math/distributions/students_t.hpp>

#include "runtime/kernels/noise.h"

namespace umwelt::kernels
{

void Statistics::add(double value)
{
  const double difference = value - mean_;
  mean_ += difference / static_cast<double>(++count_);
  squares_ += difference * (value - mean_);
}

double Statistics::deviation() const
{
  return count_ < 2 ? 0 : std::sqrt(squares_ / static_cast<double>(count_ - 1));
}

double Statistics::half_width() const
{
  if (count_ < 2)
    return std::numeric_limits<double>::infinity();
  constexpr double upper = 0.975;
  const auto count = static_cast<double>(count_);
  return boost::math::quantile(boost::math::students_t(count - 1), upper) * deviation() / std::sqrt(count);
}

bool Sampler::measure(std::span<const double> values)
{
  const auto found = classes_.find(key(values));
  if (found == classes_.end() || !found->second.known)
    return true;
  return limits_.again != 0 && ++found->second.calls % limits_.again == 0;
}

void Sampler::add(std::span<const double> values, sim::SimTime measured)
{
  Class& one = classes_[key(values)];
  (one.known ? one.later : one.first).add(sim::to_seconds(measured));
  one.known = one.known || (one.first.count() >= std::max<std::uint64_t>(limits_.least, 2) &&
                            one.first.half_width() <= limits_.interval * one.first.mean());
}

sim::SimTime Sampler::duration(const Place& place, std::span<const double> values, std::uint64_t call) const
{
  const Statistics* known = statistics(values);
  assert(known != nullptr);
  Draws draws(key_, place.node, place.rank, call);
  return sim::from_seconds(quantile(Distribution::log_normal, known->mean(), known->deviation(), draws.uniform()));
}

const Statistics* Sampler::statistics(std::span<const double> values) const
{
  const auto found = classes_.find(key(values));
  if (found == classes_.end())
    return nullptr;
  const auto& [first, later, known, calls] = found->second;
  return later.count() >= std::max<std::uint64_t>(limits_.least, 2) ? &later : &first;
}

Sampler::Key Sampler::key(std::span<const double> values)
{
  Key bits(values.size());
  std::transform(values.begin(), values.end(), bits.begin(),
                 [](double value) { return std::bit_cast<std::uint64_t>(value + 0.0); }); // -0 is 0
  return bits;
}

} // namespace umwelt::kernels
