// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>

#include <gmock/gmock.h>
#include <unistd.h>

#include "runtime/base/usage_error.h"
#include "runtime/calibrate/kernel_caller.h"
#include "runtime/calibrate/kernel_fit.h"
#include "runtime/calibrate/kernel_measurements.h"
#include "runtime/calibrate/kernel_sizes.h"
#include "runtime/kernels/kernels_file.h"

namespace umwelt::calibrate
{
namespace
{

using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;

const kernels::KernelFunction& kernel(const char* name)
{
  return *kernels::find_builtin(name);
}

// A directory that goes with the test.
class Directory
{
public:
  Directory() : path_(std::filesystem::temp_directory_path() / ("umwelt-kernel-test-" + std::to_string(getpid())))
  {
    std::filesystem::create_directory(path_);
  }
  ~Directory() { std::filesystem::remove_all(path_); }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;

  std::string write(const std::string& name, const std::string& text) const
  {
    std::ofstream(path_ / name) << text;
    return path_ / name;
  }

private:
  std::filesystem::path path_;
};

template <class Act> std::string error_of(Act act)
{
  try {
    act();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

// ---- Sizes ----

double product(const std::vector<double>& sizes)
{
  return sizes[0] * sizes[1] * sizes[2];
}

TEST(Sizes, WorkIsUniformUpToTheBound)
{
  SizeWishes wishes;
  wishes.ranges[""] = {1, 4000};
  wishes.largest = 2e9; // operations: M * N * K up to 1e9
  wishes.count = 2000;
  double sum = 0;
  double squares = 0;
  double most = 0;
  for (const auto& sizes : draw_sizes(kernel("dgemm"), wishes)) {
    sum += product(sizes);
    squares += product(sizes) * product(sizes);
    most = std::max(most, product(sizes));
  }
  const double mean = sum / 2000;
  EXPECT_NEAR(mean, 5e8, 0.05 * 5e8);
  EXPECT_NEAR(std::sqrt(squares / 2000 - mean * mean), 1e9 / std::sqrt(12), 0.05e9);
  EXPECT_LT(most, 1.2e9);
}

TEST(Sizes, NoArgumentIsSpecial)
{
  SizeWishes wishes;
  wishes.ranges[""] = {1, 4000};
  wishes.largest = 2e8;
  wishes.count = 3000;
  std::vector<double> logarithms(3);
  for (const auto& sizes : draw_sizes(kernel("dgemm"), wishes))
    for (std::size_t i = 0; i < 3; ++i)
      logarithms[i] += std::log(sizes[i]) / 3000;
  EXPECT_NEAR(logarithms[0], logarithms[1], 0.12);
  EXPECT_NEAR(logarithms[1], logarithms[2], 0.12);
}

TEST(Sizes, FixedArgumentsStayAndRangesHold)
{
  SizeWishes wishes;
  wishes.fixed["K"] = 128;
  wishes.ranges["M"] = {100, 200};
  wishes.largest = 2e8;
  for (const auto& sizes : draw_sizes(kernel("dgemm"), wishes)) {
    EXPECT_EQ(sizes[2], 128);
    EXPECT_GE(sizes[0], 100);
    EXPECT_LE(sizes[0], 200);
    EXPECT_EQ(sizes[1], std::floor(sizes[1]));
  }
}

TEST(Sizes, CharactersDoNotVary)
{
  SizeWishes wishes;
  for (const auto& sizes : draw_sizes(kernel("dtrsm"), wishes))
    EXPECT_EQ(sizes[0], 'L');
  wishes.fixed["SIDE"] = 'R';
  for (const auto& sizes : draw_sizes(kernel("dtrsm"), wishes))
    EXPECT_EQ(sizes[0], 'R');
}

TEST(Sizes, AreThoseOfTheSeed)
{
  SizeWishes wishes;
  EXPECT_EQ(draw_sizes(kernel("dgemm"), wishes), draw_sizes(kernel("dgemm"), wishes));
  SizeWishes other;
  other.seed = 1;
  EXPECT_NE(draw_sizes(kernel("dgemm"), wishes), draw_sizes(kernel("dgemm"), other));
}

TEST(Sizes, ABoundThatNothingMeetsIsRefused)
{
  SizeWishes wishes;
  wishes.ranges[""] = {1000, 2000};
  wishes.largest = 1000;
  EXPECT_THAT(error_of([&] { draw_sizes(kernel("dgemm"), wishes); }), HasSubstr("--largest 1000: expected at least"));
}

// ---- Files ----

TEST(MeasurementFile, IsReadAsItIsWritten)
{
  KernelMeasurements gemm{&kernel("dgemm"), true, false, true, false, {{{1, 2, 3}, 1.5e-6, {4, 0, 7, 0}, ""}}};
  KernelMeasurements trsm{&kernel("dtrsm"), true, false, true, false, {{{'R', 8, 9}, 2, {5, 0, 6, 0}, ""}}};
  const Directory directory;
  const std::string path = directory.write("a.csv", measurements_csv(std::vector{gemm, trsm}));
  const KernelMeasurements read = read_measurements(path, kernel("dtrsm"));
  ASSERT_EQ(read.calls.size(), 1U);
  EXPECT_THAT(read.calls[0].sizes, ElementsAre('R', 8, 9));
  EXPECT_EQ(read.calls[0].duration, 2);
  EXPECT_EQ(read.calls[0].place.node, 5U);
  EXPECT_EQ(read.calls[0].place.core, 6U);
  EXPECT_TRUE(read.node && read.core && !read.socket && !read.day);
  EXPECT_EQ(read_measurements(path, kernel("dgemm")).calls[0].duration, 1.5e-6);
}

TEST(MeasurementFile, UnitsCount)
{
  const Directory directory;
  const auto read = read_measurements(directory.write("a.csv", "duration [ms],N,day\n3,100,mon\n"), kernel("daxpy"));
  EXPECT_DOUBLE_EQ(read.calls[0].duration, 3e-3);
  EXPECT_EQ(read.calls[0].day, "mon");
}

TEST(MeasurementFile, WhatIsWrongIsToldWithItsLine)
{
  const Directory directory;
  const auto wrong = [&](const std::string& text) {
    return error_of([&] { read_measurements(directory.write("a.csv", text), kernel("dgemm")); });
  };
  EXPECT_THAT(wrong(""), HasSubstr("expected a line with the names of the columns, got an empty file"));
  EXPECT_THAT(wrong("M,N,duration [s]\n"), HasSubstr("a.csv:1: expected a column 'K', got M, N, duration [s]"));
  EXPECT_THAT(wrong("M,N,K,duration\n"), HasSubstr("a.csv:1: expected a column 'duration [s]', with its unit"));
  EXPECT_THAT(wrong("M,N,K,duration [m]\n"), HasSubstr("column duration"));
  EXPECT_THAT(wrong("M,M,N,K,duration [s]\n"), HasSubstr("'M' twice"));
  EXPECT_THAT(wrong("M,N,K,duration [s]\n1,2,3\n"),
              HasSubstr("a.csv:2: expected 4 cells, as in the first line, got 3"));
  EXPECT_THAT(wrong("M,N,K,duration [s]\n1,2,3,4\n1,2,x,4\n"),
              HasSubstr("a.csv:3, column K: expected a number that is not negative, got 'x'"));
  for (const char* number : {"nan", "inf", "-1", ""})
    EXPECT_THAT(wrong(std::string("M,N,K,duration [s]\n1,2,3,") + number + "\n"),
                HasSubstr("a.csv:2, column duration: expected a number that is not negative"));
  EXPECT_THAT(wrong("M,N,K,duration [s]\n1,2,3,0\n"), HasSubstr("expected more than 0"));
  EXPECT_THAT(wrong("M,N,K,duration [s]\n"), HasSubstr("expected calls of dgemm, got none"));
  EXPECT_THAT(wrong("node,M,N,K,duration [s]\na,1,2,3,4\n"),
              HasSubstr("a.csv:2, column node: expected a whole number"));
}

TEST(MeasurementFile, NearestKernelIsTold)
{
  EXPECT_THAT(error_of([] { known_kernel("dgem"); }), HasSubstr("nearest known one is dgemm"));
  EXPECT_EQ(&known_kernel("dgemm_"), &kernel("dgemm"));
}

// ---- Fits ----

KernelMeasurements synthetic(std::size_t nodes, std::size_t sizes = 60)
{
  KernelMeasurements result{&kernel("dgemm"), nodes > 0, false, false, false, {}};
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> length(10, 1000);
  std::normal_distribution<double> noise(1, 0.02);
  for (std::uint32_t node = 0; node < std::max<std::size_t>(nodes, 1); ++node)
    for (std::size_t i = 0; i < sizes; ++i) {
      const std::vector<double> at{std::floor(length(random)), std::floor(length(random)), std::floor(length(random))};
      const double duration = (1e-5 + 1e-10 * (node + 1) * product(at)) * noise(random);
      result.calls.push_back({at, duration, {node, 0, 0, 0}, ""});
    }
  return result;
}

TEST(KernelFitTest, EntryIsAKernelsFile)
{
  const KernelFit fit = fit_kernel(synthetic(0), {});
  EXPECT_EQ(fit.model().form.name, "M-1");
  EXPECT_TRUE(fit.scatter.grows);
  EXPECT_NEAR(fit.scatter.deviation, 0.02, 0.006);
  const Directory directory;
  const std::string path = directory.write("k.yaml", "kernels:\n" + fit_entry(fit, "skip", ""));
  const auto read = kernels::read_kernels(std::vector{path});
  EXPECT_EQ(read.list.at(0).action, kernels::Action::skip);
}

TEST(KernelFitTest, EachNodeHasItsRow)
{
  const KernelFit fit = fit_kernel(synthetic(3), {});
  ASSERT_EQ(fit.model().places.size(), 3U);
  for (std::size_t node = 0; node < 3; ++node)
    EXPECT_NEAR(fit.model().places[node].values[1], 5e-11 * static_cast<double>(node + 1), 2e-12);
  const Directory directory;
  const std::string table = parameter_csv(fit);
  EXPECT_THAT(table, testing::StartsWith("node,intercept [s],per_flop [s],deviation\n0,"));
  directory.write("t.csv", table);
  const std::string path = directory.write("k.yaml", "kernels:\n" + fit_entry(fit, "model", "t.csv"));
  const auto read = kernels::read_kernels(std::vector{path});
  EXPECT_NO_THROW(kernels::check(read, 5, 1, 4)); // of nodes that were not measured, too
}

TEST(KernelFitTest, PooledNodesAreOne)
{
  EXPECT_EQ(fit_kernel(synthetic(3), {"", true, 0}).model().places.size(), 1U);
}

TEST(KernelFitTest, WhatReturnsSomethingIsNotSkipped)
{
  KernelMeasurements measurements{&kernel("idamax"), false, false, false, false, {{{100}, 1e-6, {}, ""}}};
  const std::string entry = fit_entry(fit_kernel(measurements, {}), "skip", "");
  EXPECT_THAT(entry, HasSubstr("action: model"));
  EXPECT_THAT(entry, HasSubstr("duration: 1e-06 s"));
}

TEST(KernelFitTest, AModelNeedsMoreSizesThanCoefficients)
{
  EXPECT_THAT(error_of([] {
                fit_kernel(synthetic(0, 4), {"M-2", false, 0});
              }),
              ContainsRegex("--model M-2: expected more different sizes of dgemm than its 5 coefficients.*too few"));
  EXPECT_THAT(error_of([] {
                fit_kernel(synthetic(0), {"M-3", false, 0});
              }),
              HasSubstr("expected a model of dgemm: M-0, M-1, M-1 bytes, M-2, M'"));
  EXPECT_EQ(fit_kernel(synthetic(0, 1), {}).model().form.name, "M-0");
}

TEST(KernelFitTest, FigureHasAllCalls)
{
  const std::string script = fit_script(fit_kernel(synthetic(0), {}));
  EXPECT_THAT(script, HasSubstr("title 'dgemm, M-1'"));
  EXPECT_EQ(std::count(script.begin(), script.end(), '\n') > 60, true);
}

// ---- Calls ----

struct Seen {
  std::vector<std::string> words;
};
Seen seen;

// A function as Fortran's dgemm: tells what it was given.
void fake_dgemm(const char* transa, const char* transb, const int* m, const int* n, const int* k, const double* alpha,
                const double* a, const int* lda, const double* b, const int* ldb, const double* beta, double* c,
                const int* ldc, std::size_t length)
{
  seen.words = {std::string(1, *transa), std::string(1, *transb), std::to_string(*m),
                std::to_string(*n),      std::to_string(*k),      std::to_string(*lda),
                std::to_string(*ldb),    std::to_string(*ldc),    std::to_string(length)};
  EXPECT_EQ(*alpha, -1);
  EXPECT_EQ(*beta, 1);
  const auto at = [](const double* matrix, int leading, int i, int j) { return matrix[i + j * leading]; };
  EXPECT_EQ(at(a, *lda, 3, 3), 1);
  EXPECT_LT(std::abs(at(a, *lda, 3, 4)), 0.1);
  EXPECT_NE(at(b, *ldb, 3, 4), at(a, *lda, 3, 4));
  c[*m - 1 + (*n - 1) * *ldc] = 0;
}

TEST(CallerTest, PassesWhatTheTableSays)
{
  Caller caller(kernel("dgemm"), reinterpret_cast<void*>(&fake_dgemm), {{"TRANSB", 'T'}, {"LDC", 90}}, 60, 1);
  EXPECT_GT(caller.measure(std::vector<double>{10, 20, 60}), 0);
  EXPECT_THAT(seen.words, ElementsAre("N", "T", "10", "20", "60", "60", "60", "90", "1"));
}

float fake_sdot(const int* n, const float* x, const int* incx, const float* y, const int* incy)
{
  seen.words = {std::to_string(*n), std::to_string(*incx), std::to_string(*incy)};
  EXPECT_LT(std::abs(x[*n - 1]), 0.1);
  return x[0] * y[0];
}

TEST(CallerTest, KnowsSinglePrecision)
{
  Caller caller(kernel("sdot"), reinterpret_cast<void*>(&fake_sdot), {}, 500, 1);
  caller.measure(std::vector<double>{500});
  EXPECT_THAT(seen.words, ElementsAre("500", "1", "1"));
}

TEST(CallerTest, RefusesWhatCannotBeCalledOnItsOwn)
{
  EXPECT_THAT(error_of([] { require_callable(kernel("fftw_execute")); }), HasSubstr("one that executes a plan"));
  EXPECT_THAT(error_of([] { require_callable(kernel("dgeqrf")); }), HasSubstr("workspace"));
  EXPECT_THAT(error_of([] { require_callable(kernel("dgetrf")); }), "no error");
  EXPECT_THAT(error_of([] { Library("/no/such/lib.so"); }), HasSubstr("--library /no/such/lib.so: expected a library"));
}

} // namespace
} // namespace umwelt::calibrate
