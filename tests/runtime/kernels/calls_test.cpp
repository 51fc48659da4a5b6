// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/kernels/calls.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>

#include <gmock/gmock.h>

#include "tests/runtime/kernels/scratch.h"

namespace umwelt::kernels
{
namespace
{

constexpr unsigned rank = 3;
constexpr Place place{0, 0, 0, rank};

class CallsTest : public testing::Test
{
protected:
  Calls& calls(const std::string& text)
  {
    calls_ = std::make_unique<Calls>(std::make_shared<const Kernels>(read_text("kernels:\n" + text)));
    return *calls_;
  }
  [[nodiscard]] std::size_t function(std::string_view symbol) const
  {
    const auto& all = calls_->functions();
    const auto found = std::ranges::find(all, symbol, &Calls::Function::symbol);
    EXPECT_NE(found, all.end()) << symbol;
    return static_cast<std::size_t>(found - all.begin());
  }
  [[nodiscard]] const Totals& totals(std::size_t kernel = 0) const { return calls_->totals(rank)->at(kernel); }

  std::unique_ptr<Calls> calls_;
};

CallRegisters with(std::uint64_t first)
{
  return {{first, 0, 0, 0, 0, 0}, {}, nullptr};
}

CallRegisters gemm(int m, int n, int k)
{
  static std::array<int, 3> sizes;
  static double one = 1;
  sizes = {m, n, k};
  static char no = 'N';
  const auto at = [](const void* value) { return reinterpret_cast<std::uint64_t>(value); };
  static std::array<std::uint64_t, 8> stack; // A LDA B LDB BETA C LDC
  stack = {at(&one), at(&sizes[0]), at(&one), at(&sizes[2]), at(&one), at(&one), at(&sizes[0]), 0};
  return {{at(&no), at(&no), at(&sizes[0]), at(&sizes[1]), at(&sizes[2]), at(&one)}, {}, stack.data()};
}

void tell(std::vector<Totals>& sum, const std::vector<Totals>& totals)
{
  for (const std::string& text : totals_texts(totals))
    add_totals(sum, text);
}

// BLAS returns at once; HPL waits for a panel in a loop of such calls.
TEST_F(CallsTest, WithoutRowsOrColumnsThereIsNothingToDo)
{
  calls("- {name: dgemm, action: skip, duration: 2us + 1ns * M * N * K}");
  const std::size_t dgemm = function("dgemm_");
  const auto time = [&](int m, int n, int k) { return calls_->begin(dgemm, place, gemm(m, n, k)).time; };
  EXPECT_EQ(time(10, 10, 10), 3 * sim::microsecond);
  EXPECT_EQ(time(0, 10, 10), 0);
  EXPECT_EQ(time(10, 0, 10), 0);
  EXPECT_EQ(time(10, 10, 0), 2 * sim::microsecond); // C = beta C
  EXPECT_EQ(totals().calls, 4U);
}

TEST_F(CallsTest, ASkippedCallHasItsTimeAndResult)
{
  calls("- {name: f, function: int f(int n), action: skip, duration: 2us * n, returns: n + 1}");
  const Calls::Call call = calls_->begin(function("f"), place, with(4));
  EXPECT_EQ(call.way, Calls::Way::skip);
  EXPECT_EQ(call.time, 8 * sim::microsecond);
  EXPECT_EQ(call.result, 5U);
  EXPECT_FALSE(call.result_in_vector);
  EXPECT_EQ(totals().calls, 1U);
  EXPECT_EQ(totals().skipped, 1U);
  EXPECT_EQ(totals().time, 8 * sim::microsecond);
}

TEST_F(CallsTest, AModelledCallRunsAndTakesWhatItIsSaidToHaveTaken)
{
  calls("- {name: f, function: double f(int n), action: model, duration: 2us}");
  const Calls::Call call = calls_->begin(function("f"), place, with(4));
  EXPECT_EQ(call.way, Calls::Way::model);
  EXPECT_EQ(totals().time, 0);
  calls_->end(call, rank, 3 * sim::microsecond, 0);
  EXPECT_EQ(totals().time, 3 * sim::microsecond);
  EXPECT_EQ(totals().skipped, 0U);
}

TEST_F(CallsTest, OnNodesThatAreFasterModelsTakeLess)
{
  Kernels kernels = read_text("kernels:\n- {name: f, function: void f(int n), action: skip, duration: 1us * n}");
  kernels.speed = 4;
  calls_ = std::make_unique<Calls>(std::make_shared<const Kernels>(std::move(kernels)));
  EXPECT_EQ(calls_->begin(function("f"), place, with(10)).time, 2500 * sim::nanosecond);
  EXPECT_EQ(totals().time, 2500 * sim::nanosecond);
}

TEST_F(CallsTest, ParametersAreSetBeforeTheFunctionRunsOrInsteadOfIt)
{
  for (const std::string action : {"skip", "model"}) {
    calls("- {name: f, function: 'void f(double& x, int& i, char& c)', action: " + action +
          ", duration: 1us, sets: {x: i + 0.5, i: 7, c: 65}}");
    double x = 0;
    std::array<std::int32_t, 2> i{3, 4};
    std::array<char, 2> c{'x', 'y'};
    const CallRegisters frame{{reinterpret_cast<std::uint64_t>(&x), reinterpret_cast<std::uint64_t>(&i),
                               reinterpret_cast<std::uint64_t>(&c), 0, 0, 0},
                              {},
                              nullptr};
    (void)calls_->begin(function("f"), place, frame);
    EXPECT_EQ(x, 3.5); // of what i was
    EXPECT_THAT(i, testing::ElementsAre(7, 4));
    EXPECT_THAT(c, testing::ElementsAre('A', 'y'));
  }
}

TEST_F(CallsTest, ANullReferenceIsNotSet)
{
  calls("- {name: f, function: void f(double& x), action: skip, duration: 1us, sets: {x: 1}}");
  EXPECT_EQ(calls_->begin(function("f"), place, with(0)).way, Calls::Way::skip);
}

TEST_F(CallsTest, RandomSettingsDifferFromCallToCallAndFromEachOther)
{
  calls("- {name: f, function: 'void f(double& x, double& y)', action: skip, duration: 1us,\n"
        "   sets: {x: 'random(0, 1)', y: 'random(0, 1)'}}");
  std::array<double, 2> first{};
  std::array<double, 2> second{};
  for (std::array<double, 2>* one : {&first, &second})
    (void)calls_->begin(
        function("f"), place,
        {{reinterpret_cast<std::uint64_t>(&(*one)[0]), reinterpret_cast<std::uint64_t>(&(*one)[1]), 0, 0, 0, 0},
         {},
         nullptr});
  EXPECT_NE(first[0], first[1]);
  EXPECT_NE(first[0], second[0]);
}

TEST_F(CallsTest, ACallThatNeverReturnsIsOneAllTheSame)
{
  calls("- {name: f, action: run}\n- {name: g, action: run}");
  EXPECT_EQ(calls_->totals(rank), nullptr);
  EXPECT_EQ(calls_->begin(function("g"), place, with(0)).way, Calls::Way::run);
  EXPECT_EQ(totals(0).calls, 0U);
  EXPECT_EQ(totals(1).calls, 1U);
}

TEST_F(CallsTest, WatchedCallsRunAndAreToldByTheirSizes)
{
  calls("- {name: f, function: void f(int n), action: watch}");
  for (const unsigned n : {4U, 4U, 9U}) {
    const Calls::Call call = calls_->begin(function("f"), place, with(n));
    EXPECT_EQ(call.way, Calls::Way::run);
    calls_->end(call, rank, n * sim::microsecond, 0);
  }
  std::vector<Totals> told;
  tell(told, *calls_->totals(rank));
  tell(told, *calls_->totals(rank));
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].calls, 6U);
  EXPECT_EQ(told[0].time, 34 * sim::microsecond);
  EXPECT_EQ(told[0].sampled, 0U);
  ASSERT_EQ(told[0].sizes.classes().size(), 2U);
  EXPECT_EQ(told[0].sizes.classes().at({4}).calls, 4U);
  EXPECT_DOUBLE_EQ(told[0].sizes.classes().at({9}).seconds, 18e-6);
}

