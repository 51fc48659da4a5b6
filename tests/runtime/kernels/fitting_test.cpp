// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cmath>
#include <random>

#include <gmock/gmock.h>

#include "runtime/kernels/fitting/entry_text.h"
#include "runtime/kernels/fitting/forms.h"
#include "runtime/kernels/fitting/non_negative.h"
#include "runtime/kernels/fitting/scatter.h"
#include "runtime/kernels/fitting/terms.h"
#include "runtime/kernels/kernels_file.h"
#include "tests/runtime/kernels/scratch.h"

namespace umwelt::kernels
{
namespace
{

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;

// ---- Least squares ----

TEST(NonNegative, FindsWhatThereIs)
{
  NormalEquations equations(3);
  for (const double x : {1.0, 2.0, 3.0, 7.0})
    equations.add(std::vector{1.0, x, x * x}, 4 + 2 * x + 3 * x * x, 1 / x);
  EXPECT_THAT(equations.solve(), ElementsAre(DoubleNear(4, 1e-8), DoubleNear(2, 1e-8), DoubleNear(3, 1e-8)));
}

TEST(NonNegative, WhatWouldBeNegativeIsZeroAndTheOthersAreTheBestWithoutIt)
{
  NormalEquations equations(2);
  for (const double x : {1.0, 2.0, 3.0})
    equations.add(std::vector{1.0, x}, 2 * x - 1, 1);
  const double slope = (1 * 1 + 2 * 3 + 3 * 5) / (1.0 + 4 + 9);
  EXPECT_THAT(equations.solve(), ElementsAre(0, DoubleNear(slope, 1e-9)));
}

TEST(NonNegative, WeightsCount)
{
  NormalEquations equations(1);
  equations.add(std::vector{1.0}, 1, 3);
  equations.add(std::vector{1.0}, 5, 1);
  EXPECT_THAT(equations.solve(), ElementsAre(DoubleNear(2, 1e-12)));
}

TEST(NonNegative, ColumnsThatAreTheSameShare)
{
  NormalEquations equations(3);
  for (const double x : {1.0, 2.0, 3.0})
    equations.add(std::vector{1e9 * x, x, 0.0}, 6e9 * x, 1);
  const std::vector<double> solution = equations.solve();
  EXPECT_NEAR(1e9 * solution[0] + solution[1], 6e9, 1);
  EXPECT_EQ(solution[2], 0);
}

// ---- Terms ----

std::vector<std::string> texts(const char* kernel)
{
  return Terms(find_builtin(kernel)).texts();
}

TEST(Terms, AreSurfacesOfTheOperands)
{
  EXPECT_THAT(texts("dgemm"), ElementsAre("1", "flops", "bytes", "M * N", "M * K", "N * K"));
  EXPECT_THAT(texts("dtrsm"), ElementsAre("1", "flops", "bytes", "M * M", "M * N", "N * N"));
  EXPECT_THAT(texts("dgemv"), ElementsAre("1", "flops", "bytes", "M", "N"));
  EXPECT_THAT(texts("dpotrf"), ElementsAre("1", "flops", "bytes", "N * N", "N"));
  EXPECT_THAT(texts("daxpy"), ElementsAre("1", "flops"));
  EXPECT_THAT(texts("dcopy"), ElementsAre("1", "bytes"));
  EXPECT_THAT(Terms(nullptr).texts(), ElementsAre("1"));
}

TEST(Terms, OfAllFunctionsCanBeMade)
{
  for (const std::string& name : builtin_names()) {
    const KernelFunction* const function = find_builtin(name);
    const Terms terms(function);
    for (const double value : terms.evaluate(std::vector<double>(function->sizes.size(), 'L')))
      EXPECT_TRUE(std::isfinite(value)) << name;
  }
}

// ---- Fits ----

struct Truth {
  std::string kernel = "dgemm";
  double constant = 1e-6;
  double per_flop = 5e-11;
  double per_surface = 0; // M * N
  double split = 0;       // where it is twice as fast
  double noise = 0.02;    // relative, normal
  std::size_t sizes = 60;
  std::size_t repetitions = 4;
  std::uint64_t seed = 1;
};

std::vector<Observation> measured(const Truth& truth)
{
  const KernelFunction* const function = find_builtin(truth.kernel);
  const Terms terms(function);
  std::mt19937_64 random(truth.seed);
  std::uniform_real_distribution<double> length(4, 900);
  std::normal_distribution<double> noise(1, truth.noise);
  std::vector<Observation> observations;
  for (std::size_t i = 0; i < truth.sizes; ++i) {
    std::vector<double> sizes;
    for (const std::string& size : function->sizes)
      sizes.push_back(is_character(*function, size) ? 'L' : std::floor(length(random)));
    const std::vector<double> values = terms.evaluate(sizes);
    double duration = truth.constant + truth.per_flop * values[1];
    if (truth.per_surface > 0)
      duration += truth.per_surface * sizes[0] * sizes[1];
    if (truth.split > 0 && values[1] >= truth.split)
      duration /= 2;
    for (std::size_t j = 0; j < truth.repetitions; ++j)
      observations.push_back({values, duration * noise(random), 1, i, 0});
  }
  return observations;
}

std::vector<Judged> judge_all(const std::string& kernel, const std::vector<Observation>& observations)
{
  std::vector<Judged> judged;
  for (const Form& form : forms(Terms(find_builtin(kernel))))
    judged.push_back(judge(form, observations, 1, 7));
  return judged;
}

std::string chosen(const Truth& truth)
{
  const auto judged = judge_all(truth.kernel, measured(truth));
  return judged[choose(judged)].form.name;
}

TEST(Fit, FindsTheModelThatIsBehindTheMeasurements)
{
  const auto observations = measured({.constant = 1e-3});
  const auto fitted = fit(forms(Terms(find_builtin("dgemm")))[1], observations);
  ASSERT_TRUE(fitted);
  EXPECT_NEAR(fitted->values[0], 1e-3, 0.05e-3);
  EXPECT_NEAR(fitted->values[1], 5e-11, 0.02 * 5e-11);
}

TEST(Fit, ExactMeasurementsGiveTheExactModel)
{
  const auto observations = measured({.per_surface = 3e-9, .noise = 0});
  const Form polynomial = forms(Terms(find_builtin("dgemm")))[3];
  ASSERT_EQ(polynomial.name, "M-2");
  const auto fitted = fit(polynomial, observations);
  ASSERT_TRUE(fitted);
  EXPECT_NEAR(fitted->values[0], 1e-6, 1e-10);
  EXPECT_NEAR(fitted->values[1], 5e-11, 1e-15);
  EXPECT_NEAR(fitted->values[2], 3e-9, 1e-13);
}

TEST(Fit, ScatterMakesTheModelNeitherShorterNorLonger)
{
  const auto observations = measured({.noise = 0.3, .sizes = 400, .repetitions = 10});
  const auto fitted = fit(forms(Terms(find_builtin("dgemm")))[1], observations);
  ASSERT_TRUE(fitted);
  EXPECT_NEAR(fitted->values[1], 5e-11, 0.02 * 5e-11);
}

TEST(Fit, CallsWeigh)
{
  const Form constant = forms(Terms(nullptr))[0];
  std::vector<Observation> observations{{{1}, 10, 3, 0, 0}, {{1}, 12, 1, 1, 0}};
  const auto fitted = fit(constant, observations);
  ASSERT_TRUE(fitted);
  EXPECT_NEAR(fitted->values[0], 10.5, 1e-9);
}

TEST(Fit, FindsWhereThePiecesMeet)
{
  const auto observations = measured({.split = 1e8, .sizes = 200});
  const Form pieces = forms(Terms(find_builtin("dgemm"))).back();
  ASSERT_EQ(pieces.name, "M'");
  const auto fitted = fit(pieces, observations);
  ASSERT_TRUE(fitted);
  EXPECT_NEAR(std::log(fitted->split / 1e8), 0, 0.4);
  EXPECT_NEAR(fitted->values[1], 5e-11, 0.1 * 5e-11);
  EXPECT_NEAR(fitted->values[3], 2.5e-11, 0.1 * 2.5e-11);
}

TEST(Fit, TooFewSizesDetermineNothing)
{
  const auto list = forms(Terms(find_builtin("dgemm")));
  const auto observations = measured({.sizes = 2, .repetitions = 100});
  EXPECT_TRUE(fit(list[0], observations));
  EXPECT_FALSE(fit(list[1], observations));
  EXPECT_FALSE(fit(list[3], observations));
  EXPECT_FALSE(fit(list[4], observations));
}

TEST(Choice, TakesTheFormThatIsBehindTheMeasurements)
{
  EXPECT_EQ(chosen({}), "M-1");
  EXPECT_EQ(chosen({.per_surface = 2e-8}), "M-2");
  EXPECT_EQ(chosen({.split = 1e8, .sizes = 150}), "M'");
  EXPECT_EQ(chosen({.per_flop = 0}), "M-0");
  EXPECT_EQ(chosen({.kernel = "daxpy", .constant = 1e-8, .per_flop = 2e-10}), "M-1");
  EXPECT_EQ(chosen({.kernel = "dtrsm"}), "M-1");
}

TEST(Choice, IsTheSameAgain)
{
  const auto observations = measured({.noise = 0.2});
  EXPECT_EQ(judge_all("dgemm", observations)[1].validated, judge_all("dgemm", observations)[1].validated);
}

TEST(Choice, EachPlaceHasItsCoefficients)
{
  auto observations = measured({.noise = 0});
  for (Observation one : measured({.per_flop = 1e-10, .noise = 0})) {
    one.place = 1;
    observations.push_back(std::move(one));
  }
  const Judged judged = judge(forms(Terms(find_builtin("dgemm")))[1], observations, 2, 1);
  ASSERT_EQ(judged.places.size(), 2U);
  EXPECT_NEAR(judged.places[0].values[1], 5e-11, 1e-14);
  EXPECT_NEAR(judged.places[1].values[1], 1e-10, 1e-14);
  EXPECT_LT(judged.validated, 1e-6);
}

// ---- Scatter ----

std::vector<Residual> drawn(Distribution distribution, bool grows, double deviation)
{
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<Residual> residuals;
  for (int i = 0; i < 3000; ++i) {
    const double mean = std::pow(10, uniform(random));
    residuals.push_back({mean, quantile(distribution, mean, grows ? deviation * mean : deviation, uniform(random))});
  }
  return residuals;
}

TEST(ScatterTest, FindsDistributionAndKind)
{
  for (const Distribution distribution : {Distribution::normal, Distribution::half_normal, Distribution::log_normal})
    for (const bool grows : {true, false}) {
      const double deviation = grows && distribution == Distribution::log_normal ? 0.4 : 0.1;
      const Scatter found = scatter_of(drawn(distribution, grows, deviation));
      EXPECT_FALSE(found.none);
      if (grows || distribution == Distribution::half_normal) { // the others are alike where they are narrow
        EXPECT_EQ(found.distribution, distribution);
      }
      EXPECT_EQ(found.grows, grows);
      EXPECT_NEAR(found.deviation, deviation, 0.06 * deviation);
    }
}

TEST(ScatterTest, OneOutlierDoesNotRuleHalfNormalOut)
{
  auto residuals = drawn(Distribution::half_normal, true, 0.1);
  residuals[5].measured = 0.5 * residuals[5].predicted;
  EXPECT_EQ(scatter_of(residuals).distribution, Distribution::half_normal);
}

TEST(ScatterTest, NothingScattersNot)
{
  EXPECT_TRUE(scatter_of(std::vector<Residual>(20, {1, 1})).none);
  EXPECT_TRUE(scatter_of(std::vector<Residual>(3, {1, 2})).none);
}

// ---- As text ----

TEST(EntryTextTest, IsReadByTheKernelsFile)
{
  const KernelFunction* const function = find_builtin("dgemm");
  const Terms terms(function);
  const auto judged = judge_all("dgemm", measured({.per_surface = 2e-8, .split = 1e8, .sizes = 200}));
  for (const Judged& one : judged) {
    ASSERT_TRUE(one.possible()) << one.form.name;
    const EntryText entry{"dgemm", {"a comment: with a colon"},
                          "model", &terms,
                          &one,    Scatter{false, Distribution::half_normal, true, 1e-6},
                          "",      ""};
    const Kernels kernels = read_text("kernels:\n" + entry.text());
    ASSERT_EQ(kernels.list.size(), 1U);
    const Kernel& kernel = kernels.list.front();
    std::vector<double> values(kernel.variables.size());
    const std::vector<double> sizes{700, 800, 900};
    std::copy(sizes.begin(), sizes.end(), values.begin());
    values[static_cast<std::size_t>(std::ranges::find(kernel.variables, "flops") - kernel.variables.begin())] =
        kernel.flops->evaluate(values);
    values[static_cast<std::size_t>(std::ranges::find(kernel.variables, "bytes") - kernel.variables.begin())] =
        kernel.bytes->evaluate(values);
    const double predicted = one.places[0].predict(one.form, terms.evaluate(sizes));
    EXPECT_NEAR(seconds(*kernel.model, values), predicted, 1e-4 * predicted) << one.form.name;
  }
}

TEST(EntryTextTest, HasNamesOfATable)
{
  const Terms terms(find_builtin("dgemm"));
  const auto judged = judge_all("dgemm", measured({.split = 1e8, .sizes = 200}));
  const Scatter scatter{false, Distribution::normal, true, 0.02};
  EXPECT_THAT(
      coefficient_columns(terms, judged.back().form, scatter),
      ElementsAre("intercept [s]", "per_flop [s]", "intercept_large [s]", "per_flop_large [s]", "split", "deviation"));
  const std::string text = EntryText{"dgemm", {}, "model", &terms, &judged.back(), scatter, "t.csv", "row"}.text();
  EXPECT_THAT(text, HasSubstr("{when: flops < split, duration: intercept + per_flop * flops}"));
  EXPECT_THAT(text, HasSubstr("{table: t.csv, draw: row, missing: cycle}"));
  EXPECT_THAT(text, HasSubstr("sd: deviation * duration"));
}

} // namespace
} // namespace umwelt::kernels
