// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/energy/power_file.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <unistd.h>

#include "runtime/base/usage_error.h"

namespace umwelt::energy
{
namespace
{

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<platform::Node> nodes(std::size_t number, unsigned cores = 2)
{
  std::vector<platform::Node> all(number);
  for (std::size_t i = 0; i < number; ++i) {
    all[i].name = "n" + std::to_string(i);
    all[i].cores = cores;
  }
  return all;
}

Power read(const std::string& text, const std::vector<platform::Node>& of = nodes(2))
{
  const std::string path = testing::TempDir() + "/power." + std::to_string(getpid()) + ".yaml";
  std::ofstream(path) << text;
  struct Remove {
    std::string path;
    ~Remove() { std::filesystem::remove(path); }
  } remove{path};
  return read_power(path, of);
}

std::string error_of(const std::string& text)
{
  try {
    read(text);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "none";
}

TEST(PowerFile, ReadsStates)
{
  const Power power =
      read("nodes:\n- off: 5 W\n  states:\n"
           "  - {frequency: 2 GHz, idle: 100 W, epsilon: 110, computing: 0.2 kW, communicating: 150 W}\n"
           "  - {frequency: 1 GHz, idle: 80 W, computing: 140 W}\n");
  ASSERT_EQ(power.kinds.size(), 1);
  const NodePower& kind = power.kinds.front();
  EXPECT_EQ(kind.off, 5);
  ASSERT_EQ(kind.states.size(), 2);
  EXPECT_EQ(kind.states[0].name, "2GHz");
  EXPECT_EQ(kind.states[0].pace, 1);
  EXPECT_THAT(kind.states[0].busy, ElementsAre(155, 200));
  EXPECT_THAT(kind.states[0].full, ElementsAre(200, 150, 150));
  EXPECT_EQ(kind.states[1].pace, 0.5);
  EXPECT_THAT(kind.states[1].busy, ElementsAre(110, 140));
  EXPECT_THAT(kind.states[1].full, ElementsAre(140, 110, 110)) << "communicating is half of computing there, too";
}

TEST(PowerFile, ReadsAListByCores)
{
  const Power power = read("nodes: [{states: [{idle: 50, computing: [90 W, 100 W]}]}]");
  EXPECT_THAT(power.kinds[0].states[0].busy, ElementsAre(90, 100));
  EXPECT_EQ(power.kinds[0].states[0].name, "0");
}

TEST(PowerFile, GivesNodesTheFirstThatFits)
{
  const Power power = read("nodes:\n- {nodes: n1, states: [{idle: 1, computing: 2}]}\n"
                           "- states: [{idle: 3, computing: 4}]\n");
  EXPECT_EQ(power.node(1).states[0].idle, 1);
  EXPECT_EQ(power.node(0).states[0].idle, 3);
}

TEST(PowerFile, ReadsKernelsNetworkAndCost)
{
  const Power power = read("nodes: [{states: [{idle: 100, computing: 200}, {speed: 0.5, idle: 50, computing: 100}]}]\n"
                           "kernels: {dgemm: 220 W}\n"
                           "network: {nic: {idle: 8 W, per_byte: 2 nJ, per_message: 1 uJ}, link: {idle: 1, busy: 3},"
                           " switch: {idle: 0.1 kW}}\n"
                           "cost: {node_hour: 1.5, kwh: 0.25, pue: 1.2, currency: USD}\n"
                           "without_ranks: off\n");
  EXPECT_THAT(power.kernels, ElementsAre("dgemm"));
  EXPECT_EQ(power.kinds[0].states[0].full[first_kernel], 220);
  EXPECT_EQ(power.kinds[0].states[1].full[first_kernel], 110);
  EXPECT_DOUBLE_EQ(power.network.nic.per_byte, 2e-9);
  EXPECT_DOUBLE_EQ(power.network.nic_per_message, 1e-6);
  EXPECT_EQ(power.network.link_busy, 3);
  EXPECT_EQ(power.network.network_switch.idle, 100);
  EXPECT_EQ(power.prices.pue, 1.2);
  EXPECT_EQ(power.prices.currency, "USD");
  EXPECT_EQ(power.unused, Unused::off);
  EXPECT_EQ(power.ended, Unused::idle);
}

TEST(PowerFile, MayTellPricesAlone)
{
  const Power power = read("cost: {node_hour: 2}");
  EXPECT_FALSE(power.nodes());
  EXPECT_EQ(power.prices.node_hour, 2);
}

TEST(PowerFile, SaysWhereSomethingIsWrong)
{
  const std::string state = "nodes:\n- states:\n  - ";
  EXPECT_THAT(error_of(state + "{idle: 95 V, computing: 1}"), HasSubstr("yaml:3:12, nodes *, state 0, idle"));
  EXPECT_THAT(error_of(state + "{idle: 95 V, computing: 1}"), HasSubstr("watts"));
  EXPECT_THAT(error_of(state + "{idle: 95}"), HasSubstr("computing"));
  EXPECT_THAT(error_of(state + "{idle: 95, computing: 90}"), HasSubstr("at least what the node draws idle, 95 W"));
  EXPECT_THAT(error_of(state + "{idle: 95, computing: [100, 110, 120]}"), HasSubstr("each of the node's 2 cores"));
  EXPECT_THAT(error_of(state + "{idle: 9, computing: [10, 11], epsilon: 9}"), HasSubstr("no epsilon beside a list"));
  EXPECT_THAT(error_of(state + "{idle: 9, compute: 10, computing: 10}"), HasSubstr("compute"));
  EXPECT_THAT(error_of(state + "{idle: 9, computing: 10}\n  - {idle: 9, computing: 10}"), HasSubstr("or a speed"));
  EXPECT_THAT(error_of(state + "{speed: 0.5, idle: 9, computing: 10}\n  - {speed: 0.4, idle: 9, computing: 10}"),
              HasSubstr("speed 1 in the first state"));
  EXPECT_THAT(error_of(state + "{frequency: 1GHz, idle: 9, computing: 10}\n  - {frequency: 2GHz, idle: 9, "
                               "computing: 10}"),
              HasSubstr("fastest first"));
  EXPECT_THAT(error_of("nodes: [{nodes: m*, states: [{idle: 1, computing: 2}]}]"), HasSubstr("an entry for node n0"));
  EXPECT_THAT(error_of("nodes: [{states: [{idle: 1, computing: 2}]}, {nodes: n1, states: []}]"),
              HasSubstr("no entry before takes"));
  EXPECT_THAT(error_of("nodes: [{states: []}]"), HasSubstr("at least one state"));
  EXPECT_THAT(error_of("kernels: {dgemm: 220}"), HasSubstr("nodes beside kernels"));
  EXPECT_THAT(error_of("cost: {pue: 0.9}"), HasSubstr("1 or more"));
  EXPECT_THAT(error_of("without_ranks: of"), HasSubstr("Did you mean 'off'?"));
  EXPECT_THAT(error_of("nods: []"), HasSubstr("nods"));
  EXPECT_THAT(error_of("network: {link: {idle: 3, busy: 2}}"), HasSubstr("at least what it draws idle"));
  EXPECT_THAT(error_of("["), HasSubstr("YAML"));
}

} // namespace
} // namespace umwelt::energy
