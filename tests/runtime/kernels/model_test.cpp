// SPDX-License-Identifier: LGPL-2.1-or-later
// Models as a kernels file describes them.
#include <cmath>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "runtime/base/usage_error.h"
#include "tests/runtime/kernels/scratch.h"

namespace umwelt::kernels
{
namespace
{

using testing::AllOf;
using testing::HasSubstr;

constexpr int count = 100'000;

// Of a kernel with the arguments M, N and K.
std::string file(std::string_view model, std::string_view seed = "1")
{
  return "seed: " + std::string(seed) +
         "\nkernels:\n- name: f\n  function: void f(int M, int N, int K)\n  action: model\n" + std::string(model);
}

Model model(std::string_view text, std::string_view seed = "1")
{
  return std::move(*read_text(file(text, seed)).list.at(0).model);
}

struct Moments {
  double mean = 0;
  double deviation = 0;
};

Moments moments(const Model& of, const std::vector<double>& values)
{
  double sum = 0;
  double squares = 0;
  for (int call = 0; call < count; ++call) {
    const double us = seconds(of, values, call) * 1e6;
    sum += us;
    squares += us * us;
  }
  return {sum / count, std::sqrt(squares / count - sum / count * sum / count)};
}

std::string refusal(const Model& of, const std::vector<double>& values, const Place& place = {})
{
  try {
    (void)of.duration(place, values, 0);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

std::string check_message(const Model& of, std::uint32_t nodes, std::uint32_t sockets, std::uint32_t cores)
{
  try {
    of.check(nodes, sockets, cores);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Model, Constant) // M-0
{
  EXPECT_EQ(model("  duration: 2.5us").duration({}, std::vector<double>{1, 2, 3}, 0), 2'500'000);
}

TEST(Model, Proportional) // M-1
{
  EXPECT_DOUBLE_EQ(seconds(model("  duration: 1us + 7e-11 s * M * N * K"), std::vector<double>{100, 200, 300}),
                   1e-6 + 7e-11 * 6e6);
}

TEST(Model, Polynomial) // M-2
{
  const Model of = model("  duration: a*M*N*K + b*M*N + c*M*K + d*N*K + e\n"
                         "  parameters: {a: 1e-11 s, b: 2ps, c: 3ps, d: 4ps, e: 5ns}");
  EXPECT_DOUBLE_EQ(seconds(of, std::vector<double>{10, 20, 30}), 60e-9 + 400e-12 + 900e-12 + 2400e-12 + 5e-9);
}

TEST(Model, Piecewise) // M'
{
  const Model of = model("  pieces:\n  - {when: M*N*K < 1e3, duration: 1us}\n  - when: M == 7\n    duration: 2us\n"
                         "  - otherwise: 3us + 1ns * M");
  EXPECT_DOUBLE_EQ(seconds(of, std::vector<double>{1, 1, 1}), 1e-6);
  EXPECT_DOUBLE_EQ(seconds(of, std::vector<double>{7, 100, 100}), 2e-6);
  EXPECT_DOUBLE_EQ(seconds(of, std::vector<double>{10, 100, 1}), 3.01e-6);
}

TEST(Model, ParametersOfNodes) // M_H
{
  const Model of = model("  duration: b * M\n  parameters:\n    by_node:\n    - {nodes: 0-15, b: 1us}\n"
                         "    - {nodes: [16, 18-20], b: 2us}\n    - {nodes: '17,30', b: 3us}");
  const std::vector<double> values{10, 0, 0};
  EXPECT_DOUBLE_EQ(seconds(of, values, 0, {15}), 10e-6);
  EXPECT_DOUBLE_EQ(seconds(of, values, 0, {16}), 20e-6);
  EXPECT_DOUBLE_EQ(seconds(of, values, 0, {19}), 20e-6);
  EXPECT_DOUBLE_EQ(seconds(of, values, 0, {17}), 30e-6);
  EXPECT_EQ(check_message(of, 21, 2, 4), "no error");
  EXPECT_THAT(check_message(of, 22, 2, 4),
              AllOf(HasSubstr("expected values for each of the 22 nodes, got none for node 21"),
                    HasSubstr("'missing: cycle'")));
}

TEST(Model, ParametersOfSocketsAndCores)
{
  const Model of =
      model("  duration: b\n  parameters:\n    by_node:\n    - {nodes: 0-1, sockets: 0, cores: 0-1, b: 1us}\n"
            "    - {nodes: 0-1, sockets: 1, cores: 2-3, b: 2us}");
  EXPECT_DOUBLE_EQ(seconds(of, std::vector<double>{0, 0, 0}, 0, {1, 1, 3, 0}), 2e-6);
  EXPECT_EQ(check_message(of, 2, 2, 4), "no error");
  EXPECT_THAT(check_message(of, 2, 2, 6), HasSubstr("none for node 0, socket 0, core 2"));
}

TEST(Model, ConstantsHoldWhereATableHasNoRow)
{
  const Model of = model("  duration: b * c\n  parameters:\n    b: 1us\n    c: 2\n    by_node: [{nodes: 3, b: 5us}]");
  EXPECT_DOUBLE_EQ(seconds(of, std::vector<double>{0, 0, 0}, 0, {0}), 2e-6);
  EXPECT_DOUBLE_EQ(seconds(of, std::vector<double>{0, 0, 0}, 0, {3}), 10e-6);
  EXPECT_EQ(check_message(of, 100, 1, 1), "no error");
}

TEST(Model, ZerosMayHaveAUnitOrNone)
{
  const std::vector<double> values{2, 0, 0};
  EXPECT_DOUBLE_EQ(seconds(model("  duration: a * M + b\n  parameters: {a: 0 s, b: 1us}"), values), 1e-6);
  const Model of =
      model("  duration: a * M + b\n  parameters:\n    b: 0\n    by_node:\n    - {nodes: 0, a: 0, b: 1us}\n"
            "    - {nodes: 1, a: 3us}");
  EXPECT_DOUBLE_EQ(seconds(of, values, 0, {0}), 1e-6);
  EXPECT_DOUBLE_EQ(seconds(of, values, 0, {1}), 6e-6);
}

TEST(Model, GroupsMayLeaveOutWhatIsAConstant)
{
  const Model of = model("  duration: b * c\n  parameters:\n    c: 2\n    by_node:\n    - {nodes: 0, b: 1us, c: 3}\n"
                         "    - {nodes: 1, b: 1us}");
  EXPECT_DOUBLE_EQ(seconds(of, std::vector<double>{0, 0, 0}, 0, {0}), 3e-6);
  EXPECT_DOUBLE_EQ(seconds(of, std::vector<double>{0, 0, 0}, 0, {1}), 2e-6);
}

TEST(Model, ParametersFromATable)
{
  const Scratch scratch;
  scratch.write("t.csv", "node,alpha [s],beta\n0,1e-6,2\n0,3e-6,2\n1,5e-6,4\n");
  const std::string path =
      scratch.write("k.yaml", file("  duration: alpha * M + beta us\n  parameters:\n    table: t.csv\n"
                                   "    missing: cycle"));
  const Kernels kernels = read_kernels(std::span(&path, 1));
  const std::vector<double> values{10, 0, 0};
  EXPECT_DOUBLE_EQ(seconds(*kernels.list[0].model, values, 0, {0}), 22e-6);
  EXPECT_DOUBLE_EQ(seconds(*kernels.list[0].model, values, 0, {1}), 54e-6);
  EXPECT_DOUBLE_EQ(seconds(*kernels.list[0].model, values, 0, {3}), 54e-6);
  EXPECT_NO_THROW(check(kernels, 1000, 2, 64));
}

TEST(Model, ParametersAreDrawnOnceForAPlace)
{
  const Scratch scratch;
  scratch.write("t.csv", "node,alpha [us]\n0,10\n0,20\n1,30\n1,40\n");
  const std::string path =
      scratch.write("k.yaml", file("  duration: alpha\n  parameters: {table: t.csv, draw: normal, missing: draw}"));
  const Kernels one = read_kernels(std::span(&path, 1));
  const Kernels other = read_kernels(std::span(&path, 1));
  const Kernels different = read_kernels(std::span(&path, 1), 99);
  const std::vector<double> values{0, 0, 0};
  const auto at = [&](const Kernels& kernels, std::uint32_t node, std::uint32_t rank, std::uint64_t call) {
    return kernels.list[0].model->duration({node, 0, 0, rank}, values, call);
  };
  for (const std::uint32_t node : {0U, 1U, 7U}) {
    EXPECT_EQ(at(one, node, 0, 0), at(one, node, 5, 17));
    EXPECT_EQ(at(one, node, 0, 0), at(other, node, 0, 0));
    EXPECT_NE(at(one, node, 0, 0), at(different, node, 0, 0));
  }
  EXPECT_NE(at(one, 7, 0, 0), at(one, 8, 0, 0));
}

TEST(Model, ConstantNoise) // N-1
{
  const Moments got = moments(model("  duration: 10us\n  noise: {distribution: normal, sd: 1us}"), {1, 2, 3});
  EXPECT_NEAR(got.mean, 10, 0.015);
  EXPECT_NEAR(got.deviation, 1, 0.015);
}

TEST(Model, NoiseThatGrowsWithTheArguments) // N-2
{
  const Model of = model("  duration: 1ns * M * N\n  noise: {distribution: half_normal, sd: s0 + 0.1ns * M * N}\n"
                         "  parameters: {s0: 1us}");
  const Moments small = moments(of, {100, 100, 1});
  EXPECT_NEAR(small.mean, 10, 0.03);
  EXPECT_NEAR(small.deviation, 2, 0.03);
  const Moments large = moments(of, {200, 1000, 1});
  EXPECT_NEAR(large.mean, 200, 0.3);
  EXPECT_NEAR(large.deviation, 21, 0.3);
}

TEST(Model, NoiseRelativeToTheDuration)
{
  const Moments got =
      moments(model("  duration: 1us * M\n  noise: {distribution: gamma, sd: 0.2 * duration}"), {7, 0, 0});
  EXPECT_NEAR(got.mean, 7, 0.02);
  EXPECT_NEAR(got.deviation, 1.4, 0.02);
}

TEST(Model, Mixture) // N'
{
  const Moments got = moments(model("  duration: 15us\n  noise:\n    distribution: mixture\n    components:\n"
                                    "    - {weight: 99%, distribution: normal, sd: 0.1us}\n"
                                    "    - {weight: 1%, factor: 51, distribution: log_normal, sd: 2us}"),
                              {0, 0, 0});
  EXPECT_NEAR(got.mean, 15, 0.7); // 10 and 510 us
  EXPECT_NEAR(got.deviation, std::sqrt(0.99 * 25 + 0.01 * 495 * 495), 2);
}

TEST(Model, SameSeedSameDurations)
{
  constexpr std::string_view text = "  duration: 10us\n  noise: {distribution: gamma, sd: 1us}";
  const Model one = model(text);
  const Model same = model(text);
  const Model other = model(text, "2");
  const std::vector<double> values{0, 0, 0};
  EXPECT_EQ(one.duration({1, 0, 0, 2}, values, 3), same.duration({1, 0, 0, 2}, values, 3));
  EXPECT_EQ(one.duration({1, 0, 0, 2}, values, 3), one.duration({1, 0, 0, 2}, values, 3));
  EXPECT_NE(one.duration({1, 0, 0, 2}, values, 3), other.duration({1, 0, 0, 2}, values, 3));
  EXPECT_NE(one.duration({1, 0, 0, 2}, values, 3), one.duration({1, 0, 0, 2}, values, 4));
  EXPECT_NE(one.duration({1, 0, 0, 2}, values, 3), one.duration({1, 0, 0, 3}, values, 3));
}

TEST(Model, RefusesNegativeDurations)
{
  const Model of = model("  duration: 1us * (M - N)");
  EXPECT_EQ(seconds(of, std::vector<double>{5, 5, 0}), 0);
  EXPECT_THAT(
      refusal(of, {5, 8, 0}, {3, 0, 0, 4}),
      AllOf(HasSubstr("k.yaml:6:13, kernel f, duration: expected a finite value that is not negative, of times at "
                      "most 93 days, got -3e-06 from '1us * (M - N)' with M=5 N=8"),
            HasSubstr("It was called so on node 3.")));
}

TEST(Model, RefusesWhatIsNotFinite)
{
  EXPECT_THAT(refusal(model("  duration: 1us / M"), {0, 0, 0}), HasSubstr("got inf from '1us / M' with M=0"));
  EXPECT_THAT(refusal(model("  duration: 1us * log(M)"), {-1, 0, 0}), HasSubstr("nan from"));
  EXPECT_THAT(refusal(model("  duration: 1s * M"), {1e9, 0, 0}), HasSubstr("got 1e+09 from"));
  EXPECT_THAT(refusal(model("  pieces: [{when: M / N, duration: 1us}, {otherwise: 2us}]"), {0, 0, 0}),
              HasSubstr("pieces, when: expected a finite value"));
}

TEST(Model, RefusesNegativeDeviations)
{
  const Model of = model("  duration: 9us\n  noise: {distribution: normal, sd: 1us * (M - N) + 0 * duration}");
  EXPECT_THAT(refusal(of, {1, 3, 0}), AllOf(HasSubstr("noise, sd: expected a finite value that is not negative"),
                                            HasSubstr("with M=1 N=3 duration=9e-06")));
}

} // namespace
} // namespace umwelt::kernels
