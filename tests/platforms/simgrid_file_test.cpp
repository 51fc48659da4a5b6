// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "platforms/platform.h"
#include "tests/platforms/scratch.h"

namespace umwelt::platform
{
namespace
{

class Xml : public testing::Test
{
protected:
  std::string file(const std::string& text)
  {
    const std::string path = scratch_.path / "platform.xml";
    std::ofstream(path) << text;
    return path;
  }
  std::string platform(const std::string& inside)
  {
    return file("<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
                "<platform version=\"4.1\">\n<zone id=\"zone\" routing=\"Full\">\n" +
                inside + "\n</zone>\n</platform>\n");
  }
  static std::string message(const std::string& path)
  {
    try {
      make_platform({.spec = path});
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "no error";
  }

  const std::string two_hosts_ = R"(
    <host id="node10" speed="1Gf" core="4"><prop id="cpu:speed" value="0.5"/></host>
    <host id="node9" speed="1Gf"/>
    <link id="cable" bandwidth="10GBps" latency="1us" sharing_policy="SPLITDUPLEX"/>)";
  const std::string route_ = R"(<route src="node10" dst="node9"><link_ctn id="cable" direction="UP"/></route>)";

private:
  const Scratch scratch_;
};

TEST_F(Xml, NodesAreInNaturalOrder)
{
  const auto loaded = make_platform({.spec = platform(two_hosts_ + route_), .nodes = 1});
  ASSERT_EQ(loaded->node_count(), 2U);
  EXPECT_EQ(loaded->node(0).name, "node9");
  EXPECT_EQ(loaded->node(1).name, "node10");
  EXPECT_EQ(loaded->node(1).cores, 4U);
  EXPECT_DOUBLE_EQ(loaded->node(1).speed, 0.5);
  EXPECT_DOUBLE_EQ(loaded->node(0).speed, 1.0);
}

TEST_F(Xml, RoutesComeFromTheFile)
{
  const auto loaded = make_platform({.spec = platform(two_hosts_ + route_)});
  const Route& route = loaded->route(0, 1);
  ASSERT_EQ(route.links.size(), 1U);
  EXPECT_EQ(route.latency, sim::microsecond);
  EXPECT_DOUBLE_EQ(route.bandwidth, 10e9);
  EXPECT_NE(route.links, loaded->route(1, 0).links); // split duplex
}

TEST_F(Xml, NicPropertiesOfZonesAndHosts)
{
  const auto loaded = make_platform({.spec = platform(R"(<prop id="nic:issue" value="7ns"/>)" + two_hosts_ + route_)});
  EXPECT_EQ(loaded->nic_properties().at("issue"), "7ns");
}

TEST_F(Xml, CoresOfTheRequestWin)
{
  EXPECT_EQ(make_platform({.spec = platform(two_hosts_ + route_), .nodes = 1, .cores = 2})->node(1).cores, 2U);
}

TEST_F(Xml, SocketsAndMemoryOfAHost)
{
  const auto hosts = [](const std::string& property) {
    return R"(<host id="a" speed="1Gf" core="4">)" + property + "</host>";
  };
  const auto told = make_platform(
      {.spec = platform(hosts(R"(<prop id="sockets" value="2"/><prop id="memory" value="1GiB"/>)")), .nodes = 1});
  EXPECT_EQ(told->node(0).sockets, 2U);
  EXPECT_EQ(told->node(0).memory, 1UL << 30);
}

TEST_F(Xml, SocketsAndMemoryThatCannotBe)
{
  const auto hosts = [](const std::string& property) {
    return R"(<host id="a" speed="1Gf" core="4">)" + property + "</host>";
  };
  EXPECT_THAT(message(platform(hosts(R"(<prop id="memory" value="much"/>)"))),
              testing::HasSubstr("property memory of host 'a' is 'much' instead of a size"));
  EXPECT_THAT(message(platform(hosts(R"(<prop id="sockets" value="0"/>)"))),
              testing::HasSubstr("parameter sockets: expected 1 to 64, got 0"));
}

TEST_F(Xml, AMissingFile)
{
  EXPECT_EQ(message("/nowhere/platform.xml"), "platform file '/nowhere/platform.xml': expected a readable SimGrid "
                                              "platform, XML or a shared object: No such file or directory. Check the "
                                              "path; `umwelt platforms` lists the ready platforms.");
}

TEST_F(Xml, ADirectory)
{
  EXPECT_THAT(message("/"), testing::HasSubstr("got something that is not a file"));
}

TEST_F(Xml, NotXml)
{
  const std::string path = file("hello");
  EXPECT_EQ(message(path),
            "platform file '" + path + "': expected a SimGrid platform (XML, version 4.1), got: Parse error at " +
                path +
                ":1: Invalid XML (XML input line 1, state 1): Unexpected character `h' in prolog. Correct the "
                "file.");
}

TEST_F(Xml, AnEmptyFile)
{
  EXPECT_THAT(message(file("")), testing::HasSubstr("EOF in prolog"));
}

TEST_F(Xml, AnUnknownElement)
{
  EXPECT_THAT(message(platform(two_hosts_ + "<linkk id=\"x\"/>")), testing::HasSubstr(":8: Invalid XML"));
}

TEST_F(Xml, AnUnknownUnit)
{
  EXPECT_THAT(message(platform(R"(<link id="l" bandwidth="10GBps" latency="1zz"/>)")),
              testing::HasSubstr("unknown unit: zz"));
}

TEST_F(Xml, ARouteToNowhere)
{
  EXPECT_THAT(
      message(platform(two_hosts_ + R"(<route src="node9" dst="nope"><link_ctn id="cable" direction="UP"/></route>)")),
      testing::HasSubstr("nope"));
}

TEST_F(Xml, NoRouteBetweenHosts)
{
  EXPECT_THAT(message(platform(two_hosts_)),
              testing::HasSubstr("got: it has no route from host 'node10' to host 'node9'"));
}

TEST_F(Xml, NoHosts)
{
  EXPECT_THAT(message(platform("")), testing::HasSubstr("it has no host"));
}

TEST_F(Xml, ABadCpuSpeed)
{
  const std::string hosts = R"(<host id="a" speed="1Gf"><prop id="cpu:speed" value="fast"/></host>)";
  EXPECT_THAT(message(platform(hosts)),
              testing::HasSubstr("property cpu:speed of host 'a' is 'fast' instead of a number above 0"));
}

TEST_F(Xml, AFailureLeavesTheProcessReadyForAnotherPlatform)
{
  EXPECT_NE(message(file("hello")), "no error");
  EXPECT_NE(message(platform(R"(<host id="a" speed="1Gf"><prop id="cpu:speed" value="fast"/></host>)")), "no error");
  EXPECT_EQ(make_platform({.spec = platform(two_hosts_ + route_)})->node_count(), 2U);
}

} // namespace
} // namespace umwelt::platform
