// SPDX-License-Identifier: LGPL-2.1-or-later
// The launcher's side of PMI-1. What clients expect: MPICH, src/pmi/simple/simple_pmi.c; FACTS of the wire protocol in
// "PMI: A Scalable Parallel Process-Management Interface for Extreme-Scale Systems" (Balaji et al., EuroMPI 2010).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/bootstrap/pmi.h"

namespace umwelt::bootstrap
{
namespace
{

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string init = "cmd=init pmi_version=1 pmi_subversion=1\n";

// A conversation that has not begun.
class NewPmiTest : public testing::Test
{
protected:
  std::string ask(const std::string& line) { return session.receive(line + "\n").answer; }
  // The answer says `word`, rc=-1 and `message`, and the log is told `expected`, `got` and `next_step`.
  void expect_refused(const std::string& line, const std::string& word, const std::string& message,
                      const std::string& expected, const std::string& got, const std::string& next_step)
  {
    const auto reply = session.receive(line + "\n");
    EXPECT_THAT(reply.answer, testing::StartsWith("cmd=" + word + " "));
    EXPECT_THAT(reply.answer, HasSubstr(" rc=-1"));
    EXPECT_THAT(reply.answer, HasSubstr(message));
    EXPECT_FALSE(reply.barrier || reply.broken || reply.abort);
    EXPECT_THAT(reply.complaints, ElementsAre("PMI request \"" + line + "\": expected " + expected + ", got " + got +
                                              ". Next step: " + next_step));
  }

  void SetUp() override { spaces["kvs_job"]; }

