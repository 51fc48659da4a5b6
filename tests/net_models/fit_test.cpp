// SPDX-License-Identifier: LGPL-2.1-or-later
// Measurements made with known parameters and noise: the fit must find the parameters again.
#include "net_models/calibration/fit.h"

#include <random>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net_models/catalogue.h"

namespace umwelt::net
{
namespace
{

using testing::HasSubstr;

class Fit : public testing::Test
{
protected:
  static constexpr std::uint64_t sizes[] = {1,    8,    20,   64,    65,    200,    416,    417,    900,
                                            2000, 4096, 9000, 20000, 65536, 150000, 400000, 800000, 1 << 20};

  // What a machine with these parameters would be measured at, each size off by a random factor.
  Series measure(const char* benchmark, const std::string& nic, double noise, std::mt19937& random) const
  {
    Parameters truth;
    truth.add(nic, "truth");
    std::normal_distribution<double> normal(0, noise);
    Series series;
    const Benchmark& what = *find_benchmark(benchmark);
    for (const std::uint64_t size : sizes)
      series[size] = replay(what, problem.model, *platform, truth, size, what.window == 0 ? problem.messages : 100) *
                     std::exp(noise > 0 ? normal(random) : 0);
    return series;
  }

  void add(const char* benchmark, const std::string& nic, double noise = 0, unsigned seed = 1)
  {
    std::mt19937 random(seed);
    problem.experiments.push_back({find_benchmark(benchmark), measure(benchmark, nic, noise, random), {}});
  }

  FitResult run()
  {
    return fit(problem, [](const std::string&) {});
  }

