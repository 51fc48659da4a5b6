// SPDX-License-Identifier: LGPL-2.1-or-later
// Where networks saturate, against published values (net_models/packet/SATURATION.md has the table; bench_saturation
// makes it). Here the cheap ones, with the same patterns.
#include "tests/net_models/packet/patterns.h"
#include "tests/net_models/packet/traffic.h"

namespace umwelt::net
{
namespace
{

constexpr double everything = 1.0; // demanded load

PacketParameters routed(const char* routing, std::uint64_t vcs = 1)
{
  PacketParameters parameters;
  parameters.routing = routing;
  parameters.vcs = vcs;
  return parameters;
}

double accepted(const std::string& spec, const PacketParameters& parameters, const Load::Pattern& pattern,
                double load = everything)
{
  return Load(spec, parameters).run(load, pattern, 400, 800).accepted;
}

// M. Karol, M. Hluchyj, S. Morgan, "Input versus output queueing on a space-division packet switch", 1987, table I: of
// 8 inputs with one queue each, that read one packet at a time.
TEST(PacketSaturation, AnInputQueuedSwitchAsKarolAndOthers)
{
  PacketParameters parameters;
  parameters.input_reads = 1;
  Traveller net("torus:dims=1,hosts=16,bw=10GB/s", parameters); // 0 to 7 send, 8 to 15 receive
  constexpr SimTime slot = 100 * sim::nanosecond;
  constexpr SimTime slots = 4000;
  std::uint64_t arrived = 0;
  net.on_arrival = [&](Trip& trip) { arrived += trip.arrived < slots * slot ? 1 : 0; };
  Load::Random random(5);
  for (int i = 0; i < slots; ++i) // at once, so all go in step, as there
    for (platform::NodeIndex from = 0; from < 8; ++from)
      net.send(from, 8 + static_cast<platform::NodeIndex>(random() % 8), 1000);
  net.run();
  EXPECT_NEAR(static_cast<double>(arrived) / (8.0 * slots), 0.6184, 0.01);
}

// A channel in the direction that all take has (k/2 - 1) packets of each node to carry (Dally, Towles,
// 2004): 1/3 for k = 8.
TEST(PacketSaturation, TornadoOnARing)
{
  const std::string ring = "torus:dims=8";
  PacketParameters parameters = routed("static");
  EXPECT_NEAR(accepted(ring, parameters, patterns::tornado(8), 0.29), 0.29, 0.01);
  // Beyond, inputs in turn let more into the full ring than leaves it; by age what is in it goes first.
  EXPECT_LT(accepted(ring, parameters, patterns::tornado(8)), 0.25);
  parameters.arbitration = "age";
  EXPECT_NEAR(accepted(ring, parameters, patterns::tornado(8)), 1.0 / 3, 0.02);
  // Or with virtual channels, where the full ones do not hold up the others.
  EXPECT_NEAR(accepted(ring, routed("static", 4), patterns::tornado(8)), 1.0 / 3, 0.02);
}

// Any pattern becomes two of random traffic: half of what that has, 8/k of a channel (Dally, Towles, 2004).
TEST(PacketSaturation, ValiantOnARingForgetsThePattern)
{
  const double load = accepted("torus:dims=8", routed("valiant", 4), patterns::tornado(8));
  EXPECT_GT(load, 0.35);
  EXPECT_LT(load, 0.5);
}

// J. Kim, W. Dally, S. Scott, D. Abts, 2008, figure 8(b): with minimal routes all of a group goes over
// one cable, 1/(a h); Valiant's way has one half at most, and UGAL comes close to it.
constexpr const char* dragonfly = "dragonfly:groups=9,routers=4,global=2,hosts=2";

TEST(PacketSaturation, AdversarialOnADragonflyMinimal)
{
  EXPECT_NEAR(accepted(dragonfly, routed("static"), patterns::next_group(72, 8)), 1.0 / 8, 0.005);
}

TEST(PacketSaturation, AdversarialOnADragonflyValiantAndUgal)
{
  const double valiant = accepted(dragonfly, routed("valiant", 4), patterns::next_group(72, 8));
  EXPECT_GT(valiant, 0.38);
  EXPECT_LT(valiant, 7.0 / 16 + 0.01); // two cables for each packet, and seven of eight are used
  const double ugal = accepted(dragonfly, routed("ugal", 4), patterns::next_group(72, 8));
  // The cable of the minimal route may carry packets, too, and all others two for each: 9/16.
  EXPECT_GT(ugal, 0.48);
  EXPECT_LT(ugal, 9.0 / 16);
}

// Figure 8(a): random traffic suits minimal routes and UGAL, and Valiant's way has half.
TEST(PacketSaturation, UniformOnADragonfly)
{
  const auto uniform = patterns::uniform(72);
  const double minimal = accepted(dragonfly, routed("static", 4), uniform);
  EXPECT_GT(minimal, 0.75);
  EXPECT_GT(accepted(dragonfly, routed("ugal", 4), uniform), 0.85 * minimal);
  EXPECT_LT(accepted(dragonfly, routed("valiant", 4), uniform), 0.55);
}

// E. Zahavi, 2010: no shift of all nodes meets itself on a full fat tree with d_mod_k.
TEST(PacketSaturation, AShiftOnAFatTreeIsNotBlocked)
{
  EXPECT_GT(accepted("fat_tree:down=4x4,up=1x4,cables=1x1", routed("static"), patterns::shift(16, 5)), 0.97);
}

// All to one: each has its part of that one's cable.
TEST(PacketSaturation, AHotSpotHasOneCable)
{
  const double load = accepted("fat_tree:down=4x4,up=1x4,cables=1x1", routed("static"), patterns::hot_spot());
  EXPECT_NEAR(load, 1.0 / 16, 0.001);
}

// Below saturation all is accepted, whatever the way.
TEST(PacketSaturation, HalfOfItIsAccepted)
{
  for (const char* routing : {"static", "ugal"})
    EXPECT_NEAR(accepted(dragonfly, routed(routing), patterns::uniform(72), 0.4), 0.4, 0.01) << routing;
}

} // namespace
} // namespace umwelt::net
