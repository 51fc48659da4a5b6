// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/plan/hosts.h"

#include <gtest/gtest.h>
#include <random>

#include "tests/runtime/cli/support.h"

namespace umwelt::plan
{
namespace
{
namespace test = cli::test;

std::string file_error(std::string_view text)
{
  return test::error_of([&] { parse_hostfile("hosts", text); });
}

std::string list_error(std::string_view text)
{
  return test::error_of([&] { parse_host_list("--host", text); });
}

TEST(HostList, HasOneSlotUnlessGiven)
{
  const auto hosts = parse_host_list("--host", "a:2,b");
  ASSERT_EQ(hosts.size(), 2u);
  EXPECT_EQ(hosts[0].name, "a");
  EXPECT_EQ(hosts[0].slots, 2u);
  EXPECT_EQ(hosts[1].slots, 1u);
}

TEST(HostList, AStarMeansTheCoresOfTheNode)
{
  EXPECT_EQ(parse_host_list("--host", "a:*")[0].slots, 0u);
}

TEST(HostList, ARepeatedHostAddsItsSlots)
{
  const auto hosts = parse_host_list("--host", "a,b,a:2");
  ASSERT_EQ(hosts.size(), 2u);
  EXPECT_EQ(hosts[0].slots, 3u);
}

TEST(HostList, DropsTheUser)
{
  EXPECT_EQ(parse_host_list("--host", "me@a")[0].name, "a");
}

TEST(HostList, RefusesAnEmptyName)
{
  EXPECT_EQ(list_error("a,,b"), "--host: expected host names separated by commas (a:2,b), got an empty name\n"
                                "  A host is NAME or NAME:SLOTS; letters, digits, '.', '-' and '_' make a name.");
}

TEST(HostList, RefusesSlotsThatAreNoNumber)
{
  EXPECT_EQ(list_error("a:x"), "--host: slots of a: expected '*' or a number between 1 and 1000000, got 'x'\n"
                               "  Give a whole number, for example 1.");
}

TEST(Hostfile, AHostWithoutSlotsHasThoseOfItsCores)
{
  EXPECT_EQ(parse_hostfile("hosts", "a\n")[0].slots, 0u);
}

TEST(Hostfile, ReadsSlotsAndMaxSlots)
{
  const auto hosts = parse_hostfile("hosts", "a slots=2 max_slots=4\nb max-slots = 3 slots = 1");
  ASSERT_EQ(hosts.size(), 2u);
  EXPECT_EQ(hosts[0].slots, 2u);
  EXPECT_EQ(hosts[0].max_slots, 4u);
  EXPECT_EQ(hosts[1].slots, 1u);
  EXPECT_EQ(hosts[1].max_slots, 3u);
}

TEST(Hostfile, AHostListedSeveralTimesHasOneSlotPerLine)
{
  const auto hosts = parse_hostfile("hosts", "a\nb\na\na\n");
  ASSERT_EQ(hosts.size(), 2u);
  EXPECT_EQ(hosts[0].slots, 3u);
  EXPECT_EQ(hosts[1].slots, 0u);
}

TEST(Hostfile, SkipsCommentsAndBlankLines)
{
  const auto hosts = parse_hostfile("hosts", "# one\n\n  a // two\n/* three\n four */ b /* five */ slots=2\n");
  ASSERT_EQ(hosts.size(), 2u);
  EXPECT_EQ(hosts[0].where, "hosts:3");
  EXPECT_EQ(hosts[1].where, "hosts:5");
  EXPECT_EQ(hosts[1].slots, 2u);
}

TEST(Hostfile, TakesLineEndsOfWindows)
{
  EXPECT_EQ(parse_hostfile("hosts", "a slots=2\r\nb\r\n").size(), 2u);
}

TEST(Hostfile, IgnoresWhatDescribesTheRealNode)
{
  EXPECT_EQ(parse_hostfile("hosts", "a username=me port=22 slots=2")[0].slots, 2u);
}

TEST(Hostfile, AnUnknownKeywordIsNamedWithItsLine)
{
  EXPECT_EQ(file_error("a\nb slts=2\n"), "hosts:2: expected slots=N or max_slots=N after the host's name, got 'slts'\n"
                                         "  The nearest known keyword is 'slots'.");
}

TEST(Hostfile, AValueThatIsNoNumberIsNamedWithItsLine)
{
  EXPECT_EQ(file_error("a slots=two"), "hosts:1: slots: expected a number of slots between 1 and 1000000, got 'two'\n"
                                       "  Give a whole number, for example 1.");
}

TEST(Hostfile, AMissingValueIsAnError)
{
  EXPECT_EQ(file_error("a slots"), "hosts:1: expected 'slots=VALUE', got 'slots'\n  For example: a slots=2");
}

TEST(Hostfile, TheSyntaxOfTheHostListIsAnError)
{
  EXPECT_EQ(file_error("\n\na:4\n"),
            "hosts:3: expected 'NAME slots=N', got 'a:4'\n  NAME:N belongs to --host; here write: a slots=4");
}

TEST(Hostfile, ANameWithOtherCharactersIsAnError)
{
  EXPECT_EQ(file_error("a$b"), "hosts:1: expected the name of a host (letters, digits, '.', '-', '_'), got 'a$b'\n"
                               "  A line is: NAME [slots=N] [max_slots=N]");
}

TEST(Hostfile, RelativeHostsAreRefused)
{
  EXPECT_EQ(file_error("+n0"), "hosts:1: expected the name of a host, got '+n0'\n"
                               "  Relative (+n0) and excluded (^name) hosts are not supported: name the hosts to use.");
}

TEST(Hostfile, ARankFileIsRefused)
{
  EXPECT_EQ(file_error("rank 0=a slot=1"),
            "hosts:1: expected the name of a host, got a line of a rank file\n"
            "  Rank files are not supported: list hosts with slots, and use --map-by and --rank-by.");
}

TEST(Hostfile, AHostMayNotBeListedAgainWithSlots)
{
  EXPECT_EQ(file_error("a slots=2\na slots=3\n"),
            "hosts:2: expected host 'a' once when slots are given, got it again (first in hosts:1)\n"
            "  List a host once with slots=N, or once per slot without slots.");
}

TEST(Hostfile, MaxSlotsMayNotBeBelowSlots)
{
  EXPECT_EQ(file_error("a slots=4 max_slots=2"),
            "hosts:1: expected max_slots of at least the 4 slots of the line, got max_slots=2\n"
            "  Raise max_slots or lower slots.");
}

TEST(Hostfile, WithoutAnyHostIsAnError)
{
  EXPECT_EQ(file_error("# nobody\n"),
            "hosts: expected at least one host, got none\n  One host per line: NAME [slots=N] [max_slots=N]");
}

TEST(Hostfile, ThatCannotBeReadIsAnError)
{
  EXPECT_EQ(test::error_of([] { read_hostfile("--hostfile", "/nonexistent/hosts"); }),
            "--hostfile /nonexistent/hosts: expected a file that can be read, got 'No such file or directory'\n"
            "  Check the path and the permissions.");
}

TEST(Hostfile, ThatIsADirectoryIsAnError)
{
  const test::TemporaryDirectory directory;
  EXPECT_EQ(test::error_of([&] { read_hostfile("--hostfile", directory.path()); }),
            "--hostfile " + directory.path().string() +
                ": expected a file that can be read, got a directory\n  Check the path and the permissions.");
}

TEST(Hostfile, IsReadFromAFile)
{
  const test::TemporaryDirectory directory;
  EXPECT_EQ(read_hostfile("--hostfile", directory.write("hosts", "a slots=2\n")).size(), 1u);
}

TEST(SelectHosts, TakesOrderAndSlotsFromTheList)
{
  const auto hosts =
      select_hosts(parse_hostfile("hosts", "a slots=4 max_slots=8\nb\nc\n"), parse_host_list("--host", "c,a:2"));
  ASSERT_EQ(hosts.size(), 2u);
  EXPECT_EQ(hosts[0].name, "c");
  EXPECT_EQ(hosts[1].slots, 2u);
  EXPECT_EQ(hosts[1].max_slots, 8u);
}

TEST(SelectHosts, AHostOutsideTheFileIsAnError)
{
  EXPECT_EQ(test::error_of([] { select_hosts(parse_hostfile("hosts", "a\nb\n"), parse_host_list("--host", "c")); }),
            "--host: expected hosts of the host file (a, b), got 'c'\n"
            "  With both options --host selects among the file's hosts: add the host to the file, or leave one of the "
            "options out.");
}

// Whatever the bytes: a list of hosts or a UsageError of readable text, nothing else.
TEST(HostfileFuzz, RandomBytesNeverDoMoreThanThrow)
{
  std::mt19937 random(20240607);
  const std::string alphabet = "ab0129 \t\n\r=#/*:,@^+-_.\"slotsmax_slots\xff\x01";
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    const bool any_byte = round % 2 == 0;
    for (std::size_t length = random() % 80; length > 0; --length)
      text += any_byte ? static_cast<char>(random()) : alphabet[random() % alphabet.size()];
    try {
      EXPECT_FALSE(parse_hostfile("hosts", text).empty());
    } catch (const UsageError& error) {
      const std::string message = error.what();
      EXPECT_TRUE(message.starts_with("hosts")) << message;
      EXPECT_EQ(message.find('\x01'), std::string::npos);
    }
    test::error_of([&] { parse_host_list("--host", text); });
  }
}

// Near misses reach deeper than noise: words of the language in any order.
TEST(HostfileFuzz, RandomWordsNeverDoMoreThanThrow)
{
  std::mt19937 random(4711);
  const std::vector<std::string> words{"a",  "b", " ",  "\n", "slots", "max_slots", "=", "1",   "2",  "0",
                                       "//", "#", "/*", "*/", "rank",  "port",      ":", "me@", "+n0"};
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (std::size_t length = random() % 16; length > 0; --length)
      text += words[random() % words.size()];
    test::error_of([&] { parse_hostfile("hosts", text); });
  }
}

} // namespace
} // namespace umwelt::plan
