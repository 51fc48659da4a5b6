// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/kernels/fftw_plans.h"

#include <gtest/gtest.h>
#include <limits>
#include <set>
#include <stdexcept>

#include "tests/runtime/kernels/entry.h"

namespace umwelt::kernels
{
namespace
{

using test::entry_as;

const Signature& maker(std::string_view symbol)
{
  for (const Spelling& spelling : Plans::makers()) {
    if (spelling.symbol == symbol)
      return spelling.signature;
  }
  throw std::out_of_range(std::string(symbol));
}

PlanSizes read_in(std::string_view symbol, const std::function<void()>& call)
{
  PlanSizes sizes;
  test::on_entry([&](const CallRegisters& frame) { sizes = Plans::read(maker(symbol), frame); });
  call();
  test::on_entry({});
  return sizes;
}

void expect(const PlanSizes& sizes, double points, double howmany, Transform kind)
{
  EXPECT_EQ(sizes.points, points);
  EXPECT_EQ(sizes.howmany, howmany);
  EXPECT_EQ(sizes.kind, kind);
}

struct Dimension { // fftw_iodim
  int n, is, os;
};
struct Dimension64 { // fftw_iodim64
  std::ptrdiff_t n, is, os;
};

TEST(Makers, AreThoseOfAllPrecisionsOnce)
{
  std::set<std::string> symbols;
  for (const Spelling& spelling : Plans::makers())
    EXPECT_TRUE(symbols.insert(spelling.symbol).second) << spelling.symbol;
  for (const char* symbol : {"fftw_plan_dft_1d", "fftwf_plan_many_dft_r2c", "fftwl_plan_guru64_split_dft_c2r",
                             "fftw_plan_dft_c2r_3d", "fftw_plan_r2r", "fftw_plan_r2r_2d", "fftw_plan_guru_r2r"})
    EXPECT_TRUE(symbols.contains(symbol)) << symbol;
  EXPECT_EQ(symbols.size(), 3u * (5 * 4 + 2 * 7));
}

TEST(Makers, OfOneToThreeDimensions)
{
  using OneD = void*(int, void*, void*, int, unsigned);
  using TwoD = void*(int, int, double*, void*, unsigned);
  using ThreeD = void*(int, int, int, double*, double*, int, int, int, unsigned);
  expect(read_in("fftw_plan_dft_1d", [] { entry_as<OneD>()(100, nullptr, nullptr, -1, 64); }), 100, 1,
         Transform::complex);
  expect(read_in("fftwf_plan_dft_r2c_2d", [] { entry_as<TwoD>()(10, 20, nullptr, nullptr, 64); }), 200, 1,
         Transform::real_to_complex);
  expect(read_in("fftw_plan_r2r_3d", [] { entry_as<ThreeD>()(2, 3, 5, nullptr, nullptr, 0, 0, 0, 64); }), 30, 1,
         Transform::real_to_real);
}

TEST(Makers, OfManyTransformsOfAnyRank)
{
  const int n[] = {4, 5, 6};
  using Any = void*(int, const int*, void*, double*, unsigned);
  using Many = void*(int, const int*, int, void*, const int*, int, int, void*, const int*, int, int, int, unsigned);
  expect(read_in("fftw_plan_dft_c2r", [&] { entry_as<Any>()(3, n, nullptr, nullptr, 64); }), 120, 1,
         Transform::complex_to_real);
  expect(read_in("fftw_plan_many_dft",
                 [&] { entry_as<Many>()(2, n, 7, nullptr, nullptr, 1, 20, nullptr, nullptr, 1, 20, -1, 64); }),
         20, 7, Transform::complex);
}

TEST(Makers, OfTheGuruInterfaces)
{
  const Dimension n[] = {{8, 1, 1}, {9, 8, 8}};
  const Dimension many[] = {{2, 72, 72}, {3, 144, 144}};
  using Guru = void*(int, const Dimension*, int, const Dimension*, void*, void*, int, unsigned);
  expect(read_in("fftw_plan_guru_dft", [&] { entry_as<Guru>()(2, n, 2, many, nullptr, nullptr, -1, 64); }), 72, 6,
         Transform::complex);
  expect(read_in("fftw_plan_guru_dft", [&] { entry_as<Guru>()(2, n, 0, nullptr, nullptr, nullptr, -1, 64); }), 72, 1,
         Transform::complex);
  constexpr int no_rank = std::numeric_limits<int>::max(); // FFTW_RANK_MINFTY
  expect(read_in("fftw_plan_guru_dft", [&] { entry_as<Guru>()(2, n, no_rank, many, nullptr, nullptr, -1, 64); }), 72, 0,
         Transform::complex);
  const Dimension64 large[] = {{std::ptrdiff_t{1} << 33, 1, 1}};
  using Guru64 = void*(int, const Dimension64*, int, const Dimension64*, double*, double*, double*, unsigned);
  expect(read_in("fftwl_plan_guru64_split_dft_r2c",
                 [&] { entry_as<Guru64>()(1, large, 0, nullptr, nullptr, nullptr, nullptr, 64); }),
         0x1p33, 1, Transform::real_to_complex);
}

TEST(Plans, AreFoundUntilTheyAreForgotten)
{
  Plans plans;
  EXPECT_EQ(plans.find(1), nullptr);
  plans.add(1, {16, 2, Transform::real_to_real});
  plans.add(2, {32, 1, Transform::complex});
  ASSERT_NE(plans.find(1), nullptr);
  EXPECT_EQ(plans.find(1)->values(), (std::array<double, 3>{16, 2, 1}));
  EXPECT_EQ(plans.find(2)->values(), (std::array<double, 3>{32, 1, 0}));
  plans.add(2, {64, 1, Transform::complex}); // FFTW has used the address again
  EXPECT_EQ(plans.find(2)->points, 64);
  plans.forget(1);
  plans.forget(3);
  EXPECT_EQ(plans.find(1), nullptr);
}

TEST(Plans, ThatCouldNotBeMadeAreLeftOut)
{
  Plans plans;
  plans.add(0, {16, 2, Transform::complex});
  EXPECT_EQ(plans.find(0), nullptr);
}

TEST(Plans, HaveTheOrderOfTheTablesSizes)
{
  for (const char* name : {"fftw_execute", "fftwl_execute_split_dft_c2r"})
    EXPECT_EQ(find_builtin(name)->sizes, (std::vector<std::string>{"N", "HOWMANY", "REAL"}));
}

TEST(Destroyers, TakeThePlanFirst)
{
  ASSERT_EQ(Plans::destroyers().size(), 9u);
  for (const Spelling& spelling : Plans::destroyers()) {
    EXPECT_EQ(spelling.signature.parameters().at(0).kind, Kind::pointer);
    EXPECT_EQ(spelling.signature.parameters().at(0).by_reference, spelling.symbol.ends_with("_")) << spelling.symbol;
  }
}

} // namespace
} // namespace umwelt::kernels
