// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/tune/mpich_selection.h"

#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace umwelt::tune
{
namespace
{

using testing::ElementsAre;

// What a library holds between other things: the tree of another layer, its own, and the answers that it knows.
std::string library()
{
  const auto text = [](const std::string& s) { return s + '\0'; };
  return std::string(100, '\x01') + text("") +
         text(R"({"collective=bcast":{"comm_type=intra":{"composition=MPIDI_Bcast_alpha":{}}}})") +
         text(R"({"collective=bcast":{"comm_type=intra":{)"
              R"("comm_size<8":{"algorithm=MPIR_Bcast_intra_binomial":{}},)"
              R"("comm_size=pow2":{"avg_msg_size<=100":{"algorithm=MPIR_Bcast_intra_smp":{}},)"
              R"("avg_msg_size=any":{"algorithm=MPIR_Bcast_intra_scatter_ring_allgather":{}}},)"
              R"("comm_size=any":{"algorithm=MPIR_Bcast_allcomm_nb":{}}},)"
              R"("comm_type=inter":{"algorithm=MPIR_Bcast_inter_remote_send_local_bcast":{}}},)"
              R"("collective=allreduce":{"comm_type=intra":{"algorithm=MPIR_Allreduce_intra_smp":{}}},)"
              R"("collective=alltoall":{"comm_type=intra":{"algorithm=MPIR_Alltoall_intra_brucks":{}}},)"
              R"("collective=allgather":{"comm_type=intra":{"algorithm=MPIR_Allgather_intra_ring":{}}},)"
              R"("collective=gather":{"comm_type=intra":{"algorithm=MPIR_Gather_intra_binomial":{}}},)"
              R"("collective=exscan":{"algorithm=MPIR_Exscan_intra_recursive_doubling":{}},)"
              R"("collective=iallreduce":{"algorithm=MPIR_Iallreduce_intra_gentran_ring":{}}})") +
         text("algorithm=MPIR_Bcast_intra_binomial") + text("algorithm=MPIR_Bcast_allcomm_nb") +
         text("algorithm=MPIR_Bcast_intra_scatter_ring_allgather") + text("algorithm=MPIR_Bcast_intra_binomial") +
         text("algorithm=MPIR_Allreduce_intra_recursive_doubling") +
         text("algorithm=MPIR_Allreduce_intra_reduce_scatter_allgather") +
         text("algorithm=MPIR_Alltoall_intra_pairwise") + text("algorithm=MPIR_Allgather_intra_brucks") +
         text("algorithm=MPIR_Gather_allcomm_nb") + text("algorithm=MPIR_Exscan_allcomm_nb") + text("algorithm=");
}

MpichLibrary read()
{
  return read_mpich_library(library(), "libmpich.so");
}

Group group(const std::string& function, unsigned ranks, const std::string& small, const std::string& large)
{
  return {function,
          ranks,
          {Series{function, ranks, {1, small, 0, 0}, {{8, 10}, {64, 100}}, {}},
           Series{function, ranks, {2, large, 0, 0}, {{8, 20}, {64, 50}}, {}}}};
}

Tree selected(const Group& one)
{
  return Tree::parse(mpich_selection(read(), std::vector{one}));
}

TEST(MpichSelection, ReadsTheTreeAndTheAnswersOfALibrary)
{
  const MpichLibrary found = read();
  EXPECT_TRUE(found.tree.contains("collective=iallreduce"));
  EXPECT_THAT(found.answers.at("bcast"), ElementsAre("MPIR_Bcast_allcomm_nb", "MPIR_Bcast_intra_binomial",
                                                     "MPIR_Bcast_intra_scatter_ring_allgather"));
  EXPECT_EQ(variable_value("MPIR_Bcast_allcomm_nb"), "nb");
  EXPECT_EQ(variable_value("MPIR_Bcast_intra_scatter_ring_allgather"), "scatter_ring_allgather");
}

TEST(MpichSelection, RefusesALibraryWithoutATree)
{
  EXPECT_THROW(read_mpich_library("nothing of this", "libmpich.so"), std::runtime_error);
}

TEST(MpichSelection, AnswersOnAsManyRanksAsWereMeasuredOnly)
{
  const Tree tree = selected(group("bcast", 16, "binomial", "nb"));
  const Tree own = read().tree["collective=bcast"]["comm_type=intra"];
  const Tree& bcast = tree["collective=bcast"]["comm_type=intra"];
  std::vector<std::string> questions;
  for (const auto& [key, value] : bcast.items())
    questions.push_back(key);
  EXPECT_THAT(questions, ElementsAre("comm_size<=15", "comm_size<=16", "comm_size=any"));
  EXPECT_EQ(bcast["comm_size<=15"], own);
  EXPECT_EQ(bcast["comm_size=any"], own);
  EXPECT_EQ(bcast["comm_size<=16"].dump(), R"({"avg_msg_size<64":{"algorithm=MPIR_Bcast_intra_binomial":{}},)"
                                           R"("avg_msg_size=any":{"algorithm=MPIR_Bcast_allcomm_nb":{}}})");
  EXPECT_EQ(tree["collective=bcast"]["comm_type=inter"], read().tree["collective=bcast"]["comm_type=inter"]);
  EXPECT_EQ(tree["collective=gather"], read().tree["collective=gather"]);
}

TEST(MpichSelection, TheOwnDecisionStandsWhereItIsTheBest)
{
  const Group of_default("bcast", 16, {Series{"bcast", 16, {}, {{8, 10}}, {}}});
  const Tree tree = selected(of_default);
  EXPECT_EQ(tree["collective=bcast"]["comm_type=intra"]["comm_size<=16"].dump(),
            R"({"avg_msg_size<=100":{"algorithm=MPIR_Bcast_intra_smp":{}},)"
            R"("avg_msg_size=any":{"algorithm=MPIR_Bcast_intra_scatter_ring_allgather":{}}})");
}

TEST(MpichSelection, SizesOfBlocksAreThoseOfAllRanks)
{
  const Tree tree = selected(group("allgather", 4, "brucks", "own decision"));
  EXPECT_EQ(tree["collective=allgather"]["comm_type=intra"]["comm_size<=4"].dump(),
            R"({"total_msg_size<256":{"algorithm=MPIR_Allgather_intra_brucks":{}},)"
            R"("total_msg_size=any":{"algorithm=MPIR_Allgather_intra_ring":{}}})");
}

TEST(MpichSelection, ReductionsAreForOperationsAndCountsThatTheAlgorithmCan)
{
  const Tree tree = selected(group("allreduce", 4, "recursive_doubling", "reduce_scatter_allgather"));
  EXPECT_EQ(tree["collective=allreduce"]["comm_type=intra"]["comm_size<=4"].dump(),
            R"({"is_op_built_in=yes":{"avg_msg_size<64":{"algorithm=MPIR_Allreduce_intra_recursive_doubling":{}},)"
            R"("avg_msg_size=any":{"count<pow2":{"algorithm=MPIR_Allreduce_intra_smp":{}},)"
            R"("count=any":{"algorithm=MPIR_Allreduce_intra_reduce_scatter_allgather":{}}}},)"
            R"("is_op_built_in=no":{"algorithm=MPIR_Allreduce_intra_smp":{}}})");
}

TEST(MpichSelection, WithMpiInPlaceAnAlltoallKeepsTheOwnDecision)
{
  const Tree tree = selected({"alltoall", 4, {Series{"alltoall", 4, {1, "pairwise", 0, 0}, {{8, 10}}, {}}}});
  EXPECT_EQ(tree["collective=alltoall"]["comm_type=intra"]["comm_size<=4"].dump(),
            R"({"is_sendbuf_inplace=no":{"algorithm=MPIR_Alltoall_intra_pairwise":{}},)"
            R"("is_sendbuf_inplace=yes":{"algorithm=MPIR_Alltoall_intra_brucks":{}}})");
}

TEST(MpichSelection, SizesThatRanksMaySeeDifferentlyAreNotToldApart)
{
  const Tree tree = selected(group("gather", 4, "nb", "own decision"));
  EXPECT_EQ(tree["collective=gather"]["comm_type=intra"]["comm_size<=4"].dump(),
            R"({"algorithm=MPIR_Gather_intra_binomial":{}})");
}

TEST(MpichSelection, ScansAreNotAskedWhetherTheyAreOfOneGroup)
{
  const Tree tree = selected({"exscan", 4, {Series{"exscan", 4, {1, "nb", 0, 0}, {{8, 10}}, {}}}});
  EXPECT_EQ(tree["collective=exscan"].dump(),
            R"({"comm_size<=3":{"algorithm=MPIR_Exscan_intra_recursive_doubling":{}},)"
            R"("comm_size<=4":{"algorithm=MPIR_Exscan_allcomm_nb":{}},)"
            R"("comm_size=any":{"algorithm=MPIR_Exscan_intra_recursive_doubling":{}}})");
}

TEST(MpichSelection, NeverFillsItsLastPage)
{
  MpichLibrary padded = read();
  const std::size_t size = mpich_selection(padded, {}).size();
  const std::string more(4096 - (size + std::string(",\n \"x\": \"\"").size()) % 4096, 'y');
  padded.tree["x"] = more;
  EXPECT_NE(mpich_selection(padded, {}).size() % 4096, 0U);
}

} // namespace
} // namespace umwelt::tune
