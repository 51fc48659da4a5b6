// SPDX-License-Identifier: LGPL-2.1-or-later
// Whatever is in a kernels file, a table or an expression: it is taken, or a UsageError says what is wrong.
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/base/usage_error.h"
#include "tests/runtime/kernels/scratch.h"

namespace umwelt::kernels
{
namespace
{

constexpr std::string_view valid = R"yaml(seed: 42
kernels:
- name: dgemm
  action: skip
  pieces:
  - {when: M*N*K < 1e6, duration: 2us + alpha * M * N * K}
  - otherwise: "TRANSA == 'T' ? 7e-11 s * M * N * K : max(1us, 1ns * M)"
  parameters:
    alpha: 7e-11 s
    by_node:
    - {nodes: 0-15, beta: 1us}
    - {nodes: [16, 17-20], beta: 2us}
    missing: cycle
  noise:
    distribution: mixture
    components:
    - {weight: 0.9, distribution: half_normal, sd: 0.02 * duration}
    - {weight: 0.1, factor: 3, distribution: gamma, sd: beta}
- name: idamax
  action: skip
  duration: 1ns * N
  returns: random(1, N)
- name: swap
  function: int HPL_swap(int M, int& N, const double* A)
  in: libhpl.so
  action: sample
  class: [floor(log2(M)), N]
  interval: 5%
  least: 20
  then: run
- {name: inner, at: xhpl+0x4a10, action: model, duration: 1us}
- name: dtrsm
  action: model
  duration: gamma * M
  parameters: {table: t.csv, draw: row}
)yaml";

constexpr std::string_view valid_table = "node,socket,gamma [us],day\n0,0,1.5,mon\n0,1,2.5,tue\n1,0,3,wed\n1,1,3,thu\n";

// True if it was taken.
bool take(const Scratch& scratch, const std::string& file, const std::string& table)
{
  scratch.write("t.csv", table);
  const std::string path = scratch.write("k.yaml", file);
  try {
    const Kernels kernels = read_kernels(std::span(&path, 1));
    check(kernels, 2, 2, 4);
    for (const Kernel& kernel : kernels.list)
      if (kernel.model)
        (void)kernel.model->duration({}, std::vector<double>(kernel.variables.size(), 3), 0);
    return true;
  } catch (const UsageError&) {
    return false;
  }
}

class Mutator
{
public:
  explicit Mutator(unsigned seed) : random_(seed) {}

  std::size_t below(std::size_t limit) { return random_() % limit; }

  std::string bytes(std::size_t length)
  {
    std::string text(length, ' ');
    for (char& c : text)
      c = static_cast<char>(random_());
    return text;
  }

  // A few changes: a byte, a piece removed, a piece repeated elsewhere, a character that means something.
  std::string change(std::string text)
  {
    constexpr std::string_view meaningful = "{}[]:,-?!&*#|>'\"%@`()+/^<=.0123456789eNsu\n \t\\_";
    for (std::size_t times = 1 + below(3); times > 0 && !text.empty(); --times) {
      const std::size_t at = below(text.size());
      const std::size_t length = 1 + below(std::min<std::size_t>(text.size() - at, 12));
      switch (below(4)) {
      case 0:
        text[at] = static_cast<char>(random_());
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(below(text.size()), text.substr(at, length));
        break;
      default:
        text.insert(at, 1, meaningful[below(meaningful.size())]);
        break;
      }
    }
    return text;
  }

private:
  std::mt19937 random_;
};

TEST(ParserFuzz, TheValidFileIsTaken)
{
  EXPECT_TRUE(take(Scratch(), std::string(valid), std::string(valid_table)));
}

TEST(ParserFuzz, RandomBytes)
{
  const Scratch scratch;
  Mutator mutator(1);
  for (int i = 0; i < 2000; ++i)
    EXPECT_FALSE(take(scratch, mutator.bytes(mutator.below(200)), std::string(valid_table)));
}

TEST(ParserFuzz, ChangedFiles)
{
  const Scratch scratch;
  Mutator mutator(2);
  int taken = 0;
  constexpr int files = 2000;
  for (int i = 0; i < files; ++i)
    taken += take(scratch, mutator.change(std::string(valid)), std::string(valid_table)) ? 1 : 0;
  EXPECT_GT(taken, 10);
  EXPECT_LT(taken, files / 2);
}

TEST(ParserFuzz, ChangedTables)
{
  const Scratch scratch;
  Mutator mutator(3);
  for (int i = 0; i < 500; ++i)
    take(scratch, std::string(valid), mutator.change(std::string(valid_table)));
}

TEST(ParserFuzz, DeepNesting)
{
  const Scratch scratch;
  for (const char* open : {"[", "{a: ", "- ", "? "}) {
    std::string text;
    for (int i = 0; i < 10'000; ++i)
      text += open;
    EXPECT_FALSE(take(scratch, text, ""));
  }
}

TEST(ParserFuzz, Expressions)
{
  const std::vector<std::string> variables{"M", "N"};
  constexpr std::string_view words[] = {"M", "N",   "1",   "2.5",  "1e-6", "us", "s",    "MiB", "(",  ")", "+",
                                        "-", "*",   "/",   "^",    "<",    ">=", "==",   "&&",  "||", "?", ":",
                                        ",", "min", "max", "sqrt", "'T'",  " ",  "log2", "0",   "=",  "!"};
  Mutator mutator(4);
  int taken = 0;
  for (int i = 0; i < 50'000; ++i) {
    std::string text;
    for (std::size_t length = 1 + mutator.below(12); length > 0; --length)
      text += words[mutator.below(std::size(words))];
    try {
      const Expression expression(text, variables, "e");
      (void)expression.dimension();
      (void)expression.evaluate(std::vector<double>{1, 2});
      ++taken;
    } catch (const UsageError&) {
    }
  }
  EXPECT_GT(taken, 500);
}

TEST(ParserFuzz, LongExpressions)
{
  const auto take_expression = [](const std::string& text) {
    try {
      const Expression expression(text, {}, "e");
    } catch (const UsageError&) {
    }
  };
  take_expression(std::string(100'000, '('));
  std::string nested(2'000, '(');
  nested += "1";
  nested.append(2'000, ')');
  take_expression(nested);
  std::string negated(3'000, '-');
  negated += "1";
  take_expression(negated);
  std::string ternary = "1";
  for (int i = 0; i < 1'000; ++i)
    ternary = "1 ? " + ternary + " : 1";
  take_expression(ternary);
}

} // namespace
} // namespace umwelt::kernels
