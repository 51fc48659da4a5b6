// SPDX-License-Identifier: LGPL-2.1-or-later
// Netzones of every kind SimGrid has, in XML and by its C++ API: the same links and latencies as SimGrid's own answer,
// or a refusal with the reason.
#include <algorithm>
#include <cstdlib>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/platforms/scratch.h"
#include "tests/platforms/simgrid_answer.h"

namespace umwelt::platform
{
namespace
{

using testing::HasSubstr;

std::string write(const std::string& inside)
{
  static const Scratch scratch;
  std::string path = scratch.path / "netzone.xml";
  std::ofstream(path) << "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
                         "<platform version=\"4.1\">\n"
                      << inside << "\n</platform>\n";
  return path;
}

std::string chain(const std::string& routing, const std::string& more = "")
{
  return "<zone id='z' routing='" + routing + R"('>
    <host id="a" speed="1Gf"/><host id="b" speed="1Gf"/><host id="c" speed="1Gf"/>
    <link id="first" bandwidth="1GBps" latency="1us"/>
    <link id="second" bandwidth="2GBps" latency="3us" sharing_policy="SPLITDUPLEX"/>
    <route src="a" dst="b"><link_ctn id="first"/></route>
    <route src="b" dst="c"><link_ctn id="second" direction="UP"/></route>)" +
         more + "</zone>";
}

// In a zone: 4.0 crashes when a cluster with a topology is the outermost one.
std::string cluster(const std::string& shape)
{
  return "<zone id='z' routing='Full'>"
         "<cluster id='c' prefix='n' suffix='' radical='0-7' speed='1Gf' bw='1GBps' lat='2us' " +
         shape + "/></zone>";
}

struct Kind {
  const char* name;
  std::string xml;
  std::size_t pairs; // each direction counted
};

const std::vector<Kind> kinds{
    {"Full",
     chain("Full", R"(<route src="a" dst="c"><link_ctn id="first"/><link_ctn id="second" direction="UP"/></route>)"),
     6},
    {"Floyd", chain("Floyd"), 6},
    {"Dijkstra", chain("Dijkstra"), 6},
    {"DijkstraCache", chain("DijkstraCache"), 6},
    {"Cluster", R"(<zone id="z" routing="Cluster">
      <host id="a" speed="1Gf"/><host id="b" speed="1Gf"/>
      <link id="au" bandwidth="1GBps" latency="1us"/><link id="ad" bandwidth="1GBps" latency="2us"/>
      <link id="bu" bandwidth="2GBps" latency="3us"/><link id="bd" bandwidth="2GBps" latency="4us"/>
      <backbone id="middle" bandwidth="9GBps" latency="5us"/>
      <host_link id="a" up="au" down="ad"/><host_link id="b" up="bu" down="bd"/></zone>)",
     2},
    {"FlatCluster", cluster("bb_bw='5GBps' bb_lat='1us' sharing_policy='SPLITDUPLEX'"), 56},
    {"TorusCluster", cluster("topology='TORUS' topo_parameters='4,2'"), 56},
    {"FatTreeCluster", cluster("topology='FAT_TREE' topo_parameters='2;4,2;1,2;1,1'"), 56},
    {"DragonflyCluster", cluster("topology='DRAGONFLY' topo_parameters='2,1;2,1;2,1;1'"), 56},
    {"VivaldiWithoutDistance", R"(<zone id="z" routing="Vivaldi">
      <peer id="a" coordinates="0 0 0" speed="1Gf" bw_in="1GBps" bw_out="2GBps"/>
      <peer id="b" coordinates="0 0 0" speed="1Gf" bw_in="3GBps" bw_out="4GBps"/></zone>)",
     2},
    {"NoneWithOneHost", R"(<zone id="z" routing="Full">
      <zone id="x" routing="None"><host id="a" speed="1Gf"/></zone>
      <zone id="y" routing="None"><host id="b" speed="1Gf"/></zone>
      <link id="between" bandwidth="1GBps" latency="1us"/>
      <zoneRoute src="x" dst="y" gw_src="a" gw_dst="b"><link_ctn id="between"/></zoneRoute></zone>)",
     2},
    {"BypassInZones", R"(<zone id="z" routing="Full">
      <zone id="x" routing="Full"><host id="a" speed="1Gf"/></zone>
      <zone id="y" routing="Full"><host id="b" speed="1Gf"/></zone>
      <link id="between" bandwidth="1GBps" latency="1us"/><link id="past" bandwidth="1GBps" latency="7us"/>
      <zoneRoute src="x" dst="y" gw_src="a" gw_dst="b"><link_ctn id="between"/></zoneRoute>
      <bypassZoneRoute src="x" dst="y" gw_src="a" gw_dst="b"><link_ctn id="past"/></bypassZoneRoute></zone>)",
     2},
};

