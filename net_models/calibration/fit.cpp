// SPDX-License-Identifier: LGPL-2.1-or-later
#include "net_models/calibration/fit.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <memory>
#include <random>
#include <stdexcept>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gsl/gsl_blas.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_multifit_nlinear.h>

#include "net_models/catalogue.h"
#include "runtime/base/nearest.h"

namespace umwelt::net
{

namespace
{

template <auto Free> struct Deleter {
  template <class T> void operator()(T* object) const { Free(object); }
};
using Vector = std::unique_ptr<gsl_vector, Deleter<gsl_vector_free>>;
using Matrix = std::unique_ptr<gsl_matrix, Deleter<gsl_matrix_free>>;
using Workspace = std::unique_ptr<gsl_multifit_nlinear_workspace, Deleter<gsl_multifit_nlinear_free>>;

constexpr double step = 0.01;         // of a logarithm, for differences: larger than what rounding to picoseconds does
constexpr double huber = 1.345;       // 95 % efficient for normal residuals
constexpr unsigned robust_rounds = 4; // fits with new weights
constexpr unsigned draws = 100;       // random points for one start
constexpr double start_range = 2.5;   // how far off, as a factor, they may be
constexpr unsigned most_leaps = 3;    // rounds of leaps
constexpr unsigned step_rounds = 3;   // rounds of trying steps
constexpr std::size_t most_iterations = 30;
constexpr double without_effect = 1e-6; // change of the residuals per relative change of the parameter

bool is_step(ParameterKind kind)
{
  return kind == ParameterKind::size || kind == ParameterKind::count;
}

// ---- Values of parameters as numbers ----

double number(ParameterKind kind, const std::string& text)
{
  double value = 0;
  sim::SimTime time = 0;
  std::uint64_t whole = 0;
  switch (kind) {
  case ParameterKind::time:
    return parse_time(text, time) ? static_cast<double>(time) : NAN;
  case ParameterKind::bandwidth:
    return parse_bandwidth(text, value) ? value : NAN;
  case ParameterKind::size:
    return parse_size(text, whole) ? static_cast<double>(whole) : NAN;
  case ParameterKind::count:
    return parse_count(text, whole) ? static_cast<double>(whole) : NAN;
  case ParameterKind::fraction:
    return parse_fraction(text, value) ? value : NAN;
  case ParameterKind::number:
    return parse_number(text, value) ? value : NAN;
  case ParameterKind::flag:
  case ParameterKind::text:
    break;
  }
  return NAN;
}

std::string text_of(ParameterKind kind, double value)
{
  switch (kind) {
  case ParameterKind::time:
    return fmt::format("{}ps", static_cast<sim::SimTime>(std::llround(value)));
  case ParameterKind::bandwidth:
    return fmt::format("{}B/s", value);
  case ParameterKind::size:
    return size_text(static_cast<std::uint64_t>(value));
  case ParameterKind::count:
    return fmt::format("{}", static_cast<std::uint64_t>(value));
  default:
    return fmt::format("{}", value);
  }
}

// For people: six significant digits.
std::string short_text(ParameterKind kind, double value)
{
  const double scale = value > 0 ? std::pow(10, 5 - std::floor(std::log10(value))) : 1;
  const double rounded = is_step(kind) ? value : std::round(value * scale) / scale;
  if (kind == ParameterKind::time)
    return time_text(static_cast<sim::SimTime>(std::llround(rounded)));
  if (kind == ParameterKind::bandwidth)
    return bandwidth_text(rounded);
  return text_of(kind, kind == ParameterKind::fraction ? std::round(value * 1e6) / 1e6 : rounded);
}

// A parameter and the variable that is fitted in its place, 1 at the beginning: message times are nearly linear in it,
// and it takes any value. Times are proportional to it, bandwidths and fractions inversely. Its sign has no meaning.
struct Key {
  ParameterInfo info;
  double start = 0;
  double value = 0;
  double scale = 0; // value where the variable is 1
  [[nodiscard]] bool inverse() const
  {
    return info.kind == ParameterKind::bandwidth || info.kind == ParameterKind::fraction;
  }
  [[nodiscard]] double at(double variable) const
  {
    const double x = std::clamp(std::abs(variable), 1e-6, 1e6);
    const double result = inverse() ? scale / x : scale * x;
    return info.kind == ParameterKind::fraction ? std::min(result, 1.0) : result;
  }
};

Key find_key(const FitProblem& problem, const std::string& key)
{
  const auto entries = models();
  const auto model = std::find_if(entries.begin(), entries.end(),
                                  [&](const ModelEntry& entry) { return entry.name == problem.model; });
  if (model == entries.end())
    throw std::invalid_argument(fmt::format("model '{}': expected one of those `umwelt models` lists.", problem.model));
  std::vector<std::string> known;
  for (const ParameterInfo& info : model->parameters) {
    known.push_back(info.key);
    if (info.key != key)
      continue;
    if (info.kind == ParameterKind::flag || info.kind == ParameterKind::text)
      throw std::invalid_argument(fmt::format("--fit {}: expected a parameter with a number, got a {}. Set it with "
                                              "--nic {}=VALUE instead.",
                                              key, kind_name(info.kind), key));
    const auto& given = problem.parameters.values();
    const auto& machine = problem.platform->nic_properties();
    const auto own = given.find(key);
    const auto built_in = machine.find(key);
    const std::string start = own != given.end()          ? own->second.text
                              : built_in != machine.end() ? built_in->second
                                                          : info.standard;
    Key result{info, number(info.kind, start), 0};
    if (std::isnan(result.start)) { // the model says what is wrong with it
      sim::Timeline timeline;
      make_model(problem.model, {timeline, *problem.platform, nullptr}, problem.parameters);
    }
    if (result.start <= 0)
      throw std::invalid_argument(fmt::format("--fit {}: expected a start value above 0, got {}. Give one with --nic "
                                              "{}=VALUE.",
                                              key, start, key));
    result.value = result.start;
    return result;
  }
  const std::string_view guess = plausible(key, known);
  throw std::invalid_argument(fmt::format("--fit {}: model {} has no such parameter.{} `umwelt models` lists them.",
                                          key, problem.model,
                                          guess.empty() ? "" : fmt::format(" Did you mean '{}'?", guess)));
}

// ---- The model as a function ----

struct Point {
  std::size_t experiment = 0;
  std::uint64_t size = 0;
  double log_measured = 0;
  double weight = 0; // of its benchmark; 0: held out
};

class Fitter
{
public:
  Fitter(const FitProblem& problem, const std::function<void(const std::string&)>& tell)
      : problem_(problem), tell_(tell)
  {
    if (problem_.model == "flow")
      throw std::invalid_argument("model flow: expected a model without SimGrid's solver, which cannot be replayed "
                                  "thousands of times. Use another one.");
    for (const std::string& key : problem_.keys) {
      if (std::count(problem_.keys.begin(), problem_.keys.end(), key) > 1)
        throw std::invalid_argument(fmt::format("--fit {}: expected each key once, got it twice.", key));
      keys_.push_back(find_key(problem_, key));
    }
    for (std::size_t i = 0; i < keys_.size(); ++i)
      if (!is_step(keys_[i].info.kind))
        free_.push_back(i);
    collect_points();
    // Filled once here: later calls only read, from several threads.
    const platform::Platform& platform = *problem_.platform;
    for (const auto& [from, to] : {std::pair<NodeIndex, NodeIndex>{0, 1}, {1, 0}})
      for (const platform::LinkIndex link : platform.route(from, to).links)
        (void)platform.link(link);
  }

