// SPDX-License-Identifier: LGPL-2.1-or-later
#include "net_models/calibration/fit.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <gsl/gsl_cdf.h>

#include "net_models/calibration/fit_key.h"
#include "net_models/calibration/least_squares.h"
#include "net_models/calibration/objective.h"

namespace umwelt::net
{

namespace
{

constexpr unsigned robust_rounds = 4; // fits with new weights
constexpr unsigned draws = 100;       // random points for one start
constexpr double start_range = 2.5;   // how far off, as a factor, they may be
constexpr unsigned most_leaps = 3;    // rounds of leaps
constexpr unsigned step_rounds = 3;   // rounds of trying steps

std::vector<FitKey> keys_of(const FitProblem& problem)
{
  if (problem.model == "flow")
    throw std::invalid_argument("model flow: expected a model without SimGrid's solver, which cannot be replayed "
                                "thousands of times. Use another one.");
  std::vector<FitKey> keys;
  for (const std::string& key : problem.keys) {
    if (std::count(problem.keys.begin(), problem.keys.end(), key) > 1)
      throw std::invalid_argument(fmt::format("--fit {}: expected each key once, got it twice.", key));
    keys.push_back(find_key(problem, key));
  }
  return keys;
}

std::vector<std::size_t> continuous(const std::vector<FitKey>& keys)
{
  std::vector<std::size_t> indexes;
  for (std::size_t i = 0; i < keys.size(); ++i)
    if (!is_step(keys[i].info.kind))
      indexes.push_back(i);
  return indexes;
}

class Fitter
{
public:
  Fitter(const FitProblem& problem, const std::function<void(const std::string&)>& tell)
      : problem_(problem), tell_(tell), keys_(keys_of(problem)), free_(continuous(keys_))
  {
  }

  FitResult run()
  {
    if (!keys_.empty() && objective_.fitted_points() <= free_.size())
      throw std::invalid_argument(fmt::format("expected more measurements than parameters, got {} sizes for {}. Fit "
                                              "fewer with --fit, or add measurements.",
                                              objective_.fitted_points(), free_.size()));
    find_valley();
    fit_continuous();
    for (unsigned round = 0; round < step_rounds && try_steps(); ++round)
      fit_continuous();
    return result();
  }

private:
  [[nodiscard]] std::vector<double> current_values() const { return values_of(keys_); }

  // ---- Continuous parameters ----

  // The rate of a pipeline is that of its slowest stage: a stage that the start values hide has no slope, and one that
  // they make the slowest by mistake can be fitted in the place of another. So the fit starts from several points, each
  // the best of many random ones, and leaps of single parameters are tried from where it ends.
  void find_valley()
  {
    if (free_.empty())
      return;
    std::mt19937_64 random(1);
    std::vector<double> best;
    double least = INFINITY;
    for (unsigned start = 0; start < std::max(1U, problem_.starts); ++start) {
      for (const std::size_t k : free_)
        keys_[k].scale = keys_[k].value = keys_[k].start;
      if (start > 0)
        draw_start(random);
      least_squares_.run();
      for (unsigned round = 0; round < most_leaps && leap(); ++round)
        least_squares_.run();
      const double reached = error();
      tell_(fmt::format("  start {}: mean error {:.2f} % after {} evaluations", start + 1, 100 * reached,
                        objective_.evaluations()));
      if (reached < least) {
        least = reached;
        best = current_values();
      }
    }
    for (std::size_t k = 0; k < keys_.size(); ++k)
      keys_[k].value = best[k];
  }

  void draw_start(std::mt19937_64& random)
  {
    const double widest = std::log(start_range);
    std::uniform_real_distribution<double> exponent(-widest, widest);
    std::vector<double> best;
    double least = INFINITY;
    for (unsigned draw = 0; draw < draws; ++draw) {
      std::vector<double> values = current_values();
      for (const std::size_t k : free_)
        values[k] = keys_[k].at(std::exp(exponent(random)));
      if (const double reached = objective_.error_at(values); reached < least) {
        least = reached;
        best = std::move(values);
      }
    }
    for (const std::size_t k : free_)
      keys_[k].value = best[k];
  }

  // True: a parameter leapt to where the fit is better.
  bool leap()
  {
    bool leapt = false;
    double least = error();
    for (const std::size_t k : free_) {
      std::vector<double> values = current_values();
      keys_[k].scale = keys_[k].value;
      for (const double variable : {0.25, 0.5, 0.7, 1.4, 2.0, 4.0}) {
        values[k] = keys_[k].at(variable);
        if (const double reached = objective_.error_at(values); reached < 0.995 * least) {
          least = reached;
          keys_[k].value = values[k];
          leapt = true;
        }
      }
    }
    return leapt;
  }

  void fit_continuous()
  {
    if (free_.empty())
      return;
    for (unsigned round = 0; round < robust_rounds; ++round) {
      const double change = least_squares_.run();
      const double reached = error();
      tell_(fmt::format("  {} evaluations, mean error of what is fitted {:.2f} %", objective_.evaluations(),
                        100 * reached));
      if (!objective_.reweigh(current_values()) || (round > 0 && change < 2e-3))
        break;
    }
  }

  double error() { return objective_.error_at(current_values()); }

  // ---- Steps ----

  // The measured sizes and powers of two within a factor of 8.
  [[nodiscard]] std::vector<double> candidates(const FitKey& key) const
  {
    std::set<double> all{key.value};
    if (key.info.kind == ParameterKind::size)
      for (const Objective::Point& point : objective_.points())
        all.insert(static_cast<double>(point.size));
    for (int exponent = 0; exponent < 40; ++exponent)
      all.insert(std::ldexp(1.0, exponent));
    std::vector<double> near;
    for (const double value : all)
      if (value >= std::max(1.0, key.value / 8) && value <= key.value * 8)
        near.push_back(value);
    return near;
  }

