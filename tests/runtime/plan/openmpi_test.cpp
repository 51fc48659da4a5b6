// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/plan/openmpi.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runtime/cli/support.h"

namespace umwelt::plan
{
namespace
{
namespace test = cli::test;

using testing::ElementsAre;
using testing::Pair;

// An installation of Open MPI as Debian lays it out, and a home.
class OpenMpi : public testing::Test
{
protected:
  OpenMpi()
  {
    request.library = directory.write("lib/libmpi.so.40", "");
    directory.write("lib/openmpi/lib/openmpi3/mca_pml_ob1.so", "");
    directory.write("home/.bashrc", "");
    request.components = "/umwelt/components";
    set_environment({});
  }

  void set_environment(std::map<std::string, std::string> variables)
  {
    variables.emplace("HOME", (directory.path() / "home").string());
    request.environment = test::environment(std::move(variables));
  }

  std::map<std::string, std::string> variables() const
  {
    const auto list = set_up_open_mpi(request).variables;
    std::map<std::string, std::string> result;
    for (const auto& [name, value] : list)
      EXPECT_TRUE(result.emplace(name, value).second) << name << " is set twice";
    return result;
  }

  std::string system_directory() const { return (directory.path() / "lib/openmpi/lib/openmpi3").string(); }

  test::TemporaryDirectory directory;
  OpenMpiRequest request;
};

TEST(IsOpenMpi, LooksForItsLibraries)
{
  EXPECT_TRUE(is_open_mpi(std::vector<std::string>{"libc.so.6", "libmpi.so.40"}));
  EXPECT_TRUE(is_open_mpi(std::vector<std::string>{"liboshmem.so.40"}));
  EXPECT_FALSE(is_open_mpi(std::vector<std::string>{"libc.so.6", "libmpich.so.12"}));
}

TEST_F(OpenMpi, DefaultsToOb1OverPortals)
{
  EXPECT_THAT(
      variables(),
      ElementsAre(Pair("OMPI_MCA_btl", "portals4,vader,self"), Pair("OMPI_MCA_btl_portals4_eq_recv_size", "32768"),
                  Pair("OMPI_MCA_btl_portals4_free_list_max_num", "4000"),
                  Pair("OMPI_MCA_btl_portals4_max_send_size", "32768"), Pair("OMPI_MCA_btl_portals4_recv_md_num", "4"),
                  Pair("OMPI_MCA_btl_portals4_recv_md_size", "3670016"), Pair("OMPI_MCA_coll", "^portals4"),
                  Pair("OMPI_MCA_mca_base_component_path", "/umwelt/components:" + system_directory()),
                  Pair("OMPI_MCA_osc", "^ucx,portals4,rdma"), Pair("OMPI_MCA_pml", "ob1")));
}

TEST_F(OpenMpi, ReceiveBlocksOfManyRanksAreSmaller)
{
  request.ranks = 1024;
  EXPECT_EQ(variables().at("OMPI_MCA_btl_portals4_recv_md_size"), "524288");
  request.ranks = 100'000;
  EXPECT_EQ(variables().at("OMPI_MCA_btl_portals4_recv_md_size"), "262144");
}

TEST_F(OpenMpi, ManyRanksOfANodeOverVaderAreTold)
{
  request.most_of_node = 32;
  EXPECT_THAT(set_up_open_mpi(request).notes, ::testing::ElementsAre(::testing::HasSubstr("--mca btl portals4,self")));
  request.mca = {{"btl", "portals4,self"}};
  EXPECT_THAT(set_up_open_mpi(request).notes, ::testing::IsEmpty());
}

TEST_F(OpenMpi, PmlCmGetsThePortalsMtl)
{
  request.mca = {{"pml", "cm"}};
  const auto set = variables();
  EXPECT_EQ(set.at("OMPI_MCA_pml"), "cm");
  EXPECT_EQ(set.at("OMPI_MCA_mtl"), "portals4");
  EXPECT_EQ(set.at("OMPI_MCA_btl"), "portals4,self");
}

TEST_F(OpenMpi, PmlFromTheEnvironmentIsKept)
{
  set_environment({{"OMPI_MCA_pml", "cm"}});
  const auto set = variables();
  EXPECT_FALSE(set.contains("OMPI_MCA_pml"));
  EXPECT_EQ(set.at("OMPI_MCA_mtl"), "portals4");
}

TEST_F(OpenMpi, AVariableExportedToTheProgramCountsAsEnvironment)
{
  request.exports = {{"OMPI_MCA_btl", "portals4,self,vader"}};
  EXPECT_FALSE(variables().contains("OMPI_MCA_btl"));
}

TEST_F(OpenMpi, TheUsersParameterFileIsRespected)
{
  directory.write("home/.openmpi/mca-params.conf", "# mine\n btl = portals4,self,tcp \n");
  EXPECT_FALSE(variables().contains("OMPI_MCA_btl"));
}

TEST_F(OpenMpi, AnExcludedCmIsNotChosen)
{
  request.mca = {{"pml", "^cm"}};
  EXPECT_FALSE(variables().contains("OMPI_MCA_mtl"));
}

TEST_F(OpenMpi, CollectivesOnTheNicAreLeftOutUnlessAskedFor)
{
  request.mca = {{"coll_portals4_priority", "100"}};
  EXPECT_FALSE(variables().contains("OMPI_MCA_coll"));
  EXPECT_EQ(variables().at("OMPI_MCA_coll_portals4_priority"), "100");
}

TEST_F(OpenMpi, CollectivesOnTheNicComeLastWhereTheUserChoosesComponents)
{
  request.mca = {{"coll", "^sm"}};
  EXPECT_EQ(variables().at("OMPI_MCA_coll"), "^sm");
  EXPECT_EQ(variables().at("OMPI_MCA_coll_portals4_priority"), "10");
}

TEST_F(OpenMpi, CollectivesOnTheNicComeLastWhereNothingElseLooksAtPortals)
{
  request.mca = {{"pml", "ob1"}, {"btl", "tcp,self"}};
  EXPECT_FALSE(variables().contains("OMPI_MCA_coll"));
  EXPECT_EQ(variables().at("OMPI_MCA_coll_portals4_priority"), "10");
}

TEST_F(OpenMpi, OtherParametersPassThrough)
{
  request.mca = {{"coll_tuned_use_dynamic_rules", "1"}};
  EXPECT_EQ(variables().at("OMPI_MCA_coll_tuned_use_dynamic_rules"), "1");
}

TEST_F(OpenMpi, TheUsersComponentPathStaysBehindUmwelts)
{
  request.mca = {{"mca_base_component_path", "/mine"}};
  EXPECT_EQ(variables().at("OMPI_MCA_mca_base_component_path"), "/umwelt/components:/mine");
}

TEST_F(OpenMpi, ComponentsInTheHomeStayOnThePath)
{
  directory.write("home/.openmpi/components/mca_btl_mine.so", "");
  EXPECT_EQ(variables().at("OMPI_MCA_mca_base_component_path"),
            "/umwelt/components:" + system_directory() + ":" +
                (directory.path() / "home/.openmpi/components").string());
}

TEST_F(OpenMpi, ALinkToTheLibraryIsFollowed)
{
  std::filesystem::create_directory(directory.path() / "elsewhere");
  std::filesystem::create_symlink(request.library, directory.path() / "elsewhere/libmpi.so.40");
  request.library = directory.path() / "elsewhere/libmpi.so.40";
  EXPECT_EQ(variables().at("OMPI_MCA_mca_base_component_path"), "/umwelt/components:" + system_directory());
}

TEST_F(OpenMpi, APlainInstallationIsFoundToo)
{
  request.library = directory.write("opt/lib/libmpi.so.40", "");
  directory.write("opt/lib/openmpi/mca_pml_ob1.so", "");
  EXPECT_EQ(variables().at("OMPI_MCA_mca_base_component_path"),
            "/umwelt/components:" + (directory.path() / "opt/lib/openmpi").string());
}

TEST_F(OpenMpi, ComponentsInTheLibraryNeedNoDirectory)
{
  request.library = directory.write("static/libmpi.so.40", std::string("\0mca_pml_ob1_component\0", 23));
  EXPECT_EQ(variables().at("OMPI_MCA_mca_base_component_path"), "/umwelt/components");
}

TEST_F(OpenMpi, WithoutASlotOfItsOwnTheMtlGoesWithoutOscRdma)
{
  request.mca = {{"pml", "cm"}};
  EXPECT_EQ(variables().count("OMPI_MCA_osc"), 0U);
  directory.write("made/shares-slot", "");
  request.components = directory.path() / "made";
  EXPECT_EQ(variables().at("OMPI_MCA_osc"), "^ucx,rdma");
  request.mca.emplace_back("osc", "portals4");
  EXPECT_EQ(variables().at("OMPI_MCA_osc"), "portals4");
}

TEST_F(OpenMpi, MissingComponentsAreAnError)
{
  request.library = directory.write("bare/libmpi.so.40", "");
  const std::string bare = (directory.path() / "bare").string();
  EXPECT_EQ(test::error_of([&] { set_up_open_mpi(request); }),
            "Open MPI library " + bare + "/libmpi.so.40: expected its components below " + bare +
                "/openmpi, got no directory with mca_*.so\n"
                "  Tell where they are: --mca mca_base_component_path DIRECTORY");
}

// 5.0, of which Debian has all components in the library.
TEST_F(OpenMpi, Version5NeedsNoComponentsBesideItsLibrary)
{
  directory.write("five/libmpi.so.40.40.7", "");
  std::filesystem::create_symlink("libmpi.so.40.40.7", directory.path() / "five/libmpi.so.40");
  request.library = directory.path() / "five/libmpi.so.40";
  const auto set = variables();
  EXPECT_EQ(set.at("OMPI_MCA_mca_base_component_path"), "/umwelt/components");
  EXPECT_EQ(set.at("OMPI_MCA_btl"), "portals4,sm,self");
  EXPECT_EQ(set.at("OMPI_MCA_osc"), "^ucx,portals4");
  EXPECT_EQ(set.at("OMPI_MCA_reachable"), "weighted");
}

TEST_F(OpenMpi, IsFaultTolerantIfItCanBe)
{
  request.fault_tolerant = true;
  EXPECT_THAT(test::error_of([&] { set_up_open_mpi(request); }),
              ::testing::MatchesRegex("--with-ft ulfm: expected Open MPI 5 built with fault tolerance, got .*, an Open "
                                      "MPI before 5\n.*"));
  request.library = directory.write("without/libmpi.so.40.40.7", "");
  EXPECT_THAT(test::error_of([&] { set_up_open_mpi(request); }),
              ::testing::MatchesRegex("--with-ft ulfm: expected .*, got .*, which was built without\n.*"));
  request.library = directory.write("with/libmpi.so.40.40.7", "ompi_comm_failure_propagate");
  EXPECT_EQ(variables().at("OMPI_MCA_mpi_ft_enable"), "1");
  EXPECT_FALSE(variables().contains("OMPI_MCA_mpi_event_tick_rate"));
  request.mca = {{"btl", "tcp,self"}};
  EXPECT_EQ(variables().at("OMPI_MCA_mpi_event_tick_rate"), "1")
      << "else 400,000 looks at the clock for one at sockets";
  request.mca = {{"pml", "cm"}};
  EXPECT_THAT(
      test::error_of([&] { set_up_open_mpi(request); }),
      ::testing::StartsWith("--with-ft ulfm: expected pml ob1, the only one of Open MPI that is fault tolerant, "
                            "got --mca pml cm\n"));
  request.fault_tolerant = false;
  EXPECT_FALSE(variables().contains("OMPI_MCA_mpi_ft_enable"));
}

TEST_F(OpenMpi, ABtlListWithoutPortalsIsFine)
{
  request.mca = {{"btl", "tcp,self"}}; // over the simulated network's TCP
  EXPECT_THAT(set_up_open_mpi(request).notes, ::testing::IsEmpty());
}

TEST_F(OpenMpi, AnMtlListWithoutPortalsIsNoted)
{
  request.mca = {{"pml", "cm"}, {"mtl", "^portals4"}};
  EXPECT_THAT(set_up_open_mpi(request).notes,
              ElementsAre("mtl ^portals4 leaves portals4 out: its messages do not cross the simulated network"));
}

TEST_F(OpenMpi, AnExcludingListThatKeepsPortalsIsNotNoted)
{
  request.mca = {{"btl", "^tcp"}};
  EXPECT_TRUE(set_up_open_mpi(request).notes.empty());
}

TEST(McaOfProgram, TheProgramsOwnWinsOverGlobalAndTheFirst)
{
  const RunOptions run =
      test::parse({"--mca",  "a",   "first", "--mca", "b", "first", "--mca", "c",   "first", "--gmca", "b",
                   "global", "-np", "1",     "p",     ":", "--mca", "a",     "own", "-np",   "1",      "q"});
  EXPECT_THAT(mca_of_program(run, 1), ElementsAre(Pair("a", "own"), Pair("b", "global"), Pair("c", "first")));
}

TEST(McaFile, ReadsParametersAndSkipsTheRest)
{
  EXPECT_THAT(parse_mca_file("# c\n// d\nbtl=self\n mtl = ^ofi \nnonsense\n= x\nq = \"a b\"\nlast=1"),
              ElementsAre(Pair("btl", "self"), Pair("last", "1"), Pair("mtl", "^ofi"), Pair("q", "a b")));
}

} // namespace
} // namespace umwelt::plan