  std::string message()
  {
    try {
      run();
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "no error";
  }

  std::unique_ptr<platform::Platform> platform = platform::make_platform({.spec = "bxi", .nodes = 2});
  FitProblem problem{.model = "bxi", .platform = platform.get(), .messages = 400};
};

double nanoseconds(const std::string& text)
{
  sim::SimTime time = 0;
  EXPECT_TRUE(parse_time(text, time)) << text;
  return static_cast<double>(time) * 1e-3;
}

TEST_F(Fit, FindsTheTruthWithoutNoise)
{
  const char* truth = "pci_read=700ns,ack_time=300ns,take_event=120ns";
  add("put_waitack", truth);
  add("get_waitreply", truth);
  problem.keys = {"pci_read", "ack_time", "take_event"};
  const FitResult result = run();
  EXPECT_NEAR(nanoseconds(result.fitted[0].value), 700, 1);
  EXPECT_NEAR(nanoseconds(result.fitted[1].value), 300, 1);
  EXPECT_NEAR(nanoseconds(result.fitted[2].value), 120, 1);
  EXPECT_LT(mean_error(result.predicted[0], problem.experiments[0].measured), 1e-3);
  EXPECT_TRUE(result.converged);
}

TEST_F(Fit, IntervalsHoldTheTruthAsOftenAsTheySay)
{
  const std::string truth = "pci_read=700ns,ack_time=300ns";
  problem.keys = {"pci_read", "ack_time"};
  int inside = 0;
  constexpr int rounds = 20;
  for (unsigned seed = 1; seed <= rounds; ++seed) {
    problem.experiments.clear();
    add("put_waitack", truth, 0.02, seed);
    const FitResult result = run();
    for (const auto& [index, value] : {std::pair<std::size_t, double>{0, 700}, {1, 300}}) {
      const FittedParameter& fitted = result.fitted[index];
      inside += nanoseconds(fitted.low) <= value && value <= nanoseconds(fitted.high) ? 1 : 0;
    }
  }
  EXPECT_GE(inside, 2 * rounds * 80 / 100); // 95 % of 40, less what chance takes
}

TEST_F(Fit, AnOutlierDoesNotBendTheRest)
{
  const std::string truth = "pci_read=700ns";
  add("put_waitack", truth, 0.005);
  problem.experiments[0].measured[4096] *= 3;
  problem.keys = {"pci_read"};
  EXPECT_NEAR(nanoseconds(run().fitted[0].value), 700, 25);
}

TEST_F(Fit, FindsAStageThatTheStartValuesHide)
{
  add("get_nowait", "dma_gap=900ns");
  problem.keys = {"dma_gap"};
  problem.parameters.add("dma_gap=100ns", "--nic"); // another stage is slower
  EXPECT_NEAR(nanoseconds(run().fitted[0].value), 900, 5);
}

TEST_F(Fit, SeveralStartsAreNoWorseThanOne)
{
  add("put_nowait", "issue=150ns,take_event=200ns,event_gap=100ns", 0.01);
  add("put_waitack", "issue=150ns,take_event=200ns,event_gap=100ns", 0.01);
  problem.keys = {"issue", "take_event", "event_gap"};
  problem.parameters.add("event_gap=400ns,issue=50ns", "--nic");
  const auto error = [&] {
    const FitResult result = run();
    return mean_error(result.predicted[0], problem.experiments[0].measured);
  };
  const double one = error();
  problem.starts = 4;
  EXPECT_LE(error(), one + 1e-3);
}

TEST_F(Fit, SaysWhatTheMeasurementsDoNotDetermine)
{
  add("put_waitack", "ack_time=300ns", 0.01);
  problem.keys = {"ack_time", "dma_gap", "atomic_time"}; // nothing but a sum, hidden, not used
  const FitResult result = run();
  EXPECT_EQ(result.fitted[0].determined, FittedParameter::Determined::well);
  EXPECT_EQ(result.fitted[2].determined, FittedParameter::Determined::none);
  EXPECT_EQ(result.fitted[2].value, result.fitted[2].start);
}

TEST_F(Fit, NamesParametersThatOnlyCountTogether)
{
  add("put_waitack", "ack_time=300ns", 0.01);
  problem.keys = {"ack_time", "rx_time"};
  const FitResult result = run();
  ASSERT_EQ(result.correlations.size(), 1U);
  EXPECT_LT(result.correlations[0].coefficient, -0.9);
}

TEST_F(Fit, StepsAreFoundAtMeasuredSizes)
{
  add("put_waitack", "pio_max=200");
  problem.keys = {"pio_max", "pci_read"};
  const FitResult result = run();
  EXPECT_EQ(result.fitted[0].value, "200B");
  EXPECT_NEAR(nanoseconds(result.fitted[1].value), 500, 5);
}

TEST_F(Fit, WhatIsHeldOutIsOnlyPredicted)
{
  add("put_waitack", "pci_read=700ns");
  problem.experiments[0].measured[4096] = 1000;
  problem.experiments[0].held_out = {4096};
  problem.keys = {"pci_read"};
  const FitResult result = run();
  EXPECT_NEAR(nanoseconds(result.fitted[0].value), 700, 1);
  EXPECT_NEAR(result.predicted[0].at(4096), 3.3, 0.3);
}

TEST_F(Fit, WithoutKeysItOnlyJudges)
{
  add("put_waitack", "");
  const FitResult result = run();
  EXPECT_TRUE(result.fitted.empty());
  EXPECT_EQ(result.predicted[0].size(), std::size(sizes));
  EXPECT_EQ(result.evaluations, 1U);
}

TEST_F(Fit, OtherModelsToo)
{
  problem.model = "loggp";
  add("put_waitack", "L=900ns,o=250ns", 0.01);
  problem.keys = {"L"};
  problem.parameters.add("o=250ns", "--nic");
  EXPECT_NEAR(nanoseconds(run().fitted[0].value), 900, 50);
}

TEST_F(Fit, ThreadsDoNotChangeTheResult)
{
  add("put_waitack", "pci_read=700ns", 0.01);
  problem.keys = {"pci_read"};
  const std::string one = run().fitted[0].value;
  problem.threads = 3;
  EXPECT_EQ(run().fitted[0].value, one);
}

TEST_F(Fit, RefusesWhatCannotBeFitted)
{
  add("put_waitack", "");
  problem.keys = {"pci_reed"};
  EXPECT_THAT(message(), HasSubstr("--fit pci_reed: model bxi has no such parameter. Did you mean 'pci_read'?"));
  problem.keys = {"e2e"};
  EXPECT_THAT(message(), HasSubstr("--fit e2e: expected a parameter with a number, got a flag"));
  problem.keys = {"drop"};
  EXPECT_THAT(message(), HasSubstr("--fit drop: expected a start value above 0, got 0"));
  problem.keys = {"issue", "issue"};
  EXPECT_THAT(message(), HasSubstr("expected each key once"));
  problem.keys = {"issue"};
  problem.parameters.add("issue=3", "--nic");
  EXPECT_THAT(message(), HasSubstr("--nic: parameter issue of model bxi: expected a time"));
}

TEST_F(Fit, NeedsMoreMeasurementsThanParameters)
{
  add("put_waitack", "");
  problem.experiments[0].measured = {{8, 2}, {16, 2}};
  problem.keys = {"issue", "ack_time"};
  EXPECT_THAT(message(), HasSubstr("expected more measurements than parameters, got 2 sizes for 2"));
}

TEST_F(Fit, TheUsualKeysExist)
{
  for (const ModelEntry& model : models())
    for (const std::string& key : usual_keys(model.name)) {
      const auto& parameters = model.parameters;
      EXPECT_TRUE(std::any_of(parameters.begin(), parameters.end(), [&](const auto& info) { return info.key == key; }))
          << key;
    }
}

} // namespace
} // namespace umwelt::net