  FitResult run()
  {
    if (!keys_.empty() && fitted_points_ <= free_.size())
      throw std::invalid_argument(fmt::format("expected more measurements than parameters, got {} sizes for {}. Fit "
                                              "fewer with --fit, or add measurements.",
                                              fitted_points_, free_.size()));
    find_valley();
    fit_continuous();
    for (unsigned round = 0; round < step_rounds && try_steps(); ++round)
      fit_continuous();
    return result();
  }

private:
  void collect_points()
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

  [[nodiscard]] std::size_t experiments_used() const
  {
    std::set<std::size_t> used;
    for (const Point& point : points_)
      if (point.weight > 0)
        used.insert(point.experiment);
    return std::max<std::size_t>(1, used.size());
  }

  Parameters parameters_at(const std::vector<double>& values) const
  {
    Parameters all = problem_.parameters;
    for (std::size_t i = 0; i < keys_.size(); ++i)
      all.set(keys_[i].info.key, text_of(keys_[i].info.kind, values[i]), "--fit");
    return all;
  }

  [[nodiscard]] std::vector<double> current_values() const
  {
    std::vector<double> values;
    for (const Key& key : keys_)
      values.push_back(key.value);
    return values;
  }

  // ln(model time) of every point; held-out ones only if asked for.
  std::vector<double> evaluate(const std::vector<double>& values, bool all = false)
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
          result[i] =
              std::log(replay(benchmark, problem_.model, *problem_.platform, parameters, points_[i].size, count));
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