  // True: one of them moved.
  bool try_steps()
  {
    bool moved = false;
    for (std::size_t k = 0; k < keys_.size(); ++k) {
      FitKey& key = keys_[k];
      if (!is_step(key.info.kind))
        continue;
      std::vector<double> values = current_values();
      const double before = objective_.error_at(values);
      double best = before;
      double best_value = key.value;
      std::vector<std::pair<double, double>> tried;
      for (const double candidate : candidates(key)) {
        values[k] = candidate;
        tried.emplace_back(candidate, objective_.error_at(values));
        if (tried.back().second < best - 1e-6) {
          best = tried.back().second;
          best_value = candidate;
        }
      }
      moved |= best_value != key.value;
      key.value = best_value;
      remember_range(k, tried, best);
      tell_(fmt::format("  {} = {}: error {:.2f} %", key.info.key, text_of(key.info.kind, key.value), 100 * best));
    }
    return moved;
  }

  // Neighbours of the best candidate that are as good.
  void remember_range(std::size_t k, const std::vector<std::pair<double, double>>& tried, double best)
  {
    const double enough = best + 1e-5;
    const auto here =
        std::find_if(tried.begin(), tried.end(), [&](const auto& t) { return t.first == keys_[k].value; });
    auto low = here;
    auto high = here;
    while (low != tried.begin() && std::prev(low)->second <= enough)
      --low;
    while (std::next(high) != tried.end() && std::next(high)->second <= enough)
      ++high;
    ranges_.resize(keys_.size());
    ranges_[k] = {low->first, high->first};
    whole_range_.resize(keys_.size());
    whole_range_[k] = low == tried.begin() && std::next(high) == tried.end();
  }

  // ---- Result ----

  FitResult result()
  {
    FitResult all;
    all.parameters = problem_.parameters;
    all.converged = least_squares_.converged();
    const double t =
        free_.empty() ? 0 : gsl_cdf_tdist_Pinv(0.975, static_cast<double>(objective_.fitted_points() - free_.size()));
    for (std::size_t k = 0; k < keys_.size(); ++k) {
      const FitKey& key = keys_[k];
      FittedParameter fitted{key.info.key, key.info.kind, short_text(key.info.kind, key.start), {}, {}, {}};
      if (is_step(key.info.kind)) {
        fitted.low = short_text(key.info.kind, ranges_[k].first);
        fitted.high = short_text(key.info.kind, ranges_[k].second);
        fitted.determined = whole_range_[k] ? FittedParameter::Determined::none : FittedParameter::Determined::well;
      } else {
        describe(fitted, key, static_cast<std::size_t>(std::find(free_.begin(), free_.end(), k) - free_.begin()), t);
      }
      const bool stays = fitted.determined == FittedParameter::Determined::none;
      fitted.value = short_text(key.info.kind, stays ? key.start : key.value);
      all.parameters.set(key.info.key, fitted.value, "fit");
      all.fitted.push_back(std::move(fitted));
    }
    const std::size_t p = free_.size();
    for (std::size_t a = 0; a < p; ++a)
      for (std::size_t b = a + 1; b < p; ++b) {
        const double product = least_squares_.covariance(a, a) * least_squares_.covariance(b, b);
        const double coefficient = product > 0 ? least_squares_.covariance(a, b) / std::sqrt(product) : 0;
        if (std::abs(coefficient) > 0.9)
          all.correlations.push_back({keys_[free_[a]].info.key, keys_[free_[b]].info.key, coefficient});
      }
    const std::vector<double> predicted = objective_.evaluate(current_values(), true);
    all.predicted.resize(problem_.experiments.size());
    const std::vector<Objective::Point>& points = objective_.points();
    for (std::size_t i = 0; i < points.size(); ++i)
      all.predicted[points[i].experiment][points[i].size] = std::exp(predicted[i]);
    all.evaluations = objective_.evaluations();
    return all;
  }

  void describe(FittedParameter& fitted, const FitKey& key, std::size_t j, double t) const
  {
    using enum FittedParameter::Determined;
    // Of the variable that is `center` here and 1 at the key's scale.
    const double deviation = std::sqrt(least_squares_.covariance(j, j));
    const double center = key.inverse() ? key.scale / key.value : key.value / key.scale;
    const double below = key.at(std::max(0.0, center - t * deviation));
    const double above = key.at(center + t * deviation);
    fitted.low = short_text(key.info.kind, std::min(below, above));
    fitted.high = short_text(key.info.kind, std::max(below, above));
    fitted.relative_error = deviation / center;
    fitted.determined = least_squares_.is_without_effect(j) ? none : t * fitted.relative_error > 0.25 ? weak : well;
  }

  const FitProblem& problem_;
  const std::function<void(const std::string&)>& tell_;
  std::vector<FitKey> keys_;
  const std::vector<std::size_t> free_; // indexes of the continuous ones
  Objective objective_{problem_, keys_};
  LeastSquares least_squares_{objective_, keys_, free_};
  std::vector<std::pair<double, double>> ranges_;
  std::vector<bool> whole_range_;
};

} // namespace

FitResult fit(const FitProblem& problem, const std::function<void(const std::string&)>& tell)
{
  return Fitter(problem, tell).run();
}

std::vector<std::string> usual_keys(std::string_view model)
{
  if (model != "bxi")
    return {};
  return {"command_gap", "pio_store",  "pci_read", "dma_gap",     "page_miss", "small_walk", "small_miss",
          "ack_time",    "reply_time", "coding",   "rx_page_gap", "search",    "event_gap",  "flush_time"};
}

} // namespace umwelt::net
