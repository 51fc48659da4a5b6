// SPDX-License-Identifier: LGPL-2.1-or-later
// What is said of wrong kernels files: where, what was expected, what is there, what to do.
#include <string>

#include <gmock/gmock.h>

#include "runtime/base/usage_error.h"
#include "tests/runtime/kernels/scratch.h"

namespace umwelt::kernels
{
namespace
{

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

// Of the only kernel of a file; it begins in line 2.
std::string kernel_error(std::string_view text)
{
  return error_of("kernels:\n" + std::string(text));
}

// Of dgemm with this action and these further lines.
std::string dgemm_error(std::string_view action, std::string_view lines)
{
  return kernel_error("- name: dgemm\n  action: " + std::string(action) + "\n  " + std::string(lines));
}

TEST(KernelsFileErrors, File)
{
  const std::string path = "/nowhere/k.yaml";
  try {
    read_kernels(std::span(&path, 1));
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(),
                 "/nowhere/k.yaml: expected a readable kernels file, got No such file or directory\n  Check "
                 "the path.");
  }
}

TEST(KernelsFileErrors, Yaml)
{
  EXPECT_THAT(error_of("kernels: [a\n"), StartsWith("k.yaml:2:1: expected YAML, got end of sequence flow not found"));
  EXPECT_THAT(dgemm_error("model", "duration: M < N ? 1us : 2us"),
              AllOf(StartsWith("k.yaml:4:25: expected YAML, got illegal map value"), HasSubstr("double quotes")));
  EXPECT_THAT(error_of("kernels: []\n---\nkernels: []\n"),
              StartsWith("k.yaml: expected one YAML document, got several"));
  EXPECT_THAT(error_of(""), StartsWith("k.yaml: expected a mapping of keys and values, got nothing"));
  EXPECT_THAT(error_of("3"), StartsWith("k.yaml:1:1: expected a mapping of keys and values, got a single value"));
}

TEST(KernelsFileErrors, KeysOfTheFile)
{
  EXPECT_THAT(error_of("seed: 1\n"), StartsWith("k.yaml:1:1: expected a line 'kernels: ...', got none"));
  EXPECT_EQ(error_of("kernels: []\nsed: 1\n"),
            "k.yaml:2:1, sed: expected a key of a kernels file, got 'sed'\n  Did you mean 'seed'?");
  EXPECT_THAT(error_of("seed: -1\nkernels: []\n"), StartsWith("k.yaml:1:7, seed: expected a whole number between 0"));
  EXPECT_THAT(error_of("kernels: {a: b}\n"), StartsWith("k.yaml:1:10, kernels: expected a list, got a mapping"));
  EXPECT_THAT(error_of("kernels: []\nkernels: []\n"),
              StartsWith("k.yaml:2:1: expected each key once, got 'kernels' twice"));
  EXPECT_THAT(error_of("kernels: []\n? [a]\n: b\n"), HasSubstr("expected a word as key, got a list"));
}

TEST(KernelsFileErrors, KeysOfAKernel)
{
  EXPECT_THAT(kernel_error("- action: run\n"), StartsWith("k.yaml:2:3: expected a line 'name: ...', got none"));
  EXPECT_THAT(kernel_error("- name:\n"), StartsWith("k.yaml:2:3, name: expected a value, got nothing"));
  EXPECT_THAT(kernel_error("- name: ''\n"), StartsWith("k.yaml:2:9, name: expected the name of a kernel, got nothing"));
  EXPECT_EQ(kernel_error("- name: dgemm\n  action: run\n  fnction: void f()\n"),
            "k.yaml:4:3, kernel dgemm, fnction: expected a key of a kernels file, got 'fnction'\n  Did you mean "
            "'function'?");
  EXPECT_THAT(kernel_error("- dgemm\n"), StartsWith("k.yaml:2:3: expected a mapping of keys and values"));
}

TEST(KernelsFileErrors, Action)
{
  EXPECT_THAT(kernel_error("- name: dgemm\n"),
              AllOf(StartsWith("k.yaml:2:3, kernel dgemm: expected a line 'action: ...'"),
                    HasSubstr("One of run model skip sample watch.")));
  EXPECT_EQ(kernel_error("- name: dgemm\n  action: skp\n"),
            "k.yaml:3:11, kernel dgemm, action: expected one of run model skip sample watch, got 'skp'\n  Did you mean "
            "'skip'?");
}

TEST(KernelsFileErrors, NoDuration)
{
  for (const char* action : {"model", "skip"})
    EXPECT_THAT(dgemm_error(action, ""),
                StartsWith("k.yaml:2:3, kernel dgemm: expected a line 'duration: ...' or 'pieces:', got none"));
  EXPECT_THAT(dgemm_error("model", "{duration: 1us"), HasSubstr("expected YAML"));
  EXPECT_THAT(dgemm_error("model", "duration: 1us\n  pieces: [{otherwise: 1us}]"),
              StartsWith("k.yaml:5:11, kernel dgemm, pieces: expected either a duration or pieces, got both"));
}

TEST(KernelsFileErrors, DurationWithoutUnit)
{
  EXPECT_EQ(
      dgemm_error("model", "duration: 1e-6"),
      "k.yaml:4:13, kernel dgemm, duration: expected a time, got '1e-6', without a unit\n  Put one of ps ns us ms s "
      "behind a number: 2us, or 7e-11 s * M * N * K.");
  EXPECT_THAT(dgemm_error("model", "duration: 1us * 1us"), HasSubstr("not proportional to the unit of time"));
  EXPECT_THAT(dgemm_error("model", "duration: 1us + M"), HasSubstr("not proportional to the unit of time"));
}

TEST(KernelsFileErrors, NegativeDuration)
{
  EXPECT_THAT(dgemm_error("model", "duration: -1us"),
              StartsWith("k.yaml:4:13, kernel dgemm, duration: expected a time that is not negative, got '-1us'"));
}

TEST(KernelsFileErrors, UnknownVariable)
{
  EXPECT_THAT(
      dgemm_error("model", "duration: 1us * TRANA"),
      AllOf(StartsWith("k.yaml:4:13, kernel dgemm, duration: expected a variable, got 'TRANA' at column 7 in '1us * "
                       "TRANA'\n  Did you mean 'TRANSA'? There are M N K "),
            HasSubstr("flops bytes")));
}

TEST(KernelsFileErrors, ArgumentsOfAnUnknownFunction)
{
  EXPECT_THAT(kernel_error("- {name: work, action: model, duration: 1us * COUNT}"),
              AllOf(HasSubstr("got 'COUNT' at column 7"),
                    HasSubstr("Give a 'function:' line with the declaration of work: without it its arguments are not "
                              "known.")));
  EXPECT_THAT(kernel_error("- {name: work, action: sample, class: COUNT}"), HasSubstr("Give a 'function:' line"));
  EXPECT_THAT(kernel_error("- {name: work, action: skip, duration: 1us, returns: 3}"),
              AllOf(HasSubstr("returns: expected a function whose result is known, got work"),
                    HasSubstr("Give a 'function:' line")));
}

TEST(KernelsFileErrors, ParametersThatCannotBeSet)
{
  EXPECT_THAT(kernel_error("- {name: f, function: void f(int n), action: skip, duration: 1us, sets: {n: 1}}"),
              HasSubstr("sets, n: expected a parameter that the function takes by reference, got 'n'"));
  EXPECT_THAT(kernel_error("- {name: work, action: skip, duration: 1us, sets: {x: 1}}"),
              HasSubstr("Give a 'function:' line with it as 'double& x' or 'int& x'."));
  EXPECT_THAT(kernel_error("- {name: f, function: void f(int& n), action: skip, duration: 1us, sets: {n: 1us}}"),
              HasSubstr("sets, n: expected"));
  EXPECT_THAT(kernel_error("- {name: f, function: void f(int& n), action: sample, sets: {n: 1}}"),
              HasSubstr("expected 'sets' only for action model or skip"));
}

TEST(KernelsFileErrors, NumberOfArguments)
{
  EXPECT_THAT(dgemm_error("model", "duration: 1us * sqrt(M, N)"),
              HasSubstr("expected 1 argument of sqrt, got 2 arguments"));
}

TEST(KernelsFileErrors, KeysOfOtherActions)
{
  EXPECT_THAT(dgemm_error("sample", "duration: 1us"),
              StartsWith("k.yaml:4:13, kernel dgemm, duration: expected no duration, since it is sampled, got one"));
  EXPECT_THAT(
      dgemm_error("run", "duration: 1us"),
      StartsWith("k.yaml:4:3, kernel dgemm, duration: expected 'duration' only for action model or skip, got action "
                 "run"));
  EXPECT_THAT(dgemm_error("model", "duration: 1us\n  returns: 1"),
              HasSubstr("expected 'returns' only for action skip"));
  EXPECT_THAT(dgemm_error("model", "duration: 1us\n  least: 5"), HasSubstr("expected 'least' only for action sample"));
  EXPECT_THAT(dgemm_error("sample", "noise: none"), HasSubstr("expected 'noise' only for action model or skip"));
}

TEST(KernelsFileErrors, Pieces)
{
  EXPECT_THAT(
      dgemm_error("model", "pieces:\n  - {when: M < 3, duration: 1us}"),
      StartsWith("k.yaml:5:3, kernel dgemm, pieces: expected 'otherwise: DURATION' as the last item, got none"));
  EXPECT_THAT(
      dgemm_error("model", "pieces:\n  - otherwise: 1us\n  - {when: M < 3, duration: 1us}"),
      StartsWith("k.yaml:6:5, kernel dgemm, pieces: expected 'otherwise' as the last item, got an item behind it"));
  EXPECT_THAT(
      dgemm_error("model", "pieces:\n  - {when: 1us, duration: 1us}\n  - otherwise: 1us"),
      StartsWith("k.yaml:5:12, kernel dgemm, pieces, when: expected a condition, got '1us', which depends on the unit "
                 "of time"));
  EXPECT_THAT(dgemm_error("model", "pieces:\n  - {when: M < 3}\n  - otherwise: 1us"),
              HasSubstr("pieces: expected 'when' and 'duration', or 'otherwise' alone"));
  EXPECT_THAT(dgemm_error("model", "pieces:\n  - {otherwise: 1us, wen: 3}"), HasSubstr("Did you mean 'when'?"));
  EXPECT_THAT(dgemm_error("model", "pieces: 3"), HasSubstr("expected a list, got a single value"));
}

TEST(KernelsFileErrors, Noise)
{
  const auto noise = [](std::string_view text) {
    return dgemm_error("model", "duration: 1us\n  noise: " + std::string(text));
  };
  EXPECT_EQ(noise("{distribution: half-normal, sd: 1us}"),
            "k.yaml:5:25, kernel dgemm, noise, distribution: expected one of normal half_normal log_normal gamma, got "
            "'half-normal'\n  Did you mean 'half_normal'?");
  EXPECT_THAT(noise("{distribution: normal}"), HasSubstr("noise: expected a line 'sd: ...', got none"));
  EXPECT_THAT(noise("{distribution: normal, sd: 0.1}"),
              HasSubstr("noise, sd: expected a time, got '0.1', without a unit"));
  EXPECT_THAT(noise("{sd: 0.1}"), HasSubstr("expected a line 'distribution: ...'"));
  EXPECT_THAT(noise("{distribution: normal, sd: 1us, weight: 1}"), HasSubstr("got 'weight'"));
  EXPECT_THAT(noise("loud"), HasSubstr("expected one of none, got 'loud'"));
  EXPECT_THAT(noise("{distribution: mixture, components: [{weight: 0.5, distribution: normal, sd: 1us}]}"),
              HasSubstr("components: expected weights of 1 in sum, got 0.5"));
  EXPECT_THAT(noise("{distribution: mixture, components: [{weight: 2, distribution: normal, sd: 1us}]}"),
              HasSubstr("weight: expected a fraction of 1 or a percentage, got '2'"));
  EXPECT_THAT(noise("{distribution: mixture, components: [{weight: 1, factor: 0, distribution: gamma, sd: 1us}]}"),
              HasSubstr("factor: expected a number greater than 0"));
  EXPECT_THAT(noise("{distribution: mixture, components: []}"), HasSubstr("weights of 1 in sum, got 0"));
}

TEST(KernelsFileErrors, Parameters)
{
  const auto parameters = [](std::string_view text) {
    return dgemm_error("model", "duration: 1us\n  parameters: " + std::string(text));
  };
  EXPECT_THAT(parameters("{M: 3}"), HasSubstr("expected a name that is not one of the kernel's arguments, got 'M'"));
  EXPECT_THAT(parameters("{us: 3}"), HasSubstr("that is no function and no unit, got 'us'"));
  EXPECT_THAT(parameters("{a-b: 3}"), HasSubstr("expected a name of letters, digits and _"));
  EXPECT_THAT(parameters("{a: 1us + 1}"), HasSubstr("expected a number or a time, got '1us + 1'"));
  EXPECT_THAT(parameters("{a: 1/0}"), HasSubstr("expected a number or a time, got '1/0'"));
  EXPECT_THAT(parameters("{a: b}"), HasSubstr("expected a variable, got 'b' at column 1"));
  EXPECT_THAT(parameters("{draw: row}"), HasSubstr("expected a table beside 'draw', got none"));
  EXPECT_THAT(parameters("{missing: cycle}"), HasSubstr("expected a table or by_node beside 'missing', got none"));
  EXPECT_THAT(parameters("{table: t.csv, by_node: []}"), HasSubstr("expected either a table or by_node, got both"));
  EXPECT_THAT(parameters("{table: t.csv}"), StartsWith("t.csv: expected a readable CSV file, got No such file"));
}

TEST(KernelsFileErrors, Nodes)
{
  const auto nodes = [](std::string_view text) {
    return dgemm_error("model", "duration: 1us\n  parameters:\n    by_node: [" + std::string(text) + "]");
  };
  EXPECT_THAT(nodes(""), HasSubstr("by_node: expected items, got none"));
  EXPECT_THAT(nodes("{a: 3}"), HasSubstr("expected a line 'nodes: ...', got none"));
  for (const char* range : {"x", "3-1", "0-99999999", "1-", "-3", "''", "1.5", "[]"})
    EXPECT_THAT(nodes("{nodes: " + std::string(range) + ", a: 3}"), HasSubstr("expected whole numbers and ranges"))
        << range;
  EXPECT_THAT(nodes("{nodes: 0-3, a: 3}, {nodes: 3, a: 3}"), HasSubstr("expected each node once, got node 3 again"));
  EXPECT_THAT(nodes("{nodes: 0, a: 3}, {nodes: 1, b: 3}"),
              HasSubstr("expected a value of a, as the first item has, got none"));
  EXPECT_THAT(nodes("{nodes: 0, a: 3}, {nodes: 1, a: 3, b: 3}"),
              HasSubstr("expected the parameters of the first item, got b in addition"));
  EXPECT_THAT(nodes("{nodes: 0, a: 3}, {nodes: 1, a: 3us}"),
              HasSubstr("expected a as a time, like in other items, got a number without unit"));
  EXPECT_THAT(nodes("{nodes: 0, sockets: 0, a: 3}, {nodes: 1, a: 3}"), HasSubstr("expected the same keys"));
  EXPECT_THAT(nodes("{nodes: 0-999999, cores: 0-63, a: 3}"),
              HasSubstr("expected at most 1048576 places, got 64000000"));
}

TEST(KernelsFileErrors, Tables)
{
  const Scratch scratch;
  scratch.write("t.csv", "node,day,alpha,M\n0,monday,1,2\n");
  const auto message = [&](std::string_view lines) {
    return error_of(scratch, "kernels:\n- name: f\n  function: void f(int N)\n  action: model\n" + std::string(lines));
  };
  EXPECT_EQ(message("  duration: alpha s\n  parameters: {table: t.csv}"), "no error");
  EXPECT_THAT(message("  duration: alpha * N\n  parameters: {table: t.csv}"), HasSubstr("'alpha * N', without a unit"));
  EXPECT_THAT(message("  duration: day s\n  parameters: {table: t.csv}"),
              HasSubstr("t.csv:2, column day is no parameter: 'monday' is no number."));
  EXPECT_THAT(message("  duration: alpha s\n  parameters: {table: t.csv, draw: normal}"),
              StartsWith("t.csv: expected two rows or more for each place"));
  EXPECT_THAT(message("  duration: alpha\n  parameters: {table: t.csv, alpha: 1us}"),
              HasSubstr("expected alpha with the same unit in the table"));
  EXPECT_THAT(message("  duration: alpha s\n  parameters: {table: t.csv, draw: rows}"),
              HasSubstr("Did you mean 'row'?"));
  EXPECT_THAT(error_of(scratch, "kernels:\n- {name: dgemm, action: model, duration: 1us, parameters: {table: t.csv}}"),
              HasSubstr("expected columns that are not called like the kernel's arguments, got 'M'"));
}

TEST(KernelsFileErrors, Returns)
{
  EXPECT_THAT(
      kernel_error("- {name: idamax, action: skip, duration: 1us}"),
      AllOf(StartsWith("k.yaml:2:3, kernel idamax: expected what the function returns where it is skipped, got no "
                       "line 'returns: ...'"),
            HasSubstr("random(LOW, HIGH)")));
  EXPECT_THAT(kernel_error("- {name: idamax, action: skip, duration: 1us, returns: 'random(1)'}"),
              HasSubstr("returns: expected random(LOW, HIGH), got 'random(1)'"));
  EXPECT_THAT(kernel_error("- {name: idamax, action: skip, duration: 1us, returns: 'random('}"),
              HasSubstr("returns: expected random(LOW, HIGH), got 'random('"));
  EXPECT_THAT(kernel_error("- {name: idamax, action: skip, duration: 1us, returns: 1us}"),
              HasSubstr("expected a value to return, got '1us', which depends on the unit of time"));
  EXPECT_THAT(kernel_error("- {name: idamax, action: skip, duration: 1us, returns: nothing}"),
              HasSubstr("got nothing"));
  EXPECT_THAT(dgemm_error("skip", "duration: 1us\n  returns: 0"),
              HasSubstr("returns: expected nothing, since the function returns nothing, got '0'"));
}

TEST(KernelsFileErrors, Sampling)
{
  EXPECT_THAT(dgemm_error("sample", "interval: 0"), HasSubstr("interval: expected a fraction of 1 or a percentage"));
  EXPECT_THAT(dgemm_error("sample", "least: 1"), HasSubstr("least: expected a whole number between 2 and"));
  EXPECT_THAT(dgemm_error("sample", "then: stop"), HasSubstr("then: expected one of run skip, got 'stop'"));
  EXPECT_THAT(dgemm_error("sample", "class: [M, 1us]"), HasSubstr("class: expected a number to tell classes by"));
  EXPECT_THAT(kernel_error("- {name: ddot, action: sample, then: skip}"),
              HasSubstr("expected what the function returns"));
}

TEST(KernelsFileErrors, WhichFunction)
{
  EXPECT_THAT(kernel_error("- {name: f, at: libfoo.so, action: run}"),
              StartsWith("k.yaml:2:17, kernel f, at: expected OBJECT+0xOFFSET, got 'libfoo.so'"));
  EXPECT_THAT(kernel_error("- {name: f, at: a+0xg, action: run}"), HasSubstr("expected OBJECT+0xOFFSET"));
  EXPECT_THAT(kernel_error("- {name: f, at: a+0x1, symbol: f, action: run}"),
              HasSubstr("either 'at' or 'symbol' and 'in'"));
  EXPECT_THAT(
      kernel_error("- {name: dgemm, at: a+0x1, action: run}"),
      AllOf(
          HasSubstr(
              "at: expected a 'function' line beside it, or a name that tells Fortran from C instead of 'name: dgemm'"),
          HasSubstr("differ")));
  EXPECT_THAT(kernel_error("- name: f\n  function: void f(strange x)\n  action: run"),
              StartsWith("k.yaml:3:13, kernel f, function: expected"));
}

TEST(KernelsFileErrors, FunctionsOfTwoKernels)
{
  EXPECT_THAT(kernel_error("- {name: dgemm, action: run}\n- {name: dgemm, action: run}\n"),
              StartsWith("k.yaml:3:3, kernel dgemm: expected each kernel once in a file, got it again"));
  EXPECT_THAT(
      kernel_error("- {name: dgemm, action: run}\n- {name: dgemm_, action: run}\n"),
      AllOf(StartsWith("k.yaml:3:3, kernel dgemm_: expected functions of which no other kernel is, got dgemm_, which "
                       "is of kernel dgemm, too"),
            HasSubstr("k.yaml:2:3, kernel dgemm)")));
  EXPECT_EQ(
      kernel_error("- {name: a, symbol: f, in: x.so, action: run}\n- {name: b, symbol: f, in: y.so, action: run}"),
      "no error");
  EXPECT_THAT(kernel_error("- {name: a, at: x+0x1, action: run}\n- {name: b, at: x+0x1, action: run}"),
              HasSubstr("got x+0x1, which is of kernel a"));
}

} // namespace
} // namespace umwelt::kernels