  // ---- Continuous parameters ----

  std::vector<double> values_at(const gsl_vector* x) const
  {
    std::vector<double> values = current_values();
    for (std::size_t j = 0; j < free_.size(); ++j)
      values[free_[j]] = keys_[free_[j]].at(gsl_vector_get(x, j));
    return values;
  }

  const std::vector<double>& remembered(const gsl_vector* x)
  {
    std::vector<double> values = values_at(x);
    if (values != last_values_) {
      last_ = evaluate(values);
      last_values_ = std::move(values);
    }
    return last_;
  }

  void residuals(const gsl_vector* x, gsl_vector* f)
  {
    const std::vector<double>& predicted = remembered(x);
    for (std::size_t i = 0; i < points_.size(); ++i)
      gsl_vector_set(f, i, points_[i].weight > 0 ? predicted[i] - points_[i].log_measured : 0);
  }

  void slopes(const gsl_vector* x, gsl_matrix* jacobian)
  {
    const std::vector<double> here = remembered(x);
    for (std::size_t j = 0; j < free_.size(); ++j) {
      const Key& key = keys_[free_[j]];
      std::vector<double> values = values_at(x);
      values[free_[j]] = key.at(gsl_vector_get(x, j) + step);
      const std::vector<double> there = evaluate(values);
      for (std::size_t i = 0; i < points_.size(); ++i)
        gsl_matrix_set(jacobian, i, j, (there[i] - here[i]) / step);
    }
  }

  // Exceptions must not pass through GSL, which is C.
  template <class Work> int guarded(Work&& work)
  {
    try {
      work();
      return GSL_SUCCESS;
    } catch (...) {
      problem_in_gsl_ = std::current_exception();
      return GSL_EBADFUNC;
    }
  }

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
      fit_once();
      for (unsigned round = 0; round < most_leaps && leap(); ++round)
        fit_once();
      const double reached = error();
      tell_(
          fmt::format("  start {}: mean error {:.2f} % after {} evaluations", start + 1, 100 * reached, evaluations_));
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
      if (const double reached = error_at(values); reached < least) {
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
        if (const double reached = error_at(values); reached < 0.995 * least) {
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
      const double change = fit_once();
      tell_(fmt::format("  {} evaluations, mean error of what is fitted {:.2f} %", evaluations_, 100 * error()));
      if (!reweigh() || (round > 0 && change < 2e-3))
        break;
    }
  }

