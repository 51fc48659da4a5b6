// SPDX-License-Identifier: LGPL-2.1-or-later
// --platform FILE.so: what is taken from it, and what is refused.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/platforms/scratch.h"
#include "tests/platforms/simgrid_answer.h"

namespace umwelt::platform
{
namespace
{

using testing::AllOf;
using testing::HasSubstr;

const std::string machines = UMWELT_MACHINES;

std::string refused(const char* machine)
{
  setenv("MACHINE", machine, 1);
  return refusal(machines + "/machine.so");
}

TEST(SharedObject, MakesAMachine)
{
  setenv("MACHINE", "full", 1);
  const auto platform = make_platform({.spec = machines + "/machine.so"});
  ASSERT_EQ(platform->node_count(), 3U);
  EXPECT_EQ(platform->node(0).name, "a");
  EXPECT_EQ(platform->node(0).cores, 4U);
  EXPECT_DOUBLE_EQ(platform->node(0).speed, 2.0);
  EXPECT_EQ(platform->nic_properties().at("issue"), "7ns");
  EXPECT_EQ(platform->route(0, 2).latency, 4 * sim::microsecond);
  EXPECT_DOUBLE_EQ(platform->route(0, 2).bandwidth, 1e9);
  EXPECT_NE(platform->route(0, 1).links, platform->route(1, 0).links);
  EXPECT_TRUE(platform->outages().empty());
}

TEST(SharedObject, IsFoundWithoutASlash)
{
  setenv("MACHINE", "full", 1);
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(machines);
  EXPECT_EQ(make_platform({.spec = "machine.so"})->node_count(), 3U);
  std::filesystem::current_path(before);
}

// In processes of their own: what SimGrid has planned outlives its engine.
std::string outages(const char* machine)
{
  setenv("MACHINE", machine, 1);
  const Rehearsal rehearsal = rehearse([] {
    const auto platform = make_platform({.spec = machines + "/machine.so"});
    std::string text;
    for (const Outage& outage : platform->outages())
      text += fmt::format("{} {} {};", outage.link->get_name(), outage.from, outage.to);
    return text;
  });
  return rehearsal.problem.empty() ? rehearsal.result : rehearsal.problem;
}

TEST(SharedObject, LinksThatFailArePeriods)
{
  EXPECT_EQ(outages("fails"), "first_DOWN 1000000000 2000000000;first_UP 1000000000 2000000000;");
}

TEST(SharedObject, LinksThatAreOffAreAwayForGood)
{
  EXPECT_EQ(outages("down"), fmt::format("second_UP 0 {};", sim::never));
}

TEST(SharedObject, OfAnotherSimGrid)
{
  EXPECT_THAT(refusal(machines + "/machine_other.so"),
              AllOf(HasSubstr("machine_other.so': expected a shared object that was built against the SimGrid of this "
                              "Umwelt, libsimgrid.so."),
                    HasSubstr("got one built against libsimgrid.so.9.99. Correct and build it again.")));
  EXPECT_THAT(refusal(machines + "/machine_unlinked.so"),
              AllOf(HasSubstr("linked with SimGrid (-lsimgrid)"), HasSubstr("got one that names none")));
}

TEST(SharedObject, WithoutTheFunction)
{
  EXPECT_THAT(refusal(machines + "/machine_unnamed.so"),
              HasSubstr("expected a function load_platform(const simgrid::s4u::Engine&) in it, got a shared object "
                        "without such a function"));
  EXPECT_THAT(refusal(machines + "/machine_mangled.so"), HasSubstr("declare it extern \"C\""));
}

TEST(SharedObject, ThatIsNone)
{
  const Scratch scratch;
  const std::string path = scratch.path / "text.so";
  std::ofstream(path) << "hello";
  EXPECT_THAT(refusal(path), HasSubstr("expected a shared object (c++ -shared -fPIC), got a file that is none"));
  EXPECT_THAT(refusal("/proc/self/exe"),
              HasSubstr("expected a shared object (c++ -shared -fPIC), got an executable or"));
  EXPECT_THAT(refusal("./absent.so"), HasSubstr("expected a readable SimGrid platform"));
}

TEST(SharedObject, ThatGoesWrong)
{
  EXPECT_THAT(refused("throws"),
              HasSubstr("expected a shared object whose load_platform() makes a machine, got: no such rack. Correct"));
  EXPECT_THAT(refused("throws_oddly"), HasSubstr("got: an exception that is no std::exception"));
  EXPECT_THAT(refused("crashes"), HasSubstr("got: SimGrid crashed (Aborted)"));
  EXPECT_THAT(refused("exits"), HasSubstr("got: an end of the process, with status 0"));
  EXPECT_THAT(refused("no such machine"), HasSubstr("got: it has no host"));
  EXPECT_THAT(refused("actor"), HasSubstr("got: it starts actors of SimGrid's"));
}

TEST(SharedObject, ThatChangesWithTime)
{
  EXPECT_THAT(refused("bandwidth"),
              AllOf(HasSubstr("a profile that changes the bandwidth of link 'first_"),
                    HasSubstr("at 0.001 s, which no network model follows. Leave its bandwidth_file out, or take "
                              "--bandwidth-factor. Correct")));
  EXPECT_THAT(refused("fails_as_one"), HasSubstr("give it to get_link_up() and get_link_down()"));
}

} // namespace
} // namespace umwelt::platform
