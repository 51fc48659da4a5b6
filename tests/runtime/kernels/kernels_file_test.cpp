// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "runtime/base/usage_error.h"
#include "tests/runtime/kernels/scratch.h"

namespace umwelt::kernels
{
namespace
{

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;

Kernel only(std::string_view text)
{
  Kernels kernels = read_text("kernels:\n" + std::string(text));
  EXPECT_EQ(kernels.list.size(), 1U);
  return std::move(kernels.list.at(0));
}

std::vector<std::string> symbols(const Kernel& kernel)
{
  std::vector<std::string> result;
  for (const Entry& entry : kernel.entries)
    result.push_back(entry.symbol);
  return result;
}

double value(const Kernel& kernel, std::string_view name, double number, double factor)
{
  std::vector<double> values(kernel.variables.size(), 1);
  values.at(static_cast<std::size_t>(std::ranges::find(kernel.variables, name) - kernel.variables.begin())) = number;
  return seconds(*kernel.model, values) / factor;
}

// Files that come with Umwelt
TEST(KernelsFile, ReadyFiles)
{
  std::size_t files = 0;
  for (const auto& file : std::filesystem::directory_iterator(UMWELT_SOURCE "/runtime/kernels/files")) {
    ++files;
    const std::vector<std::string> paths{file.path()};
    EXPECT_FALSE(read_kernels(paths).list.empty()) << file.path();
  }
  EXPECT_GT(files, 0U);
}

TEST(KernelsFile, BuiltInKernelHasAllSpellings)
{
  const Kernel kernel = only("- {name: dgemm, action: model, duration: 7e-11 s * M * N * K}");
  EXPECT_THAT(symbols(kernel), IsSupersetOf({"dgemm_", "cblas_dgemm"}));
  EXPECT_EQ(kernel.action, Action::model);
  EXPECT_THAT(kernel.variables, IsSupersetOf({"M", "N", "K", "LDA", "flops", "bytes"}));
  for (const Entry& entry : kernel.entries)
    for (std::size_t i = 0; i < kernel.variables.size(); ++i)
      if (entry.positions.size() > i && entry.positions[i] != Entry::unread) {
        EXPECT_EQ(entry.spelling->signature.parameters()[entry.positions[i]].name, kernel.variables[i]);
      }
}

TEST(KernelsFile, OneSpellingAlone)
{
  EXPECT_THAT(symbols(only("- {name: cblas_dgemm, action: run}")), ElementsAre("cblas_dgemm"));
}

TEST(KernelsFile, OperationsAndBytesOfBuiltInKernels)
{
  EXPECT_DOUBLE_EQ(value(only("- {name: dgemm, action: model, duration: flops / 1e9 * 1s}"), "flops", 5, 1e-9), 5);
  EXPECT_DOUBLE_EQ(value(only("- {name: dgemm, action: model, duration: bytes / 1GB * 1s}"), "bytes", 5, 1e-9), 5);
}

TEST(KernelsFile, FftwHasTheSizesOfPlans)
{
  const Kernel kernel = only("- {name: fftw_execute, action: model, duration: 1ns * N * HOWMANY}");
  EXPECT_TRUE(kernel.of_plan);
  EXPECT_THAT(kernel.variables, ElementsAre("N", "HOWMANY", "REAL", "flops", "bytes"));
}

TEST(KernelsFile, FunctionOfTheUser)
{
  const Kernel kernel =
      only("- name: swap\n  function: double HPL_swap(int M, int& N, const double* A)\n  in: libhpl.so\n"
           "  action: skip\n  duration: 1ns * M * N\n  returns: 0.5 * M");
  EXPECT_EQ(kernel.name, "swap");
  EXPECT_THAT(symbols(kernel), ElementsAre("HPL_swap"));
  EXPECT_EQ(kernel.object, "libhpl.so");
  EXPECT_THAT(kernel.variables, ElementsAre("M", "N", "A"));
  EXPECT_THAT(kernel.entries[0].positions, ElementsAre(0, 1, 2));
  EXPECT_THAT(kernel.where, HasSubstr("k.yaml:2:3, kernel swap"));
}

TEST(KernelsFile, SymbolOfTheProgram)
{
  const Kernel kernel = only("- {name: init_matrix, action: skip, duration: 2us}");
  EXPECT_THAT(symbols(kernel), ElementsAre("init_matrix"));
  EXPECT_FALSE(kernel.entries[0].spelling.has_value());
  EXPECT_TRUE(kernel.variables.empty());
  EXPECT_FALSE(kernel.returns.has_value());
}

TEST(KernelsFile, SymbolWithAnotherName)
{
  const Kernel kernel = only("- {name: matrix, symbol: _ZN6matrix4initEv, action: run}");
  EXPECT_EQ(kernel.name, "matrix");
  EXPECT_THAT(symbols(kernel), ElementsAre("_ZN6matrix4initEv"));
}

TEST(KernelsFile, SymbolThatIsCalledLikeABuiltInSpelling)
{
  const Kernel kernel = only("- {name: dgemm_, symbol: my_dgemm, action: model, duration: 1ns * M}");
  EXPECT_THAT(symbols(kernel), ElementsAre("my_dgemm"));
  EXPECT_THAT(kernel.variables, IsSupersetOf({"M", "N", "K"}));
  EXPECT_THAT(symbols(only("- {name: gemm, symbol: dgemm_, action: model, duration: 1ns * M}")), ElementsAre("dgemm_"));
}

TEST(KernelsFile, FunctionAtAnAddress)
{
  const Kernel kernel = only("- {name: inner, at: dir/xhpl+0x4a10, action: model, duration: 2us}");
  ASSERT_TRUE(kernel.at.has_value());
  EXPECT_EQ(kernel.at->object, "dir/xhpl");
  EXPECT_EQ(kernel.at->offset, 0x4a10U);
  EXPECT_THAT(symbols(kernel), ElementsAre(""));
  const Kernel known = only("- {name: dgemm_, at: xhpl+0x10, action: model, duration: 1ns * M}");
  EXPECT_TRUE(known.entries[0].spelling.has_value());
}

TEST(KernelsFile, ActionsOfSampling)
{
  const Kernel kernel =
      only("- name: dgemm\n  action: sample\n  class: [floor(log2(M)), N]\n  interval: 2%\n  least: 20\n  again: 500\n"
           "  then: skip");
  EXPECT_EQ(kernel.action, Action::sample);
  EXPECT_DOUBLE_EQ(kernel.limits.interval, 0.02);
  EXPECT_EQ(kernel.limits.least, 20U);
  EXPECT_EQ(kernel.limits.again, 500U);
  EXPECT_EQ(kernel.afterwards, Action::skip);
  std::vector<double> values(kernel.variables.size());
  values[0] = 33;
  values[1] = 7;
  EXPECT_THAT(kernel.classes(values), ElementsAre(5, 7));
}

TEST(KernelsFile, DefaultsOfSampling)
{
  const Kernel blas = only("- {name: dgemm, action: sample}");
  EXPECT_DOUBLE_EQ(blas.limits.interval, 0.05);
  EXPECT_EQ(blas.limits.least, 10U);
  EXPECT_EQ(blas.limits.again, 64U);
  EXPECT_EQ(blas.afterwards, Action::run);
  std::vector<std::string> texts;
  for (const Expression& expression : blas.class_expressions)
    texts.push_back(expression.text());
  EXPECT_THAT(texts, ElementsAre("M", "N", "K"));

  const Kernel own =
      only("- name: f\n  function: void f(int N, double* A, char UPLO, double X, long& L)\n  action: sample");
  texts.clear();
  for (const Expression& expression : own.class_expressions)
    texts.push_back(expression.text());
  EXPECT_THAT(texts, ElementsAre("N", "UPLO", "L"));
  EXPECT_TRUE(only("- {name: init_matrix, action: sample}").class_expressions.empty());
}

TEST(KernelsFile, ResultsOfSkippedFunctions)
{
  const Kernel kernel = only("- {name: idamax_, action: skip, duration: 1us, returns: 'random(1, N)'}");
  std::vector<double> values(kernel.variables.size());
  values[0] = 5;
  std::set<double> seen;
  for (int call = 0; call < 100; ++call)
    seen.insert(kernel.returns->evaluate({}, values, call, true));
  EXPECT_THAT(seen, ElementsAre(1, 2, 3, 4, 5));
  for (int call = 0; call < 100; ++call) {
    const double number = kernel.returns->evaluate({}, values, call, false);
    EXPECT_GE(number, 1);
    EXPECT_LE(number, 5);
    EXPECT_NE(number, std::floor(number));
  }
  EXPECT_EQ(kernel.returns->evaluate({}, values, 3, true), kernel.returns->evaluate({}, values, 3, true));
  values[0] = 0;
  EXPECT_THROW((void)kernel.returns->evaluate({}, values, 0, true), UsageError);
}

TEST(KernelsFile, ResultThatIsAnExpression)
{
  const Kernel kernel = only("- {name: ddot, action: skip, duration: 1us, returns: 2 * N + 1}");
  std::vector<double> values(kernel.variables.size());
  values[0] = 5;
  EXPECT_EQ(kernel.returns->evaluate({}, values, 0, false), 11);
}

TEST(KernelsFile, FunctionsWithoutResultNeedNone)
{
  EXPECT_FALSE(only("- {name: dgemm, action: skip, duration: 1us}").returns.has_value());
  EXPECT_FALSE(only("- {name: dgemm, action: skip, duration: 1us, returns: nothing}").returns.has_value());
}

TEST(KernelsFile, LaterFilesWin)
{
  const Scratch scratch;
  const std::vector<std::string> paths{
      scratch.write("a.yaml", "seed: 1\nkernels:\n- {name: dgemm, action: model, duration: 1us}\n"
                              "- {name: dtrsm, action: model, duration: 2us}\n"),
      scratch.write("b.yaml", "seed: 2\nkernels:\n- {name: dgemm, action: skip, duration: 3us}\n"
                              "- {name: dcopy, action: run}\n")};
  const Kernels kernels = read_kernels(paths);
  EXPECT_EQ(kernels.seed, 2U);
  ASSERT_EQ(kernels.list.size(), 3U);
  EXPECT_EQ(kernels.list[0].name, "dgemm");
  EXPECT_EQ(kernels.list[0].action, Action::skip);
  EXPECT_THAT(kernels.list[0].where, HasSubstr("b.yaml:3:3"));
  EXPECT_EQ(kernels.list[1].name, "dtrsm");
  EXPECT_EQ(read_kernels(paths, 7).seed, 7U);
}

TEST(KernelsFile, ExpressionsThatYamlWouldMisread)
{
  const Kernel kernel = only("- name: dgemm\n  action: model\n  duration: \"TRANSA == 'T' ? 2us : 1us\"");
  EXPECT_DOUBLE_EQ(value(kernel, "TRANSA", 'T', 1e-6), 2);
  const Kernel folded = only("- name: dgemm\n  action: model\n  duration: >\n    M < 2 ? 1us :\n    5us\n");
  EXPECT_DOUBLE_EQ(value(folded, "M", 2, 1e-6), 5);
}

TEST(KernelsFile, TheExampleOfTheDocumentation)
{
  std::ifstream page(UMWELT_SOURCE "/runtime/kernels/README.md");
  std::string text((std::istreambuf_iterator<char>(page)), {});
  constexpr std::string_view begin = "```yaml\n";
  text.erase(0, text.find(begin) + begin.size());
  text.erase(text.find("```"));
  const Scratch scratch;
  scratch.write("dgemm.csv", "node,alpha [s]\n0,7e-11\n");
  const std::string path = scratch.write("k.yaml", text);
  const Kernels kernels = read_kernels(std::span(&path, 1));
  EXPECT_EQ(kernels.list.size(), 6U);
  EXPECT_EQ(kernels.seed, 42U);
}

TEST(KernelsFile, NoFiles)
{
  EXPECT_TRUE(read_kernels({}).list.empty());
}

} // namespace
} // namespace umwelt::kernels