  // Returns the largest relative change of a parameter.
  double fit_once()
  {
    gsl_set_error_handler_off();
    const std::size_t n = points_.size();
    const std::size_t p = free_.size();
    Vector start(gsl_vector_alloc(p));
    Vector weights(gsl_vector_alloc(n));
    for (const std::size_t k : free_)
      keys_[k].scale = keys_[k].value;
    gsl_vector_set_all(start.get(), 1);
    for (std::size_t i = 0; i < n; ++i)
      gsl_vector_set(weights.get(), i, points_[i].weight * robust_[i]);

    gsl_multifit_nlinear_parameters settings = gsl_multifit_nlinear_default_parameters();
    settings.trs = gsl_multifit_nlinear_trs_lm;
    Workspace workspace(gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &settings, n, p));
    gsl_multifit_nlinear_fdf function{};
    function.f = [](const gsl_vector* x, void* self, gsl_vector* f) {
      auto* fitter = static_cast<Fitter*>(self);
      return fitter->guarded([&] { fitter->residuals(x, f); });
    };
    function.df = [](const gsl_vector* x, void* self, gsl_matrix* jacobian) {
      auto* fitter = static_cast<Fitter*>(self);
      return fitter->guarded([&] { fitter->slopes(x, jacobian); });
    };
    function.n = n;
    function.p = p;
    function.params = this;
    int status = gsl_multifit_nlinear_winit(start.get(), weights.get(), &function, workspace.get());
    int why = 0;
    if (status == GSL_SUCCESS)
      status = gsl_multifit_nlinear_driver(most_iterations, 1e-4, 1e-6, 1e-6, nullptr, nullptr, &why, workspace.get());
    if (problem_in_gsl_)
      std::rethrow_exception(problem_in_gsl_);
    converged_ = status == GSL_SUCCESS || why == GSL_ENOPROG; // no progress: at the bottom of what kinks allow

    double change = 0;
    const gsl_vector* x = gsl_multifit_nlinear_position(workspace.get());
    for (std::size_t j = 0; j < p; ++j) {
      change = std::max(change, std::abs(gsl_vector_get(x, j) - 1));
      keys_[free_[j]].value = keys_[free_[j]].at(gsl_vector_get(x, j));
    }
    covariance(*workspace);
    return change;
  }

  // From the singular values of the weighted slopes, each column scaled to length 1: (J^T W J)^-1 times the variance of
  // the residuals. What no residual depends on gets no entry.
  void covariance(const gsl_multifit_nlinear_workspace& workspace)
  {
    const std::size_t n = points_.size();
    const std::size_t p = free_.size();
    Matrix scaled(gsl_matrix_alloc(std::max(n, p), p));
    gsl_matrix_set_zero(scaled.get());
    const gsl_matrix* jacobian = gsl_multifit_nlinear_jac(&workspace);
    lengths_.assign(p, 0);
    for (std::size_t j = 0; j < p; ++j) {
      for (std::size_t i = 0; i < n; ++i)
        lengths_[j] += std::pow(gsl_matrix_get(jacobian, i, j), 2);
      lengths_[j] = std::sqrt(lengths_[j]);
      for (std::size_t i = 0; i < n && lengths_[j] > without_effect; ++i)
        gsl_matrix_set(scaled.get(), i, j, gsl_matrix_get(jacobian, i, j) / lengths_[j]);
    }
    Matrix v(gsl_matrix_alloc(p, p));
    Vector singular(gsl_vector_alloc(p));
    Vector work(gsl_vector_alloc(p));
    gsl_linalg_SV_decomp(scaled.get(), v.get(), singular.get(), work.get());
    double sum = 0;
    const gsl_vector* f = gsl_multifit_nlinear_residual(&workspace);
    gsl_blas_ddot(f, f, &sum);
    const double variance = sum / static_cast<double>(fitted_points_ - p);
    covariance_.assign(p * p, 0);
    constexpr double smallest = 1e-7;
    for (std::size_t a = 0; a < p; ++a)
      for (std::size_t b = 0; b < p; ++b) {
        if (lengths_[a] <= without_effect || lengths_[b] <= without_effect)
          continue;
        for (std::size_t k = 0; k < p; ++k) {
          const double s = std::max(gsl_vector_get(singular.get(), k), smallest);
          if (gsl_vector_get(singular.get(), k) > 0)
            covariance_[a * p + b] += gsl_matrix_get(v.get(), a, k) * gsl_matrix_get(v.get(), b, k) / (s * s);
        }
        covariance_[a * p + b] *= variance / (lengths_[a] * lengths_[b]);
      }
  }

