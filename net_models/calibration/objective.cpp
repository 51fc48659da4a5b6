// SPDX-License-Identifier: LGPL-2.1-or-later
#include "net_models/calibration/objective.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <set>
#include <thread>
#include <utility>

#include "platforms/platform.h"

namespace umwelt::net
{

namespace
{

constexpr double huber = 1.345; // 95 % efficient for normal residuals

} // namespace

Objective::Objective(const FitProblem& problem, const std::vector<FitKey>& keys) : problem_(problem), keys_(keys)
{
  collect_points();
  // Filled once here: later calls only read, from several threads.
  const platform::Platform& platform = *problem_.platform;
  for (const auto& [from, to] : {std::pair<NodeIndex, NodeIndex>{0, 1}, {1, 0}})
    for (const platform::LinkIndex link : platform.route(from, to).links)
      (void)platform.link(link);
}

void Objective::collect_points()
{
  for (std::size_t i = 0; i < problem_.experiments.size(); ++i) {
    const Experiment& experiment = problem_.experiments[i];
    std::size_t used = 0;
    for (const auto& [size, time] : experiment.measured)
      used += experiment.held_out.contains(size) ? 0 : 1;
    fitted_points_ += used;
    for (const auto& [size, time] : experiment.measured)
      points_.push_back(
          {i, size, std::log(time), experiment.held_out.contains(size) ? 0.0 : 1.0 / static_cast<double>(used)});
  }
  for (Point& point : points_) // a mean weight of 1
    point.weight *= static_cast<double>(fitted_points_) / static_cast<double>(experiments_used());
  robust_.assign(points_.size(), 1);
}

std::size_t Objective::experiments_used() const
{
  std::set<std::size_t> used;
  for (const Point& point : points_)
    if (point.weight > 0)
      used.insert(point.experiment);
  return std::max<std::size_t>(1, used.size());
}

Parameters Objective::parameters_at(const std::vector<double>& values) const
{
  Parameters all = problem_.parameters;
  for (std::size_t i = 0; i < keys_.size(); ++i)
    all.set(keys_[i].info.key, text_of(keys_[i].info.kind, values[i]), "--fit");
  return all;
}

std::vector<double> Objective::evaluate(const std::vector<double>& values, bool all)
{
  ++evaluations_;
  const Parameters parameters = parameters_at(values);
  std::vector<double> result(points_.size(), 0);
  std::atomic<std::size_t> next = 0;
  std::exception_ptr problem;
  std::atomic<bool> failed = false;
  const auto work = [&] {
    for (std::size_t i = next++; i < points_.size() && !failed; i = next++) {
      if (points_[i].weight == 0 && !all)
        continue;
      const Benchmark& benchmark = *problem_.experiments[points_[i].experiment].benchmark;
      // One at a time every message is like the one before; with a window the start must not count.
      const std::uint32_t count = benchmark.window == 1   ? 100
                                  : benchmark.window == 0 ? problem_.messages
                                                          : std::max(problem_.messages / 4, 8 * benchmark.window);
      try {
        result[i] = std::log(replay(benchmark, problem_.model, *problem_.platform, parameters, points_[i].size, count));
      } catch (...) {
        if (!failed.exchange(true))
          problem = std::current_exception();
      }
    }
  };
  std::vector<std::thread> helpers;
  for (unsigned i = 1; i < problem_.threads; ++i)
    helpers.emplace_back(work);
  work();
  for (std::thread& helper : helpers)
    helper.join();
  if (problem)
    std::rethrow_exception(problem);
  return result;
}

double Objective::error_at(const std::vector<double>& values)
{
  const std::vector<double> predicted = evaluate(values);
  double sum = 0;
  double weights = 0;
  for (std::size_t i = 0; i < points_.size(); ++i) {
    sum += points_[i].weight * std::abs(predicted[i] - points_[i].log_measured);
    weights += points_[i].weight;
  }
  return std::exp(sum / weights) - 1;
}

bool Objective::reweigh(const std::vector<double>& values)
{
  const std::vector<double> predicted = evaluate(values);
  std::vector<double> sizes;
  for (std::size_t i = 0; i < points_.size(); ++i)
    if (points_[i].weight > 0)
      sizes.push_back(std::abs(predicted[i] - points_[i].log_measured));
  std::nth_element(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2), sizes.end());
  const double scale = std::max(sizes[sizes.size() / 2] * 1.4826, 1e-4); // of a normal distribution from its median
  bool changed = false;
  for (std::size_t i = 0; i < points_.size(); ++i) {
    const double residual = std::abs(predicted[i] - points_[i].log_measured);
    const double weight = points_[i].weight == 0 ? 1 : std::min(1.0, huber * scale / std::max(residual, 1e-12));
    changed |= std::abs(weight - robust_[i]) > 0.05;
    robust_[i] = weight;
  }
  return changed;
}

} // namespace umwelt::net
