// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/kernels/builtin.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <set>

#include "runtime/kernels/expression.h"
#include "tests/runtime/kernels/entry.h"

namespace umwelt::kernels
{
namespace
{

using test::entry_as;
using test::read_in;

const KernelFunction& builtin(std::string_view name)
{
  const KernelFunction* const found = find_builtin(name);
  if (found == nullptr)
    throw std::out_of_range(std::string(name));
  return *found;
}

const Signature& signature(std::string_view symbol)
{
  for (const Spelling& spelling : builtin(symbol).spellings) {
    if (spelling.symbol == symbol)
      return spelling.signature;
  }
  throw std::out_of_range(std::string(symbol));
}

using Sizes = std::map<std::string, double>;

double evaluate(const KernelFunction& function, const std::string& text, const Sizes& sizes)
{
  std::vector<double> values;
  for (const std::string& size : function.sizes)
    values.push_back(sizes.at(size));
  return Expression(text, function.sizes, function.name).evaluate(values);
}

double flops(std::string_view name, const Sizes& sizes)
{
  return evaluate(builtin(name), builtin(name).flops, sizes);
}

double bytes(std::string_view name, const Sizes& sizes)
{
  return evaluate(builtin(name), builtin(name).bytes, sizes);
}

// Words of an expression that are no literals of characters.
std::set<std::string> identifiers(const std::string& text)
{
  std::set<std::string> words;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\'') {
      at += 2;
      continue;
    }
    std::string word;
    while (at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_'))
      word += text[at++];
    if (!word.empty() && std::isdigit(static_cast<unsigned char>(word[0])) == 0)
      words.insert(word);
  }
  return words;
}

// ---- All rows ----

TEST(Table, HasEveryNameAndSymbolOnce)
{
  std::set<std::string> symbols;
  for (const std::string& name : builtin_names()) {
    for (const Spelling& spelling : builtin(name).spellings) {
      EXPECT_TRUE(symbols.insert(spelling.symbol).second) << spelling.symbol;
      EXPECT_EQ(spelling.signature.name(), spelling.symbol);
      EXPECT_EQ(find_builtin(spelling.symbol), find_builtin(name)) << spelling.symbol;
    }
  }
  const std::vector<std::string> names = builtin_names();
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
  EXPECT_GT(names.size(), 500u);
}

TEST(Table, HasNothingThatWasNotFilledIn)
{
  for (const std::string& name : builtin_names()) {
    const KernelFunction& function = builtin(name);
    EXPECT_EQ(name.find_first_of("?{}| "), std::string::npos) << name;
    EXPECT_EQ((function.flops + function.bytes).find_first_of("${}\""), std::string::npos) << name;
  }
}

TEST(Table, HasSizesThatAreParametersOfEverySpelling)
{
  for (const std::string& name : builtin_names()) {
    const KernelFunction& function = builtin(name);
    for (const Spelling& spelling : function.spellings) {
      for (const std::string& size : function.sizes) {
        EXPECT_EQ(spelling.signature.position(size).has_value(), !function.of_plan) << spelling.symbol << " " << size;
      }
    }
  }
}

TEST(Table, HasCountsOfNothingButSizes)
{
  for (const std::string& name : builtin_names()) {
    const KernelFunction& function = builtin(name);
    std::set<std::string> known(function.sizes.begin(), function.sizes.end());
    known.insert({"min", "max", "log2"});
    for (const std::string& word : identifiers(function.flops + " " + function.bytes))
      EXPECT_TRUE(known.contains(word)) << name << ": " << word;
  }
}

// Characters that ask for the most; the rest as large as the matrix.
double value_of(const std::string& size, double n)
{
  if (size.starts_with("JOB"))
    return 'V';
  const std::map<std::string, double> others{{"SIDE", 'L'},
                                             {"COMPZ", 'I'},
                                             {"COMPQ", 'I'},
                                             {"RANGE", 'A'},
                                             {"VECT", 'Q'},
                                             {"ILO", 1},
                                             {"IL", 1},
                                             {"K1", 1},
                                             {"KL", std::min(3., n - 1)},
                                             {"KU", std::min(2., n - 1)},
                                             {"KD", std::min(3., n - 1)},
                                             {"REAL", 1}};
  const auto found = others.find(size);
  return found != others.end() ? found->second : n;
}

TEST(Table, HasCountsThatAreNotNegative)
{
  for (const std::string& name : builtin_names()) {
    for (const double n : {1.0, 2.0, 3.0, 10.0, 1000.0}) {
      Sizes sizes;
      for (const std::string& size : builtin(name).sizes)
        sizes[size] = value_of(size, n);
      EXPECT_GE(flops(name, sizes), 0) << name << " " << n;
      EXPECT_GE(bytes(name, sizes), 0) << name << " " << n;
      EXPECT_LT(flops(name, sizes), 110 * n * n * n + 100) << name << " " << n;
    }
  }
}

// ---- Names ----

TEST(FindBuiltin, KnowsEverySpelling)
{
  for (const char* symbol : {"dgemm", "dgemm_", "cblas_dgemm"})
    EXPECT_EQ(builtin(symbol).name, "dgemm");
  for (const char* symbol : {"dpotrf", "dpotrf_", "LAPACKE_dpotrf"})
    EXPECT_EQ(builtin(symbol).name, "dpotrf");
  for (const char* symbol : {"fftwf_execute", "sfftw_execute_", "sfftw_execute__"})
    EXPECT_EQ(builtin(symbol).name, "fftwf_execute");
  EXPECT_EQ(builtin("cblas_zdotc_sub").name, "zdotc");
  EXPECT_EQ(find_builtin("HPL_dlaswp00N"), nullptr);
}

TEST(FindBuiltin, HasTheNamesInWhichTypesDiffer)
{
  for (const char* name :
       {"snrm2", "dnrm2", "scnrm2", "dznrm2", "csscal", "zdscal", "isamax", "izamax", "dsdot",  "sdsdot",
        "drotg", "zdrot", "zdotu",  "cgerc",  "dsyrk",  "zherk",  "dorgqr", "zungqr", "dormqr", "zunmqr",
        "dsyev", "zheev", "dsyevr", "zheevr", "dsytrd", "zhetrd", "zsytrf", "zhetrf", "dsterf"})
    EXPECT_NE(find_builtin(name), nullptr) << name;
  for (const char* name : {"cnrm2", "zger", "dherk", "zorgqr", "zsyev", "zsterf"})
    EXPECT_EQ(find_builtin(name), nullptr) << name;
}

// ---- Counts ----

TEST(Counts, OfProductsOfMatrices)
{
  const Sizes sizes{{"M", 100}, {"N", 200}, {"K", 300}};
  EXPECT_DOUBLE_EQ(flops("dgemm", sizes), 2.0 * 100 * 200 * 300);
  EXPECT_DOUBLE_EQ(flops("zgemm", sizes), 8.0 * 100 * 200 * 300);
  EXPECT_DOUBLE_EQ(bytes("dgemm", sizes), 8.0 * (100 * 300 + 300 * 200 + 2 * 100 * 200));
  EXPECT_DOUBLE_EQ(bytes("cgemm", sizes), bytes("dgemm", sizes));
  EXPECT_DOUBLE_EQ(bytes("sgemm", sizes), bytes("dgemm", sizes) / 2);
}

TEST(Counts, DependOnTheSideInBothInterfaces)
{
  Sizes sizes{{"SIDE", 'L'}, {"M", 10}, {"N", 1000}};
  EXPECT_DOUBLE_EQ(flops("dtrsm", sizes), 10.0 * 10 * 1000);
  sizes["SIDE"] = 141; // CblasLeft
  EXPECT_DOUBLE_EQ(flops("dtrsm", sizes), 10.0 * 10 * 1000);
  sizes["SIDE"] = 'r';
  EXPECT_DOUBLE_EQ(flops("dtrsm", sizes), 10.0 * 1000 * 1000);
  sizes["SIDE"] = 142; // CblasRight
  EXPECT_DOUBLE_EQ(flops("zhemm", sizes), 0 + 8.0 * 10 * 1000 * 1000);
}

// What the textbook's loops do; the note counts a pivot's reciprocal, too.
TEST(Counts, OfLUFactorisationAreThoseOfItsLoops)
{
  for (const auto& [m, n] : {std::pair{7, 7}, {12, 5}, {5, 12}, {1, 1}}) {
    double multiplications = 0;
    double additions = 0;
    for (int k = 0; k < std::min(m, n); ++k) {
      multiplications += 1 + (m - k - 1) + (m - k - 1) * (n - k - 1);
      additions += (m - k - 1) * (n - k - 1);
    }
    // The note's formula of wide matrices is that of tall ones turned over.
    if (m >= n) {
      EXPECT_NEAR(flops("dgetrf", {{"M", m}, {"N", n}}), multiplications + additions, 1e-9);
      EXPECT_NEAR(flops("zgetrf", {{"M", m}, {"N", n}}), 6 * multiplications + 2 * additions, 1e-9);
    }
    EXPECT_NEAR(flops("dgetrf", {{"M", m}, {"N", n}}), flops("dgetrf", {{"M", n}, {"N", m}}), 1e-9);
  }
}

TEST(Counts, OfCholeskyFactorisationAreThoseOfItsLoops)
{
  for (const int n : {1, 2, 9}) {
    double multiplications = 0;
    double additions = 0;
    for (int left = n - 1; left >= 0; --left) {
      multiplications += 1 + left + left * (left + 1) / 2.0;
      additions += left * (left + 1) / 2.0;
    }
    EXPECT_NEAR(flops("dpotrf", {{"N", n}}), multiplications + additions, 1e-9);
    EXPECT_NEAR(flops("cpotrf", {{"N", n}}), 6 * multiplications + 2 * additions, 1e-9);
  }
  EXPECT_DOUBLE_EQ(flops("dpotrf", {{"N", 300}}), 300.0 * 300 * 300 / 3 + 300.0 * 300 / 2 + 300.0 / 6);
}

// DOPLA of LAPACK 3.0, by its loop.
TEST(Counts, OfBandFactorisationAreThoseOfItsLoops)
{
  for (const auto& [n, kl, ku] : {std::tuple{20, 3, 2}, {20, 0, 0}, {5, 4, 4}, {4, 10, 10}, {1, 1, 1}}) {
    double multiplications = 0;
    double additions = 0;
    for (int i = n; i >= 1; --i) {
      const double below = std::min(kl, n - i);
      const double above = std::min(kl + ku, n - i);
      multiplications += below * (1 + above);
      additions += below * above;
    }
    const Sizes sizes{{"M", n}, {"N", n}, {"KL", kl}, {"KU", ku}};
    EXPECT_NEAR(flops("dgbtrf", sizes), multiplications + additions, 1e-9) << n << " " << kl << " " << ku;
    EXPECT_NEAR(flops("zgbtrf", sizes), 6 * multiplications + 2 * additions, 1e-9);
  }
}

TEST(Counts, OfFullBandsAreThoseOfFullMatrices)
{
  const double n = 30;
  EXPECT_NEAR(flops("dpbtrf", {{"N", n}, {"KD", n - 1}}), flops("dpotrf", {{"N", n}}), 1e-6);
  EXPECT_NEAR(flops("dpbtrs", {{"N", n}, {"KD", n - 1}, {"NRHS", 4}}), flops("dpotrs", {{"N", n}, {"NRHS", 4}}), 1e-6);
  EXPECT_NEAR(flops("dsbmv", {{"N", n}, {"K", n - 1}}), flops("dsymv", {{"N", n}}), 1e-6);
  EXPECT_NEAR(flops("dtbmv", {{"N", n}, {"K", n - 1}}), flops("dtrmv", {{"N", n}}), 1e-6);
  EXPECT_NEAR(flops("dgbmv", {{"M", n}, {"N", n}, {"KL", n - 1}, {"KU", n - 1}}), flops("dgemv", {{"M", n}, {"N", n}}),
              1e-6);
}

TEST(Counts, OfDriversAreThoseOfTheirParts)
{
  const Sizes sizes{{"M", 50}, {"N", 50}, {"NRHS", 7}};
  EXPECT_DOUBLE_EQ(flops("dgesv", sizes), flops("dgetrf", sizes) + flops("dgetrs", sizes));
  EXPECT_DOUBLE_EQ(flops("zposv", sizes), flops("zpotrf", sizes) + flops("zpotrs", sizes));
  EXPECT_DOUBLE_EQ(flops("dpotri", sizes), flops("dtrtri", sizes) + flops("dlauum", sizes));
}

// The leading terms that everybody quotes, of a matrix so large that the others are below one per cent.
TEST(Counts, HaveTheirWellKnownLeadingTerms)
{
  constexpr double n = 1000;
  const auto expect = [](std::string_view name, double cubes, Sizes sizes) {
    for (const std::string& size : builtin(name).sizes)
      sizes.emplace(size, size == "ILO" ? 1 : n);
    EXPECT_NEAR(flops(name, sizes) / (n * n * n), cubes, 0.01 * cubes) << name;
  };
  expect("dgetrf", 2.0 / 3, {});
  expect("dgetri", 4.0 / 3, {});
  expect("dpotrf", 1.0 / 3, {});
  expect("dsytrf", 1.0 / 3, {});
  expect("dgeqrf", 4.0 / 3, {});
  expect("zgeqrf", 16.0 / 3, {});
  expect("dgelqf", 4.0 / 3, {});
  expect("dgeqp3", 4.0 / 3, {});
  expect("dorgqr", 4.0 / 3, {});
  expect("dormqr", 2, {{"SIDE", 'L'}});
  expect("dormqr", 2, {{"SIDE", 'R'}});
  expect("dsytrd", 4.0 / 3, {});
  expect("zhetrd", 16.0 / 3, {});
  expect("dgebrd", 8.0 / 3, {});
  expect("dgehrd", 10.0 / 3, {});
  expect("dsyev", 4.0 / 3 + 4.0 / 3 + 6, {{"JOBZ", 'V'}});
  expect("dsyevd", 4.0 / 3 + 2 + 4.0 / 3, {{"JOBZ", 'V'}});
  expect("dgeev", 25, {{"JOBVL", 'N'}, {"JOBVR", 'V'}});
  expect("dgeev", 10, {{"JOBVL", 'N'}, {"JOBVR", 'n'}});
  expect("dgesvd", 22, {{"JOBU", 'S'}, {"JOBVT", 'S'}});
}

TEST(Counts, OfFewEigenvectorsAreLess)
{
  Sizes sizes{{"JOBZ", 'V'}, {"RANGE", 'I'}, {"N", 1000}, {"IL", 11}, {"IU", 20}};
  const double few = flops("dsyevr", sizes);
  sizes["RANGE"] = 'A';
  EXPECT_NEAR(flops("dsyevr", sizes) - few, 2e9 * 0.99, 1e7);
}

TEST(Counts, OfVectors)
{
  const Sizes sizes{{"N", 1000}};
  EXPECT_DOUBLE_EQ(flops("daxpy", sizes), 2000);
  EXPECT_DOUBLE_EQ(bytes("daxpy", sizes), 24000);
  EXPECT_DOUBLE_EQ(flops("caxpy", sizes), 8000);
  EXPECT_DOUBLE_EQ(flops("zdscal", sizes), 2000);
  EXPECT_DOUBLE_EQ(flops("zscal", sizes), 6000);
  EXPECT_DOUBLE_EQ(flops("dcopy", sizes), 0);
  EXPECT_DOUBLE_EQ(bytes("zswap", sizes), 64000);
}

TEST(Counts, OfTransforms)
{
  Sizes sizes{{"N", 1024}, {"HOWMANY", 3}, {"REAL", 0}};
  EXPECT_DOUBLE_EQ(flops("fftw_execute", sizes), 5.0 * 1024 * 10 * 3);
  EXPECT_DOUBLE_EQ(bytes("fftwf_execute_dft", sizes), 8.0 * 2 * 1024 * 3);
  sizes["REAL"] = 1;
  EXPECT_DOUBLE_EQ(flops("fftw_execute_dft_r2c", sizes), 2.5 * 1024 * 10 * 3);
  EXPECT_DOUBLE_EQ(bytes("fftw_execute_dft_r2c", sizes), 8.0 * 2 * 1024 * 3);
}

// ---- Calls ----

std::map<std::string, double> sizes_in(std::string_view symbol, const std::function<void()>& call)
{
  const std::vector<double> values = read_in(signature(symbol), call);
  std::map<std::string, double> sizes;
  for (const std::string& size : builtin(symbol).sizes)
    sizes[size] = values[signature(symbol).position(size).value()];
  return sizes;
}

TEST(Calls, OfDgemmSayTheSameInFortranAndC)
{
  const int m = 3;
  const int n = 4;
  const int k = 5;
  const double one = 1;
  double matrix = 0;
  using Fortran = void(const char*, const char*, const int*, const int*, const int*, const double*, double*, const int*,
                       double*, const int*, const double*, double*, const int*);
  using C = void(int, int, int, int, int, int, double, const double*, int, const double*, int, double, double*, int);
  const Sizes expected{{"M", 3}, {"N", 4}, {"K", 5}};
  EXPECT_EQ(
      sizes_in("dgemm_",
               [&] { entry_as<Fortran>()("N", "N", &m, &n, &k, &one, &matrix, &m, &matrix, &k, &one, &matrix, &m); }),
      expected);
  EXPECT_EQ(sizes_in("cblas_dgemm",
                     [&] { entry_as<C>()(101, 111, 111, m, n, k, one, &matrix, k, &matrix, n, one, &matrix, n); }),
            expected);
}

TEST(Calls, OfComplexTypesPassScalarsByPointer)
{
  const double alpha[2] = {1, 0};
  double matrix[2] = {};
  using C = void(int, int, int, int, int, int, int, const void*, const void*, int, void*, int);
  EXPECT_EQ(sizes_in("cblas_ztrsm", [&] { entry_as<C>()(102, 142, 121, 111, 131, 6, 7, alpha, matrix, 6, matrix, 6); }),
            (Sizes{{"SIDE", 142}, {"M", 6}, {"N", 7}}));
}

TEST(Calls, OfLapackeHaveALayoutInFront)
{
  double matrix = 0;
  int pivots = 0;
  EXPECT_EQ(sizes_in("LAPACKE_dgetrf",
                     [&] { entry_as<int(int, int, int, double*, int, int*)>()(101, 8, 9, &matrix, 9, &pivots); }),
            (Sizes{{"M", 8}, {"N", 9}}));
  EXPECT_EQ(sizes_in("LAPACKE_dsterf", [&] { entry_as<int(int, double*, double*)>()(10, &matrix, &matrix); }),
            (Sizes{{"N", 10}}));
}

TEST(Calls, ThatAskForWorkspaceAreToldApart)
{
  for (const Spelling& spelling : builtin("dsyevd").spellings) {
    std::vector<double> values(spelling.signature.parameters().size(), 10);
    EXPECT_FALSE(asks_for_workspace(spelling, values));
    if (!spelling.signature.position("LIWORK")) // LAPACKE
      continue;
    values[spelling.signature.position("LIWORK").value()] = -1;
    EXPECT_TRUE(asks_for_workspace(spelling, values));
    values.assign(values.size(), 10);
    values[spelling.signature.position("LWORK").value()] = -1;
    EXPECT_TRUE(asks_for_workspace(spelling, values));
  }
}

TEST(Calls, ReturnInTheRegisterOfTheirType)
{
  EXPECT_TRUE(signature("ddot_").result_in_vector());
  EXPECT_EQ(signature("sdot_").result(), Kind::float32);
  EXPECT_EQ(signature("scnrm2_").result(), Kind::float32);
  EXPECT_EQ(signature("dznrm2_").result(), Kind::float64);
  EXPECT_EQ(signature("idamax_").result(), Kind::int32);
  EXPECT_EQ(signature("cblas_idamax").result(), Kind::uint64);
  EXPECT_EQ(signature("dgetrf_").result(), std::nullopt);
  EXPECT_EQ(signature("LAPACKE_dgetrf").result(), Kind::int32);
  EXPECT_EQ(signature("LAPACKE_dlange").result(), Kind::float64);
}

} // namespace
} // namespace umwelt::kernels
