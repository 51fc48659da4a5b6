// SPDX-License-Identifier: LGPL-2.1-or-later
// The launcher's side of PMI-1. What clients expect: MPICH, src/pmi/simple/simple_pmi.c; FACTS of the wire protocol in
// "PMI: A Scalable Parallel Process-Management Interface for Extreme-Scale Systems" (Balaji et al., EuroMPI 2010).
#include <gtest/gtest.h>

#include "runtime/bootstrap/pmi.h"

namespace umwelt::bootstrap
{
namespace
{

class PmiTest : public testing::Test
{
protected:
  std::string ask(const std::string& line) { return session.receive(line + "\n").answer; }

  void SetUp() override { spaces["kvs_job"]; }

  Spaces spaces{4};
  PmiSession session{{"kvs_job", 4, 1}, spaces};
};

TEST_F(PmiTest, InitAcceptsVersionOne)
{
  EXPECT_EQ(ask("cmd=init pmi_version=1 pmi_subversion=1"),
            "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n");
  EXPECT_EQ(ask("cmd=init pmi_version=1 pmi_subversion=0"),
            "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n");
}

TEST_F(PmiTest, InitRefusesVersionTwo)
{
  EXPECT_EQ(ask("cmd=init pmi_version=2 pmi_subversion=0"),
            "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=-1\n");
  EXPECT_EQ(ask("cmd=init"), "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=-1\n");
}

TEST_F(PmiTest, TellsWhatTheJobIs)
{
  EXPECT_EQ(ask("cmd=get_maxes"), "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024\n");
  EXPECT_EQ(ask("cmd=get_appnum"), "cmd=appnum appnum=1\n");
  EXPECT_EQ(ask("cmd=get_universe_size"), "cmd=universe_size size=4\n");
  EXPECT_EQ(ask("cmd=get_my_kvsname"), "cmd=my_kvsname kvsname=kvs_job\n");
}

TEST_F(PmiTest, AnotherRankGetsWhatOnePut)
{
  EXPECT_EQ(ask("cmd=put kvsname=kvs_job key=a value=b=c"), "cmd=put_result rc=0 msg=success\n");
  PmiSession other({"kvs_job", 4, 0}, spaces);
  EXPECT_EQ(other.receive("cmd=get kvsname=kvs_job key=a\n").answer, "cmd=get_result rc=0 msg=success value=b=c\n");
}

TEST_F(PmiTest, GetSaysWhatIsMissing)
{
  EXPECT_EQ(ask("cmd=get kvsname=kvs_job key=a"), "cmd=get_result rc=-1 msg=key_a_not_found value=unknown\n");
  EXPECT_EQ(ask("cmd=put kvsname=kvs_job key=a value=b"), "cmd=put_result rc=0 msg=success\n");
  EXPECT_EQ(ask("cmd=get kvsname=other key=a"), "cmd=get_result rc=-1 msg=key_a_not_found value=unknown\n");
}

TEST_F(PmiTest, PutRefusesWhatIsThereTooLongOrElsewhere)
{
  EXPECT_EQ(ask("cmd=put kvsname=kvs_job key=a value=b"), "cmd=put_result rc=0 msg=success\n");
  EXPECT_EQ(ask("cmd=put kvsname=kvs_job key=a value=c"), "cmd=put_result rc=-1 msg=duplicate_key\n");
  EXPECT_EQ(ask("cmd=put kvsname=other key=x value=c"), "cmd=put_result rc=-1 msg=unknown_kvsname\n");
  EXPECT_EQ(ask("cmd=put kvsname=kvs_job value=c"), "cmd=put_result rc=-1 msg=key_of_0_bytes_expected_1_to_64\n");
  EXPECT_EQ(ask("cmd=put kvsname=kvs_job key=" + std::string(65, 'k') + " value=c"),
            "cmd=put_result rc=-1 msg=key_of_65_bytes_expected_1_to_64\n");
  EXPECT_EQ(ask("cmd=put kvsname=kvs_job key=y value=" + std::string(1025, 'v')),
            "cmd=put_result rc=-1 msg=value_of_1025_bytes_expected_at_most_1024\n");
}

TEST_F(PmiTest, TheLongestValueFits)
{
  const std::string value(value_max, 'v');
  EXPECT_EQ(ask("cmd=put kvsname=kvs_job key=" + std::string(key_max, 'k') + " value=" + value),
            "cmd=put_result rc=0 msg=success\n");
  EXPECT_EQ(ask("cmd=get kvsname=kvs_job key=" + std::string(key_max, 'k')),
            "cmd=get_result rc=0 msg=success value=" + value + "\n");
}

TEST_F(PmiTest, KeysAreListedInOrder)
{
  EXPECT_EQ(ask("cmd=put kvsname=kvs_job key=b value=2"), "cmd=put_result rc=0 msg=success\n");
  EXPECT_EQ(ask("cmd=put kvsname=kvs_job key=a value=1"), "cmd=put_result rc=0 msg=success\n");
  EXPECT_EQ(ask("cmd=getbyidx kvsname=kvs_job idx=0"), "cmd=getbyidx_results rc=0 nextidx=1 key=b val=2\n");
  EXPECT_EQ(ask("cmd=getbyidx kvsname=kvs_job idx=1"), "cmd=getbyidx_results rc=0 nextidx=2 key=a val=1\n");
  for (const char* index : {"2", "-1", "99999999999999999999", "x", ""})
    EXPECT_EQ(ask(std::string("cmd=getbyidx kvsname=kvs_job idx=") + index),
              "cmd=getbyidx_results rc=-2 reason=no_more_keyvals\n");
}

TEST_F(PmiTest, BarrierIsAnsweredWhenEverybodyHasArrived)
{
  const auto reply = session.receive("cmd=barrier_in\n");
  EXPECT_TRUE(reply.barrier);
  EXPECT_EQ(reply.answer, "");
  EXPECT_TRUE(session.in_barrier());
  EXPECT_EQ(session.barrier_out(), "cmd=barrier_out rc=0\n");
  EXPECT_FALSE(session.in_barrier());
}

TEST_F(PmiTest, ASecondBarrierInsideTheFirstIsAMistake)
{
  EXPECT_TRUE(session.receive("cmd=barrier_in\n").barrier);
  const auto reply = session.receive("cmd=barrier_in\n");
  EXPECT_FALSE(reply.barrier);
  EXPECT_EQ(reply.complaint, "PMI request \"cmd=barrier_in\" is not one of PMI version 1");
}

TEST_F(PmiTest, AbortCarriesItsExitCode)
{
  EXPECT_EQ(session.receive("cmd=abort exitcode=7\n").abort, 7);
  EXPECT_EQ(session.receive("cmd=abort exitcode=\n").abort, 1);
  EXPECT_EQ(session.receive("cmd=abort\ncmd=get_appnum\n").answer, "") << "nothing is served after it";
}

TEST_F(PmiTest, FinalizeIsAcknowledged)
{
  EXPECT_EQ(ask("cmd=finalize"), "cmd=finalize_ack rc=0\n");
}

TEST_F(PmiTest, WhatASimulationHasNotGotIsRefused)
{
  EXPECT_EQ(ask("mcmd=spawn\nnprocs=2\nexecname=a\nendcmd"), "cmd=spawn_result rc=-1 msg=spawn_is_not_supported\n");
  EXPECT_EQ(ask("cmd=get_appnum"), "cmd=appnum appnum=1\n") << "and the conversation goes on";
}

TEST_F(PmiTest, PublishedNamesAreFoundUntilTheyAreWithdrawn)
{
  PmiSession other({"kvs_job", 4, 0}, spaces);
  EXPECT_EQ(ask("cmd=lookup_name service=a"), "cmd=lookup_result rc=1 msg=service_not_found\n");
  EXPECT_EQ(ask("cmd=unpublish_name service=a"), "cmd=unpublish_result info=ok rc=1 msg=service_not_found\n");
  EXPECT_EQ(ask("cmd=publish_name service=a port=b"), "cmd=publish_result info=ok rc=0 msg=success\n");
  EXPECT_EQ(ask("cmd=publish_name service=a port=c"), "cmd=publish_result info=ok rc=1 msg=key_already_present\n");
  EXPECT_EQ(ask("cmd=publish_name service=d"), "cmd=publish_result info=ok rc=1 msg=service_and_port_expected\n");
  EXPECT_EQ(other.receive("cmd=lookup_name service=a\n").answer, "cmd=lookup_result port=b info=ok rc=0 msg=success\n");
  EXPECT_EQ(other.receive("cmd=unpublish_name service=a\n").answer, "cmd=unpublish_result info=ok rc=0 msg=success\n");
  EXPECT_EQ(ask("cmd=lookup_name service=a"), "cmd=lookup_result rc=1 msg=service_not_found\n");
}

TEST_F(PmiTest, OnlyKeyValueSpacesAreSpacesOfPmi)
{
  spaces["names"].add("a", "b");
  spaces["kvs_other"].add("a", "c");
  EXPECT_EQ(ask("cmd=get kvsname=names key=a"), "cmd=get_result rc=-1 msg=key_a_not_found value=unknown\n");
  EXPECT_EQ(ask("cmd=get kvsname=kvs_other key=a"), "cmd=get_result rc=0 msg=success value=c\n");
}

TEST_F(PmiTest, BytesMayComeInAnyPieces)
{
  const std::string requests = "cmd=get_appnum\ncmd=get_universe_size\n";
  std::string answers;
  for (const char c : requests)
    answers += session.receive({&c, 1}).answer;
  EXPECT_EQ(answers, "cmd=appnum appnum=1\ncmd=universe_size size=4\n");
  EXPECT_EQ(session.receive(requests).answer, answers);
}

TEST_F(PmiTest, BlanksDoNotMatter)
{
  EXPECT_EQ(ask(" \t cmd=get_appnum  \r"), "cmd=appnum appnum=1\n");
}

TEST_F(PmiTest, UnknownLinesAreRefusedAndNamed)
{
  const auto reply = session.receive("cmd=dance\n");
  EXPECT_EQ(reply.answer, "cmd=unknown rc=-1 msg=unknown_command\n");
  EXPECT_EQ(reply.complaint, "PMI request \"cmd=dance\" is not one of PMI version 1");
  EXPECT_EQ(session.receive("\n").answer, "cmd=unknown rc=-1 msg=unknown_command\n");
  EXPECT_EQ(session.receive(std::string("\x01\0=\xff\n", 5)).complaint, "PMI request \"?"
                                                                        "?=?\" is not one of PMI version 1");
}

TEST_F(PmiTest, ALineWithoutEndBreaksTheConnection)
{
  auto reply = session.receive(std::string(longest_line, 'x'));
  EXPECT_FALSE(reply.broken);
  reply = session.receive("x");
  EXPECT_TRUE(reply.broken);
  EXPECT_EQ(reply.complaint, "PMI request of more than 4096 bytes, it begins \"" + std::string(60, 'x') + "...\"");
}

TEST(ProcessMappingTest, NamesBlocksOfEqualNodes)
{
  EXPECT_EQ(process_mapping({0}), "(vector,(0,1,1))");
  EXPECT_EQ(process_mapping({0, 1, 2}), "(vector,(0,3,1))");
  EXPECT_EQ(process_mapping({0, 0, 1, 1}), "(vector,(0,2,2))");
  EXPECT_EQ(process_mapping({0, 0, 1}), "(vector,(0,1,2),(1,1,1))");
  EXPECT_EQ(process_mapping({0, 1, 0, 1}), "(vector,(0,2,1),(0,2,1))");
}

} // namespace
} // namespace umwelt::bootstrap