  // Huber's weights from the residuals at the current values. False: nothing changed much.
  bool reweigh()
  {
    const std::vector<double> predicted = evaluate(current_values());
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

  // exp(mean |residual|) - 1 of what is fitted, benchmarks weighted alike.
  double error_at(const std::vector<double>& values)
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
  double error() { return error_at(current_values()); }

  // ---- Steps ----

  // The measured sizes and powers of two within a factor of 8.
  [[nodiscard]] std::vector<double> candidates(const Key& key) const
  {
    std::set<double> all{key.value};
    if (key.info.kind == ParameterKind::size)
      for (const Point& point : points_)
        all.insert(static_cast<double>(point.size));
    for (double power = 1; power < 0x1p40; power *= 2)
      all.insert(power);
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
      Key& key = keys_[k];
      if (!is_step(key.info.kind))
        continue;
      std::vector<double> values = current_values();
      const double before = error_at(values);
      double best = before;
      double best_value = key.value;
      std::vector<std::pair<double, double>> tried;
      for (const double candidate : candidates(key)) {
        values[k] = candidate;
        tried.emplace_back(candidate, error_at(values));
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
    all.converged = converged_;
    const double t = free_.empty() ? 0 : gsl_cdf_tdist_Pinv(0.975, static_cast<double>(fitted_points_ - free_.size()));
    for (std::size_t k = 0; k < keys_.size(); ++k) {
      const Key& key = keys_[k];
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
        const double product = covariance_[a * p + a] * covariance_[b * p + b];
        const double coefficient = product > 0 ? covariance_[a * p + b] / std::sqrt(product) : 0;
        if (std::abs(coefficient) > 0.9)
          all.correlations.push_back({keys_[free_[a]].info.key, keys_[free_[b]].info.key, coefficient});
      }
    const std::vector<double> predicted = evaluate(current_values(), true);
    all.predicted.resize(problem_.experiments.size());
    for (std::size_t i = 0; i < points_.size(); ++i)
      all.predicted[points_[i].experiment][points_[i].size] = std::exp(predicted[i]);
    all.evaluations = evaluations_;
    return all;
  }

  void describe(FittedParameter& fitted, const Key& key, std::size_t j, double t) const
  {
    using enum FittedParameter::Determined;
    // Of the variable that is `center` here and 1 at the key's scale.
    const double deviation = std::sqrt(covariance_[j * free_.size() + j]);
    const double center = key.inverse() ? key.scale / key.value : key.value / key.scale;
    const double below = key.at(std::max(0.0, center - t * deviation));
    const double above = key.at(center + t * deviation);
    fitted.low = short_text(key.info.kind, std::min(below, above));
    fitted.high = short_text(key.info.kind, std::max(below, above));
    fitted.relative_error = deviation / center;
    fitted.determined = lengths_[j] <= without_effect ? none : t * fitted.relative_error > 0.25 ? weak : well;
  }

  const FitProblem& problem_;
  const std::function<void(const std::string&)>& tell_;
  std::vector<Key> keys_;
  std::vector<std::size_t> free_; // indexes of the continuous ones
  std::vector<Point> points_;
  std::vector<double> robust_; // by point
  std::size_t fitted_points_ = 0;
  unsigned evaluations_ = 0;
  bool converged_ = true;
  std::vector<double> last_values_;
  std::vector<double> last_;
  std::vector<double> lengths_;    // of the columns of slopes
  std::vector<double> covariance_; // of the continuous ones, row by row
  std::vector<std::pair<double, double>> ranges_;
  std::vector<bool> whole_range_;
  std::exception_ptr problem_in_gsl_;
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
  return {"issue",    "pio_store",  "take_event", "pci_read",    "dma_gap", "page_miss",
          "ack_time", "reply_time", "coding",     "rx_page_gap", "search",  "event_gap"};
}

} // namespace umwelt::net
