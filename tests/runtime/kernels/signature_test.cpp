// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/kernels/signature.h"

#include <cmath>
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

#include "runtime/base/usage_error.h"
#include "tests/runtime/kernels/entry.h"

namespace umwelt::kernels
{
namespace
{

using test::entry_as;
using test::read_in;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Signature parse(std::string_view text)
{
  return Signature::parse(text, "test");
}

std::string error_of(std::string_view text)
{
  try {
    parse(text);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

Kind kind_of(std::string_view declaration)
{
  return parse("void f(" + std::string(declaration) + ")").parameters().at(0).kind;
}

// ---- Parsing ----

TEST(Parse, NamesResultAndParameters)
{
  const Signature signature = parse("double ddot_(int& N, const double* X, int& INCX, double *Y, int &INCY);");
  EXPECT_EQ(signature.name(), "ddot_");
  EXPECT_EQ(signature.result(), Kind::float64);
  ASSERT_EQ(signature.parameters().size(), 5u);
  EXPECT_EQ(signature.parameters()[0].name, "N");
  EXPECT_EQ(signature.parameters()[0].kind, Kind::int32);
  EXPECT_TRUE(signature.parameters()[0].by_reference);
  EXPECT_EQ(signature.parameters()[3].kind, Kind::pointer);
  EXPECT_FALSE(signature.parameters()[3].by_reference);
  EXPECT_EQ(signature.position("INCY"), 4u);
  EXPECT_EQ(signature.position("M"), std::nullopt);
}

TEST(Parse, TakesFunctionsWithoutParameters)
{
  EXPECT_TRUE(parse("void f()").parameters().empty());
  EXPECT_TRUE(parse("void f(void)").parameters().empty());
  EXPECT_EQ(parse("void f()").result(), std::nullopt);
}

TEST(Parse, GivesNamesToParametersWithoutOne)
{
  const Signature signature = parse("int f(int, double*, double[], long n)");
  EXPECT_EQ(signature.parameters()[0].name, "P1");
  EXPECT_EQ(signature.parameters()[1].name, "P2");
  EXPECT_EQ(signature.parameters()[2].name, "P3");
  EXPECT_EQ(signature.parameters()[3].name, "n");
}

TEST(Parse, KnowsTheIntegersOfC)
{
  for (const char* text :
       {"int", "signed", "int32_t", "enum side", "CBLAS_SIDE", "lapack_int", "const int", "int const"})
    EXPECT_EQ(kind_of(text), Kind::int32) << text;
  for (const char* text :
       {"long", "long int", "long long", "int64_t", "ptrdiff_t", "signed long int", "long const int"})
    EXPECT_EQ(kind_of(text), Kind::int64) << text;
  for (const char* text : {"unsigned", "unsigned int", "uint32_t", "int unsigned"})
    EXPECT_EQ(kind_of(text), Kind::uint32) << text;
  for (const char* text : {"unsigned long", "size_t", "uint64_t", "long unsigned int"})
    EXPECT_EQ(kind_of(text), Kind::uint64) << text;
  for (const char* text : {"char", "signed char", "unsigned char"})
    EXPECT_EQ(kind_of(text), Kind::character) << text;
  EXPECT_EQ(kind_of("float"), Kind::float32);
  EXPECT_EQ(kind_of("double"), Kind::float64);
}

TEST(Parse, TakesPointersToAnything)
{
  for (const char* text :
       {"double*", "const double * restrict a", "void*", "struct plan* p", "fftw_plan* p", "char** v", "double a[]",
        "double a[3][3]", "double _Complex* z", "complex double *z", "long double* x", "short* s",
        "unsigned short int* s", "long double _Complex* z", "enum e* p", "const char* const* names"})
    EXPECT_EQ(kind_of(text), Kind::pointer) << text;
}

TEST(Parse, TakesPointersByReference)
{
  const Signature signature = parse("void dfftw_execute_(void*& PLAN)");
  EXPECT_EQ(signature.parameters()[0].kind, Kind::pointer);
  EXPECT_TRUE(signature.parameters()[0].by_reference);
}

TEST(Parse, NamesTheColumnOfAnUnknownTypeAndTheNearest)
{
  EXPECT_EQ(error_of("void f(int n, dobule x)"),
            "test: expected a type such as int, double or void* in column 15, got 'dobule'\n"
            "  Did you mean 'double'? A handle is written void*, an enumeration int.");
}

TEST(Parse, SaysWhereParenthesesAreNotClosed)
{
  EXPECT_THAT(error_of("void f(int n"),
              HasSubstr("expected `)` that closes the `(` of column 7 in column 13, got the end"));
  EXPECT_THAT(error_of("void f(int n))"), HasSubstr("expected nothing behind the closing `)` in column 14, got ')'"));
  EXPECT_THAT(error_of("void f int n)"), HasSubstr("expected `(` and the parameters in column 8"));
  EXPECT_THAT(error_of("void f(double a[3)"), HasSubstr("expected `]` in column 19"));
}

TEST(Parse, RefusesWhatCannotBeReadByValue)
{
  EXPECT_THAT(error_of("void f(struct point p)"), HasSubstr("Structures by value cannot be read"));
  EXPECT_THAT(error_of("void f(double _Complex z)"), HasSubstr("Complex numbers by value cannot be read"));
  EXPECT_THAT(error_of("void f(complex float z)"), HasSubstr("Complex numbers by value cannot be read"));
  EXPECT_THAT(error_of("void f(int n, long double x)"), HasSubstr("float or double in column 15, got 'long'"));
  EXPECT_THAT(error_of("void f(short n)"), HasSubstr("short cannot be read"));
  EXPECT_THAT(error_of("double complex zdotc_(int& N)"), HasSubstr("in column 1, got 'double'"));
}

TEST(Parse, RefusesWhatIsNoParameter)
{
  EXPECT_THAT(error_of("void f(int n, ...)"), HasSubstr("expected a parameter in column 15, got '...'"));
  EXPECT_THAT(error_of("void f(int n,)"), HasSubstr("expected a type in column 14, got ')'"));
  EXPECT_THAT(error_of("void f(int n m)"), HasSubstr("expected `,` or `)` in column 14, got 'm'"));
  EXPECT_THAT(error_of("void f(void v)"), HasSubstr("Write void* for an address"));
  EXPECT_THAT(error_of("void f(int (*g)(int))"), HasSubstr("Write void* for a pointer to a function"));
  EXPECT_THAT(error_of("void f(unknown& u)"), HasSubstr("in column 8, got 'unknown'"));
  EXPECT_THAT(error_of("void f(int& * p)"), HasSubstr("A reference cannot be pointed to"));
  EXPECT_THAT(error_of("void f(double void)"), HasSubstr("expected the name of a parameter in column 15, got 'void'"));
  EXPECT_THAT(error_of("void f(int double)"), HasSubstr("expected the name of a parameter in column 12, got 'double'"));
  EXPECT_THAT(error_of("void f(struct)"), HasSubstr("expected a name behind 'struct' in column 14, got ')'"));
  EXPECT_THAT(error_of("void f(long long long n)"), HasSubstr("expected a type of C in column 8"));
}

TEST(Parse, RefusesTwoParametersOfOneName)
{
  EXPECT_THAT(error_of("void f(int n, int n)"), HasSubstr("in column 19, got 'n'"));
}

TEST(Parse, RefusesWhatIsNoDeclaration)
{
  EXPECT_THAT(error_of(""), HasSubstr("expected a type in column 1, got the end"));
  EXPECT_THAT(error_of("dgemm"), HasSubstr("in column 1, got 'dgemm'"));
  EXPECT_THAT(error_of("int"), HasSubstr("expected the name of the function in column 4, got the end"));
  EXPECT_THAT(error_of("int& f()"), HasSubstr("in column 4, got '&'"));
}

// Whatever a user writes: an error or a signature.
TEST(Parse, EndsOnEveryPrefixOfADeclaration)
{
  const std::string text =
      "unsigned long long f(const struct s * restrict a, double _Complex * z, char&, int x[2][3]);";
  for (std::size_t length = 0; length <= text.size(); ++length) {
    const std::string error = error_of(text.substr(0, length));
    EXPECT_EQ(error == "no error", length >= text.size() - 1) << text.substr(0, length);
  }
}

// ---- Reading ----

TEST(Read, EveryKindByValue)
{
  const Signature signature = parse("void f(int a, long b, unsigned c, size_t d, float e, double f, char g, void* h)");
  using Function = void(int, long, unsigned, std::size_t, float, double, char, void*);
  const std::vector<double> values = read_in(signature, [] {
    entry_as<Function>()(-3, -(1L << 40), 4000000000u, std::size_t{1} << 50, 1.5f, -2.25, 'T',
                         reinterpret_cast<void*>(0x7fff12345678));
  });
  EXPECT_THAT(values, ElementsAre(-3, -std::ldexp(1.0, 40), 4e9, std::ldexp(1.0, 50), 1.5, -2.25, 'T',
                                  static_cast<double>(0x7fff12345678)));
}

TEST(Read, ReferencesAsFortranPassesThem)
{
  const Signature signature = parse("void f(char& a, int& b, long& c, float& d, double& e, unsigned& f, void*& g)");
  using Function =
      void(const char*, const int*, const long*, const float*, const double*, const unsigned*, void* const*);
  const char a = '\xe9';
  const int b = -7;
  const long c = 1L << 33;
  const float d = 0.5f;
  const double e = 1e300;
  const unsigned f = 3000000000u;
  void* const g = reinterpret_cast<void*>(0x1000);
  const std::vector<double> values = read_in(signature, [&] { entry_as<Function>()(&a, &b, &c, &d, &e, &f, &g); });
  EXPECT_THAT(values, ElementsAre(0xe9, -7, std::ldexp(1.0, 33), 0.5, 1e300, 3e9, 0x1000));
}

TEST(Read, NullReferencesAsNaN)
{
  const std::vector<double> values =
      read_in(parse("void f(int& a, int b)"), [] { entry_as<void(const int*, int)>()(nullptr, 4); });
  EXPECT_TRUE(std::isnan(values[0]));
  EXPECT_EQ(values[1], 4);
}

TEST(Read, IntegersBehindTheSixthFromMemory)
{
  const std::vector<double> values =
      read_in(parse("void f(int a, int b, int c, int d, int e, int f, int g, char h, long i)"),
              [] { entry_as<void(int, int, int, int, int, int, int, char, long)>()(1, 2, 3, 4, 5, 6, -7, 'h', -9); });
  EXPECT_THAT(values, ElementsAre(1, 2, 3, 4, 5, 6, -7, 'h', -9));
}

TEST(Read, FloatingPointBehindTheEighthFromMemory)
{
  using Function = void(double, float, double, double, double, double, double, float, float, double);
  const std::vector<double> values = read_in(
      parse("void f(double a, float b, double c, double d, double e, double f, double g, float h, float i, double j)"),
      [] { entry_as<Function>()(1, 2, 3, 4, 5, 6, 7, 8, 9.5f, 10); });
  EXPECT_THAT(values, ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9.5, 10));
}

// Both kinds take registers of their own and share the memory behind.
TEST(Read, BothKindsMixedInTheOrderOfMemory)
{
  using Function = void(int, double, int, double, int, double, int, double, int, double, int, double, int, double, long,
                        double, double, char, float);
  const std::vector<double> values = read_in(
      parse("void f(int a, double b, int c, double d, int e, double f, int g, double h, int i, double j, int k, "
            "double l, int m, double n, long o, double p, double q, char r, float s)"),
      [] { entry_as<Function>()(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 'r', 19); });
  EXPECT_THAT(values, ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 'r', 19));
}

TEST(Read, TheArgumentsOfDgemm)
{
  const Signature signature =
      parse("void dgemm_(char& TRANSA, char& TRANSB, int& M, int& N, int& K, double& ALPHA, double* A, int& LDA, "
            "double* B, int& LDB, double& BETA, double* C, int& LDC)");
  using Function =
      void(const char*, const char*, const int*, const int*, const int*, const double*, const double*, const int*,
           const double*, const int*, const double*, double*, const int*, std::size_t, std::size_t);
  const int m = 10;
  const int n = 20;
  const int k = 30;
  const double alpha = -1;
  const double beta = 1;
  double matrix = 0;
  const std::vector<double> values = read_in(signature, [&] {
    entry_as<Function>()("N", "T", &m, &n, &k, &alpha, &matrix, &m, &matrix, &k, &beta, &matrix, &n, 1, 1);
  });
  const auto address = static_cast<double>(reinterpret_cast<std::uintptr_t>(&matrix));
  EXPECT_THAT(values, ElementsAre('N', 'T', 10, 20, 30, -1, address, 10, address, 30, 1, address, 20));
}

// ---- Results ----

template <typename Result> Result returned(std::string_view type, double value)
{
  const Signature signature = parse(std::string(type) + " f()");
  EXPECT_EQ(signature.result_in_vector(), std::is_floating_point_v<Result>);
  test::return_bits(signature.result_bits(value));
  return entry_as<Result()>()();
}

TEST(Result, ReachesTheCallerInEveryKind)
{
  EXPECT_EQ(returned<int>("int", -5), -5);
  EXPECT_EQ(returned<long>("long", -5e15), -5000000000000000);
  EXPECT_EQ(returned<unsigned>("unsigned", 4e9), 4000000000u);
  EXPECT_EQ(returned<std::size_t>("size_t", 0x1p63), std::size_t{1} << 63);
  EXPECT_EQ(returned<float>("float", 0.75), 0.75f);
  EXPECT_EQ(returned<double>("double", -1e-300), -1e-300);
  EXPECT_EQ(returned<char>("char", 'x'), 'x');
  EXPECT_EQ(returned<void*>("void*", 4096), reinterpret_cast<void*>(4096));
}

TEST(Result, SaturatesAndTruncates)
{
  EXPECT_EQ(returned<int>("int", 1e10), std::numeric_limits<int>::max());
  EXPECT_EQ(returned<int>("int", -1e10), std::numeric_limits<int>::min());
  EXPECT_EQ(returned<int>("int", -1.9), -1);
  EXPECT_EQ(returned<long>("long", 1e30), std::numeric_limits<long>::max());
  EXPECT_EQ(returned<long>("long", -1e30), std::numeric_limits<long>::min());
  EXPECT_EQ(returned<unsigned>("unsigned", -1), 0u);
  EXPECT_EQ(returned<std::size_t>("size_t", 1e30), std::numeric_limits<std::size_t>::max());
}

TEST(Result, OfNaNIsZeroInIntegers)
{
  EXPECT_EQ(returned<int>("int", std::nan("")), 0);
  EXPECT_TRUE(std::isnan(returned<double>("double", std::nan(""))));
}

TEST(Result, OfVoidIsZeroOutsideOfVectors)
{
  EXPECT_EQ(parse("void f()").result_bits(3), 0u);
  EXPECT_FALSE(parse("void f()").result_in_vector());
}

} // namespace
} // namespace umwelt::kernels