class XmlZone : public testing::TestWithParam<Kind>
{
};

TEST_P(XmlZone, HasSimGridsRoutes)
{
  const std::string path = write(GetParam().xml);
  const std::string theirs = simgrid_answers(path);
  EXPECT_EQ(static_cast<std::size_t>(std::count(theirs.begin(), theirs.end(), '\n')), GetParam().pairs) << theirs;
  EXPECT_EQ(our_answers(path), theirs);
}

INSTANTIATE_TEST_SUITE_P(Kinds, XmlZone, testing::ValuesIn(kinds),
                         [](const auto& kind) { return std::string(kind.param.name); });

TEST(XmlZoneRefused, Vivaldi)
{
  EXPECT_THAT(refusal(write(R"(<zone id="z" routing="Vivaldi">
      <peer id="a" coordinates="3 4 0" speed="1Gf" bw_in="1GBps" bw_out="2GBps"/>
      <peer id="b" coordinates="0 0 0" speed="1Gf" bw_in="3GBps" bw_out="4GBps"/></zone>)")),
              HasSubstr("0.005 s of which belong to no link but to coordinates (Vivaldi)"));
}

TEST(XmlZoneRefused, Wifi)
{
  EXPECT_THAT(refusal(write(R"(<zone id="z" routing="Wifi"><prop id="access_point" value="ap"/>
      <host id="a" speed="1Gf"/><host id="b" speed="1Gf"/><router id="ap"/>
      <link id="air" sharing_policy="WIFI" bandwidth="54Mbps,36Mbps" latency="0ms"/></zone>)")),
              HasSubstr("link 'air' of a Wi-Fi zone"));
}

TEST(XmlZoneRefused, NoneWithTwoHosts)
{
  EXPECT_THAT(refusal(write(R"(<zone id="z" routing="None"><host id="a" speed="1Gf"/><host id="b" speed="1Gf"/>
      </zone>)")),
              HasSubstr("it has no route from host 'a' to host 'b'"));
}

TEST(XmlZoneRefused, NotFromTheFirstHostEither)
{
  EXPECT_THAT(
      refusal(write(chain("Full", R"(<route src="a" dst="c" symmetrical="NO"><link_ctn id="first"/></route>)"))),
      HasSubstr("it has no route from host 'c' to host 'a'"));
}

const std::string machine = UMWELT_MACHINES "/machine.so";

class CodedZone : public testing::TestWithParam<const char*>
{
};

TEST_P(CodedZone, HasSimGridsRoutes)
{
  setenv("MACHINE", GetParam(), 1);
  const std::string theirs = simgrid_answers(machine);
  EXPECT_GE(std::count(theirs.begin(), theirs.end(), '\n'), 6) << theirs;
  EXPECT_EQ(our_answers(machine), theirs);
}

INSTANTIATE_TEST_SUITE_P(Kinds, CodedZone,
                         testing::Values("full", "floyd", "dijkstra", "dijkstra_cache", "star", "vivaldi", "torus",
                                         "fat_tree", "dragonfly"));

TEST(CodedZoneRefused, WithTheReason)
{
  const auto refused = [](const char* kind) {
    setenv("MACHINE", kind, 1);
    return refusal(machine);
  };
  EXPECT_THAT(refused("vivaldi_apart"), HasSubstr("belong to no link but to coordinates (Vivaldi)"));
  EXPECT_THAT(refused("wifi"), HasSubstr("link 'air' of a Wi-Fi zone"));
  EXPECT_THAT(refused("empty"), HasSubstr("it has no route from host 'a' to host 'b'"));
  EXPECT_THAT(refused("nonlinear"), HasSubstr("' with a bandwidth that depends on how many use it"));
  setenv("MACHINE", "empty_alone", 1);
  EXPECT_EQ(make_platform({.spec = machine})->node_count(), 1U);
}

} // namespace
} // namespace umwelt::platform
