// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/kernels/watching.h"

#include <algorithm>
#include <array>

#include <gmock/gmock.h>

#include "runtime/base/usage_error.h"
#include "tests/runtime/kernels/scratch.h"

namespace umwelt::kernels
{
namespace
{

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const Kernel& find(const Kernels& kernels, const std::string& name)
{
  return *std::ranges::find(kernels.list, name, &Kernel::name);
}

TEST(Watching, LooksAtAllOfTheTable)
{
  const std::array<std::string, 2> symbols{"own", "daxpy"};
  const Kernels kernels = watched_kernels(symbols);
  EXPECT_EQ(kernels.list.size(), builtin_names().size() + 1);
  EXPECT_FALSE(find(kernels, "dgemm").is_expected);
  EXPECT_TRUE(find(kernels, "daxpy").is_expected);
  EXPECT_TRUE(find(kernels, "own").is_expected);
  EXPECT_EQ(find(kernels, "own").action, Action::watch);
}

TEST(Watching, ANameThatAnythingMayHaveIsNotFortrans)
{
  const Kernels kernels = watched_kernels({});
  const auto has = [](const Kernel& kernel, const char* symbol) {
    return std::ranges::find(kernel.entries, symbol, &Entry::symbol) != kernel.entries.end();
  };
  EXPECT_TRUE(has(find(kernels, "dcopy"), "dcopy_"));
  EXPECT_TRUE(has(find(kernels, "dcopy"), "cblas_dcopy"));
  EXPECT_FALSE(has(find(kernels, "dcopy"), "dcopy"));
  EXPECT_TRUE(has(find(kernels, "fftw_execute"), "fftw_execute"));
}

TEST(Watching, EachFunctionOnce)
{
  const std::array<std::string, 2> symbols{"own", "own"};
  EXPECT_THROW(watched_kernels(symbols), UsageError);
}

class FirstFile : public testing::Test
{
protected:
  Totals& totals(const std::string& name)
  {
    return totals_[static_cast<std::size_t>(&find(kernels_, name) - kernels_.list.data())];
  }
  void call(const std::string& name, const std::vector<double>& sizes, double seconds)
  {
    Totals& its = totals(name);
    ++its.calls;
    its.time += sim::from_seconds(seconds);
    its.sizes.add(sizes, seconds);
  }
  std::string text(double computing, double least = 0.01)
  {
    return first_kernels_file(kernels_, totals_, profile_, computing, least, std::array<std::string, 1>{"./bin/app 7"});
  }

  Kernels kernels_ = watched_kernels(std::array<std::string, 1>{"own"});
  std::vector<Totals> totals_{kernels_.list.size()};
  Profile profile_;
};

TEST_F(FirstFile, SaysWhatItSawAndIsReadAgain)
{
  for (int i = 1; i <= 20; ++i)
    call("dgemm", {100.0 * i, 200, 300}, 1e-5 + 1e-10 * 100 * i * 200 * 300);
  call("own", {}, 0.5);
  call("own", {}, 0.25);
  call("daxpy", {500}, 1e-6);
  const std::string file = text(2);
  EXPECT_THAT(file, AllOf(HasSubstr("a run of: ./bin/app 7"), HasSubstr("Less than 1 % of computing: daxpy\n"),
                          HasSubstr("# 20 calls, 6.3 % of computing, 6.31 ms each on average\n"),
                          HasSubstr("# sizes M 100..1000..2000, N 200, K 300 (20 different)\n"),
                          HasSubstr("# 2 calls, 37.5 % of computing, 375 ms each on average\n"),
                          HasSubstr("- name: own\n  action: model\n  duration: 0.375 s\n")));
  EXPECT_LT(file.find("name: own"), file.find("name: dgemm")); // by time
  const Kernels read = read_text(file);
  ASSERT_EQ(read.list.size(), 2U);
  EXPECT_EQ(read.list[1].entries.size(), 3U); // all spellings
  EXPECT_THAT(file, Not(HasSubstr("skip\n")));
}

TEST_F(FirstFile, TellsOfFunctionsThatAreNotCounted)
{
  EXPECT_THAT(text(2), Not(HasSubstr("Other functions")));
  profile_.ticks[{"app", "stencil"}] = 60;
  profile_.ticks[{"app", "pack"}] = 20;
  profile_.ticks[{"app", "dgemm_"}] = 9;            // is counted
  profile_.ticks[{"app", ""}] = 5;                  // cannot be
  profile_.ticks[{"libmpi.so.40", "progress"}] = 5; // not the program's
  profile_.ticks[{"app", "rarely"}] = 1;
  EXPECT_THAT(text(2, 0.02), AllOf(HasSubstr(": stencil 60.0 %, pack 20.0 %\n"),
                                   HasSubstr("umwelt kernels --functions stencil,pack\n")));
  EXPECT_TRUE(read_text(text(2)).list.empty());
}

TEST_F(FirstFile, OfAProgramWithoutKernelsIsOneWithout)
{
  EXPECT_THAT(text(2), HasSubstr("kernels: []\n"));
  EXPECT_TRUE(read_text(text(2)).list.empty());
}

TEST_F(FirstFile, CallsWhoseSizesAreNotKnownHaveAConstant)
{
  call("fftw_execute", {64, 1, 0}, 1);
  call("fftw_execute", {std::numeric_limits<double>::quiet_NaN()}, 3);
  EXPECT_THAT(text(4), HasSubstr("duration: 2 s\n"));
}

TEST_F(FirstFile, OneSizeIsAConstant)
{
  for (int i = 0; i < 5; ++i)
    call("dgemm", {10, 10, 10}, 2e-6);
  EXPECT_THAT(text(1e-5), HasSubstr("duration: 2e-06 s\n"));
}

} // namespace
} // namespace umwelt::kernels