  Spaces spaces{4};
  PmiSession session{{"kvs_job", 4, 1}, spaces};
};

class PmiTest : public NewPmiTest
{
protected:
  PmiTest() { (void)session.receive(init); }
};

TEST_F(NewPmiTest, InitAcceptsVersionOne)
{
  EXPECT_FALSE(session.open());
  EXPECT_EQ(ask("cmd=init pmi_version=1 pmi_subversion=1"),
            "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n");
  EXPECT_TRUE(session.open());
  PmiSession other({"kvs_job", 4, 1}, spaces);
  EXPECT_EQ(other.receive("cmd=init pmi_version=1 pmi_subversion=0\n").answer,
            "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n");
}

TEST_F(NewPmiTest, InitRefusesVersionTwo)
{
  for (const char* line : {"cmd=init pmi_version=2 pmi_subversion=0", "cmd=init pmi_version=1", "cmd=init"})
    expect_refused(line, "response_to_init", "pmi_version=1 pmi_subversion=1 rc=-1",
                   "pmi_version=1 and pmi_subversion 0 or 1", "another version", "build the program for PMI-1 or PMIx");
  EXPECT_FALSE(session.open());
}

TEST_F(NewPmiTest, NothingIsServedBeforeInit)
{
  const std::pair<std::string, std::string> requests[] = {{"get_maxes", "maxes"},
                                                          {"get_appnum", "appnum"},
                                                          {"get_my_kvsname", "my_kvsname"},
                                                          {"get_universe_size", "universe_size"},
                                                          {"put", "put_result"},
                                                          {"get", "get_result"},
                                                          {"getbyidx", "getbyidx_results"},
                                                          {"barrier_in", "barrier_out"},
                                                          {"finalize", "finalize_ack"}};
  for (const auto& [command, word] : requests)
    expect_refused("cmd=" + command, word, "msg=not_initialised", "cmd=init first", command,
                   "begin with cmd=init pmi_version=1 pmi_subversion=1");
  EXPECT_FALSE(session.in_barrier());
  EXPECT_THAT(session.receive(init).complaints, IsEmpty()) << "and it is not too late";
  EXPECT_EQ(ask("cmd=get_appnum"), "cmd=appnum appnum=1\n");
}

TEST_F(NewPmiTest, AbortIsServedAtAnyTime)
{
  EXPECT_EQ(session.receive("cmd=abort exitcode=3\n").abort, 3);
  PmiSession other({"kvs_job", 4, 1}, spaces);
  (void)other.receive(init + "cmd=finalize\n");
  EXPECT_EQ(other.receive("cmd=abort exitcode=4\n").abort, 4);
}

TEST_F(PmiTest, InitialisingTwiceIsAMistake)
{
  expect_refused("cmd=init pmi_version=1 pmi_subversion=1", "response_to_init", "msg=already_initialised",
                 "one cmd=init", "another", "initialise PMI once in a process");
  EXPECT_EQ(ask("cmd=get_appnum"), "cmd=appnum appnum=1\n");
}

TEST_F(PmiTest, NothingIsServedAfterFinalize)
{
  EXPECT_EQ(ask("cmd=put kvsname=kvs_job key=a value=b"), "cmd=put_result rc=0 msg=success\n");
  EXPECT_EQ(ask("cmd=finalize"), "cmd=finalize_ack rc=0\n");
  EXPECT_FALSE(session.open());
  const std::pair<std::string, std::string> requests[] = {{"init", "response_to_init"},
                                                          {"put", "put_result"},
                                                          {"get", "get_result"},
                                                          {"barrier_in", "barrier_out"},
                                                          {"finalize", "finalize_ack"}};
  for (const auto& [command, word] : requests)
    expect_refused("cmd=" + command, word, "msg=finalized", "nothing after cmd=finalize", command,
                   "finalize last, and once");
  EXPECT_FALSE(session.in_barrier());
}

TEST_F(PmiTest, WordsThatAreMissing)
{
  const std::string put = "a put is cmd=put kvsname=NAME key=KEY value=VALUE";
  const std::string name = "take the name that answers cmd=get_my_kvsname";
  expect_refused("cmd=put", "put_result", "msg=unknown_kvsname", "kvsname=kvs_job", "none", name);
  expect_refused("cmd=put key=a value=b", "put_result", "msg=unknown_kvsname", "kvsname=kvs_job", "none", name);
  expect_refused("cmd=put kvsname=kvs_job value=b", "put_result", "msg=key_of_0_bytes_expected_1_to_64",
                 "a key of 1 to 64 bytes", "none", put);
  expect_refused("cmd=put kvsname=kvs_job key value=b", "put_result", "msg=key_of_0_bytes_expected_1_to_64",
                 "a key of 1 to 64 bytes", "none", put);
  expect_refused("cmd=put kvsname=kvs_job key=a", "put_result", "msg=no_value", "value=, be it empty", "none", put);
  expect_refused("cmd=get kvsname=kvs_job", "get_result", "msg=key_of_0_bytes_expected_1_to_64 value=unknown",
                 "a key of 1 to 64 bytes", "none", "a get is cmd=get kvsname=NAME key=KEY");
  expect_refused("cmd=get", "get_result", "msg=unknown_kvsname value=unknown", "kvsname=kvs_job", "none", name);
  EXPECT_EQ(ask("cmd=put kvsname=kvs_job key=a value="), "cmd=put_result rc=0 msg=success\n") << "empty is a value";
  EXPECT_EQ(ask("cmd=get kvsname=kvs_job key=a"), "cmd=get_result rc=0 msg=success value=\n");
}

TEST_F(PmiTest, WordsThatAreTooLong)
{
  const auto told = [this](const std::string& line) {
    const auto reply = session.receive(line + "\n");
    return reply.answer + (reply.complaints.empty() ? "" : reply.complaints.front());
  };
  EXPECT_THAT(
      told("cmd=put kvsname=" + std::string(257, 'n') + " key=a value=b"),
      testing::AllOf(HasSubstr("cmd=put_result rc=-1 msg=unknown_kvsname\n"),
                     HasSubstr("expected kvsname=kvs_job, got one of 257 bytes, the longest has 256. Next step: ")));
  EXPECT_THAT(told("cmd=put kvsname=kvs_job key=" + std::string(65, 'k') + " value=c"),
              testing::AllOf(HasSubstr("cmd=put_result rc=-1 msg=key_of_65_bytes_expected_1_to_64\n"),
                             HasSubstr("got one of 65 bytes. Next step: keep to keylen_max of cmd=get_maxes")));
  EXPECT_THAT(told("cmd=get kvsname=kvs_job key=" + std::string(65, 'k')),
              testing::AllOf(HasSubstr("cmd=get_result rc=-1 msg=key_of_65_bytes_expected_1_to_64 value=unknown\n"),
                             HasSubstr("got one of 65 bytes. Next step: keep to keylen_max of cmd=get_maxes")));
  EXPECT_THAT(told("cmd=put kvsname=kvs_job key=y value=" + std::string(1025, 'v')),
              testing::AllOf(HasSubstr("cmd=put_result rc=-1 msg=value_of_1025_bytes_expected_at_most_1024\n"),
                             HasSubstr("got one of 1025 bytes. Next step: keep to vallen_max of cmd=get_maxes")));
}

TEST_F(PmiTest, TellsWhatTheJobIs)
{
  EXPECT_EQ(ask("cmd=get_maxes"), "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024\n");
  EXPECT_EQ(ask("cmd=get_appnum"), "cmd=appnum appnum=1\n");
  EXPECT_EQ(ask("cmd=get_universe_size"), "cmd=universe_size size=4\n");
  EXPECT_EQ(ask("cmd=get_my_kvsname"), "cmd=my_kvsname kvsname=kvs_job\n");
}

TEST_F(PmiTest, PublishedNamesAreFoundUntilTheyAreWithdrawn)
{
  PmiSession other({"kvs_job", 4, 0}, spaces);
  (void)other.receive(init);
  EXPECT_EQ(ask("cmd=lookup_name service=a"), "cmd=lookup_result rc=1 msg=service_not_found\n");
  EXPECT_EQ(ask("cmd=publish_name service=a port=b"), "cmd=publish_result info=ok rc=0 msg=success\n");
  EXPECT_EQ(ask("cmd=publish_name service=a port=c"), "cmd=publish_result info=ok rc=1 msg=key_already_present\n");
  EXPECT_EQ(ask("cmd=publish_name service=d"), "cmd=publish_result info=ok rc=1 msg=service_and_port_expected\n");
  EXPECT_EQ(other.receive("cmd=lookup_name service=a\n").answer, "cmd=lookup_result port=b info=ok rc=0 msg=success\n");
  EXPECT_EQ(other.receive("cmd=unpublish_name service=a\n").answer, "cmd=unpublish_result info=ok rc=0 msg=success\n");
  EXPECT_EQ(ask("cmd=unpublish_name service=a"), "cmd=unpublish_result info=ok rc=1 msg=service_not_found\n");
}

TEST_F(PmiTest, OnlyKeyValueSpacesAreSpacesOfPmi)
{
  spaces["names"].add("a", "b");
  spaces["kvs_other"].add("a", "c");
  EXPECT_EQ(ask("cmd=get kvsname=names key=a"), "cmd=get_result rc=-1 msg=unknown_kvsname value=unknown\n");
  EXPECT_EQ(ask("cmd=get kvsname=kvs_other key=a"), "cmd=get_result rc=0 msg=success value=c\n");
}

TEST_F(PmiTest, AnotherRankGetsWhatOnePut)
{
  EXPECT_EQ(ask("cmd=put kvsname=kvs_job key=a value=b=c"), "cmd=put_result rc=0 msg=success\n");
  PmiSession other({"kvs_job", 4, 0}, spaces);
  (void)other.receive(init);
  EXPECT_EQ(other.receive("cmd=get kvsname=kvs_job key=a\n").answer, "cmd=get_result rc=0 msg=success value=b=c\n");
}

TEST_F(PmiTest, GetSaysWhatIsMissing)
{
  EXPECT_EQ(ask("cmd=get kvsname=kvs_job key=a"), "cmd=get_result rc=-1 msg=key_a_not_found value=unknown\n");
  EXPECT_EQ(ask("cmd=put kvsname=kvs_job key=a value=b"), "cmd=put_result rc=0 msg=success\n");
  EXPECT_EQ(ask("cmd=get kvsname=other key=a"), "cmd=get_result rc=-1 msg=unknown_kvsname value=unknown\n");
}

TEST_F(PmiTest, PutRefusesWhatIsThere)
{
  EXPECT_EQ(ask("cmd=put kvsname=kvs_job key=a value=b"), "cmd=put_result rc=0 msg=success\n");
  EXPECT_EQ(ask("cmd=put kvsname=kvs_job key=a value=c"), "cmd=put_result rc=-1 msg=duplicate_key\n");
  EXPECT_EQ(ask("cmd=put kvsname=other key=x value=c"), "cmd=put_result rc=-1 msg=unknown_kvsname\n");
  EXPECT_EQ(ask("cmd=get kvsname=kvs_job key=a"), "cmd=get_result rc=0 msg=success value=b\n");
  EXPECT_EQ(ask("cmd=get kvsname=kvs_job key=x"), "cmd=get_result rc=-1 msg=key_x_not_found value=unknown\n");
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

TEST_F(PmiTest, ABarrierWithinABarrierIsAMistake)
{
  EXPECT_TRUE(session.receive("cmd=barrier_in\n").barrier);
  expect_refused("cmd=barrier_in", "barrier_out", "msg=in_a_barrier", "to read cmd=barrier_out first", "barrier_in",
                 "wait for the answer to cmd=barrier_in");
  expect_refused("cmd=finalize", "finalize_ack", "msg=in_a_barrier", "to read cmd=barrier_out first", "finalize",
                 "wait for the answer to cmd=barrier_in");
  EXPECT_TRUE(session.in_barrier());
  EXPECT_EQ(session.barrier_out(), "cmd=barrier_out rc=0\n");
  EXPECT_EQ(ask("cmd=finalize"), "cmd=finalize_ack rc=0\n");
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
  const std::string command = "cmd= and a command of PMI version 1";
  const std::string versions = "see what the program was built for: Umwelt speaks PMI-1 and PMIx";
  expect_refused("cmd=dance", "unknown", "msg=unknown_command", command, "dance", versions);
  expect_refused("cmd=", "unknown", "msg=unknown_command", command, "none", versions);
  expect_refused("", "unknown", "msg=unknown_command", command, "none", versions);
  expect_refused("put kvsname=kvs_job key=a value=b", "unknown", "msg=unknown_command", command, "none", versions);
  expect_refused("CMD=put", "unknown", "msg=unknown_command", command, "none", versions);
}

TEST_F(PmiTest, BytesThatAreNoTextAreShownAsQuestionMarks)
{
  const auto reply = session.receive(std::string("\x01\0=\xff\n", 5));
  EXPECT_EQ(reply.answer, "cmd=unknown rc=-1 msg=unknown_command\n");
  EXPECT_THAT(reply.complaints, ElementsAre(HasSubstr("PMI request \"?"
                                                      "?=?\": expected cmd= and")));
  EXPECT_THAT(session.receive("cmd=\x1b[31m\n").complaints, ElementsAre(HasSubstr("got ?[31m. Next step")));
  const std::string value = "\xc3\xa9\x01\xff";
  EXPECT_EQ(ask("cmd=put kvsname=kvs_job key=a value=" + value), "cmd=put_result rc=0 msg=success\n");
  EXPECT_EQ(ask("cmd=get kvsname=kvs_job key=a"), "cmd=get_result rc=0 msg=success value=" + value + "\n");
}

TEST_F(PmiTest, EveryMistakeOfALotIsTold)
{
  const auto reply = session.receive("cmd=a\ncmd=get_appnum\ncmd=b\n");
  EXPECT_EQ(reply.answer, "cmd=unknown rc=-1 msg=unknown_command\ncmd=appnum appnum=1\n"
                          "cmd=unknown rc=-1 msg=unknown_command\n");
  EXPECT_THAT(reply.complaints, ElementsAre(HasSubstr("got a."), HasSubstr("got b.")));
}

TEST_F(PmiTest, TheLogIsNotFlooded)
{
  std::vector<std::string> complaints;
  for (int i = 0; i < 100; ++i)
    for (const std::string& complaint : session.receive("cmd=dance\n").complaints)
      complaints.push_back(complaint);
  ASSERT_EQ(complaints.size(), most_complaints);
  EXPECT_THAT(complaints.back(), HasSubstr("More of this rank are not shown"));
}

TEST_F(PmiTest, TheLongestLineFits)
{
  EXPECT_EQ(ask("cmd=get_appnum" + std::string(longest_line - 14, ' ')), "cmd=appnum appnum=1\n");
}

TEST_F(PmiTest, ALineThatIsTooLongBreaksTheConnection)
{
  auto reply = session.receive(std::string(longest_line, 'x'));
  EXPECT_FALSE(reply.broken);
  reply = session.receive("x");
  EXPECT_TRUE(reply.broken);
  EXPECT_THAT(reply.complaints,
              ElementsAre("PMI request \"" + std::string(60, 'x') +
                          "...\": expected lines of at most 4096 bytes, got " +
                          "more without an end. Next step: end requests with a newline; PMI_FD is closed"));
  PmiSession other({"kvs_job", 4, 0}, spaces);
  (void)other.receive(init);
  reply = other.receive("cmd=get_appnum" + std::string(longest_line - 13, ' ') + "\n");
  EXPECT_TRUE(reply.broken) << "with a newline behind it, too";
  EXPECT_EQ(reply.answer, "");
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