TEST_F(CallsTest, SamplesAreMeasuredClassByClass)
{
  calls("- {name: f, function: void f(int n), action: sample, least: 2, then: skip}");
  for (int i = 0; i < 2; ++i)
    for (const std::uint64_t n : {10, 20}) {
      const Calls::Call call = calls_->begin(function("f"), place, with(n));
      ASSERT_TRUE(call.is_sample);
      calls_->end(call, rank, static_cast<sim::SimTime>(n) * sim::microsecond, 0);
    }
  for (const std::uint64_t n : {10, 20}) {
    const Calls::Call call = calls_->begin(function("f"), place, with(n));
    EXPECT_EQ(call.way, Calls::Way::skip);
    EXPECT_EQ(call.time, static_cast<sim::SimTime>(n) * sim::microsecond);
  }
  EXPECT_EQ(totals().calls, 6U);
  EXPECT_EQ(totals().sampled, 4U);
  EXPECT_EQ(totals().skipped, 2U);
}

TEST_F(CallsTest, PlansTellWhatTheirExecutionTakes)
{
  calls("- {name: fftw_execute, action: skip, duration: 1us * N}");
  CallRegisters frame = with(64);
  const Calls::Call made = calls_->begin(function("fftw_plan_dft_1d"), place, frame);
  EXPECT_EQ(made.way, Calls::Way::run);
  calls_->end(made, rank, 0, 0x5000);
  EXPECT_EQ(calls_->begin(function("fftw_execute"), place, with(0x5000)).time, 64 * sim::microsecond);
  EXPECT_EQ(totals().calls, 1U); // making it is none of the kernel
}

