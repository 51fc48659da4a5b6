// SPDX-License-Identifier: LGPL-2.1-or-later
// The arguments of real calls as variables of a kernel's expressions.
#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "runtime/base/usage_error.h"
#include "tests/runtime/kernels/entry.h"
#include "tests/runtime/kernels/scratch.h"

namespace umwelt::kernels
{
namespace
{

using test::entry_as;
using testing::HasSubstr;

Kernel only(std::string_view text)
{
  return std::move(read_text("kernels:\n" + std::string(text)).list.at(0));
}

const Entry& entry_of(const Kernel& kernel, std::string_view symbol)
{
  return *std::find_if(kernel.entries.begin(), kernel.entries.end(),
                       [&](const Entry& entry) { return entry.symbol == symbol; });
}

struct Read {
  bool counts = false;
  std::vector<double> values;
  std::string error;
};

Read read_in(const Kernel& kernel, std::string_view symbol, const Plans& plans, const std::function<void()>& call)
{
  Read result;
  result.values.resize(kernel.variables.size());
  test::on_entry([&](const CallRegisters& frame) {
    try {
      result.counts = kernel.read(entry_of(kernel, symbol), frame, plans, result.values);
    } catch (const UsageError& error) {
      result.error = error.what();
    }
  });
  call();
  test::on_entry({});
  return result;
}

double value(const Kernel& kernel, const Read& read, std::string_view name)
{
  return read.values.at(static_cast<std::size_t>(std::ranges::find(kernel.variables, name) - kernel.variables.begin()));
}

TEST(Kernel, FortranAndCblasGiveTheSameValues)
{
  const Kernel kernel = only("- {name: dgemm, action: model, duration: flops / 1e9 * 1s}");
  const char no = 'N';
  const int m = 10;
  const int n = 20;
  const int k = 30;
  const double alpha = 2;
  double a[1] = {};
  const Read fortran = read_in(kernel, "dgemm_", {}, [&] {
    entry_as<void(const char*, const char*, const int*, const int*, const int*, const double*, const double*,
                  const int*, const double*, const int*, const double*, double*, const int*)>()(
        &no, &no, &m, &n, &k, &alpha, a, &m, a, &k, &alpha, a, &m);
  });
  const Read c = read_in(kernel, "cblas_dgemm", {}, [&] {
    entry_as<void(int, int, int, int, int, int, double, const double*, int, const double*, int, double, double*,
                  int)>()(102, 111, 111, m, n, k, alpha, a, m, a, k, alpha, a, m);
  });
  for (const Read* read : {&fortran, &c}) {
    EXPECT_TRUE(read->counts);
    EXPECT_EQ(value(kernel, *read, "M"), 10);
    EXPECT_EQ(value(kernel, *read, "N"), 20);
    EXPECT_EQ(value(kernel, *read, "K"), 30);
    EXPECT_EQ(value(kernel, *read, "LDA"), 10);
    EXPECT_EQ(value(kernel, *read, "flops"), 12000);
    EXPECT_DOUBLE_EQ(seconds(*kernel.model, read->values), 12e-6);
  }
}

TEST(Kernel, QuestionsForWorkspaceDoNotCount)
{
  const Kernel kernel = only("- {name: dgeqrf, action: model, duration: 1ns * flops}");
  const auto call = [&](int workspace) {
    const int n = 8;
    int info = 0;
    double a[1] = {};
    return read_in(kernel, "dgeqrf_", {}, [&] {
      entry_as<void(const int*, const int*, double*, const int*, double*, double*, const int*, int*)>()(
          &n, &n, a, &n, a, a, &workspace, &info);
    });
  };
  EXPECT_TRUE(call(64).counts);
  EXPECT_FALSE(call(-1).counts);
}

TEST(Kernel, SizesOfAPlan)
{
  const Kernel kernel = only("- {name: fftw_execute, action: model, duration: 1ns * N * HOWMANY}");
  Plans plans;
  int plan = 0;
  plans.add(reinterpret_cast<std::uint64_t>(&plan), {1024, 3, Transform::complex});
  const Read known = read_in(kernel, "fftw_execute", plans, [&] { entry_as<void(void*)>()(&plan); });
  EXPECT_TRUE(known.counts);
  EXPECT_EQ(value(kernel, known, "N"), 1024);
  EXPECT_EQ(value(kernel, known, "flops"), 5 * 1024 * 10 * 3);
  const Read unknown = read_in(kernel, "fftw_execute", {}, [&] { entry_as<void(void*)>()(&plan); });
  EXPECT_THAT(unknown.error, HasSubstr("k.yaml:2:3, kernel fftw_execute: expected an FFTW plan that one of FFTW's plan "
                                       "functions has made, got 0x"));
}

TEST(Kernel, WithoutSignatureThereIsNothingToRead)
{
  const Kernel kernel = only("- {name: work, action: model, duration: 1us}");
  const Read read = read_in(kernel, "work", {}, [] { entry_as<void(int)>()(3); });
  EXPECT_TRUE(read.counts);
  EXPECT_TRUE(read.values.empty());
}

} // namespace
} // namespace umwelt::kernels