TEST_F(CallsTest, TotalsOfRanksAddUp)
{
  std::vector<Totals> sum;
  const std::vector<Totals> one{{1, 2, 3, 4}, {5, 6, 7, 8}};
  tell(sum, one);
  tell(sum, one);
  add_totals(sum, "nonsense");
  ASSERT_EQ(sum.size(), 2U);
  EXPECT_EQ(sum[1].calls, 10U);
  EXPECT_EQ(sum[1].skipped, 12U);
  EXPECT_EQ(sum[1].sampled, 14U);
  EXPECT_EQ(sum[1].time, 16);
  tell(sum, {{0, 0, 0, 0, true, {}}, {0, 0, 0, 0, false, "dgemm_"}});
  EXPECT_TRUE(sum[0].exists);
  EXPECT_FALSE(sum[1].exists);
  EXPECT_EQ(sum[0].nearest, "");
  EXPECT_EQ(sum[1].nearest, "dgemm_");
}

TEST_F(CallsTest, TotalsOfMoreSizesThanARequestHasRoomForAreToldInParts)
{
  std::vector<Totals> many(700);
  for (int i = 0; i < 4000; ++i) {
    many[3].sizes.add(std::vector{1234567.0 + i, 7654321.0 - i, 1e6 / 3}, 1e-6 / 3);
    many[9].sizes.add(std::vector{1.0 * i}, 1);
  }
  many[3].calls = many[9].calls = 4000;
  const std::vector<std::string> texts = totals_texts(many);
  EXPECT_GT(texts.size(), 3U);
  for (const std::string& text : texts)
    EXPECT_LT(text.size(), std::size_t{200} << 10);
  std::vector<Totals> sum;
  tell(sum, many);
  ASSERT_EQ(sum.size(), 700U);
  EXPECT_EQ(sum[3].calls, 4000U);
  EXPECT_EQ(sum[3].sizes.texts(), many[3].sizes.texts());
  EXPECT_EQ(sum[9].sizes.classes(), many[9].sizes.classes());
}

} // namespace
} // namespace umwelt::kernels
