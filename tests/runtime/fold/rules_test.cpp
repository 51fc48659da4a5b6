// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/fold/rules.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <unistd.h>

#include "runtime/base/usage_error.h"

namespace umwelt::fold
{
namespace
{

using testing::HasSubstr;

constexpr std::uint64_t mib = 1 << 20;
constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

Rule read(const std::string& text)
{
  const std::array<std::string, 1> texts{text};
  Rules rules = read_rules(texts);
  return std::move(rules.list.at(0));
}

std::string error_of(const std::string& text)
{
  const std::array<std::string, 1> texts{text};
  try {
    read_rules(texts);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "none";
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> kept(const Rule& rule, std::uint64_t size)
{
  std::vector<std::pair<std::uint64_t, std::uint64_t>> pairs;
  const KeptRanges ranges = rule.kept(size);
  for (const Span& span : ranges.ranges())
    pairs.emplace_back(span.begin, span.end);
  return pairs;
}

using Pairs = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

TEST(FoldBudget, IsOfARankUntilAllTogetherHaveMuch)
{
  EXPECT_EQ(default_budget(1), 4U << 20);
  EXPECT_EQ(default_budget(256), 4U << 20);
  EXPECT_EQ(default_budget(512), 2U << 20);
  EXPECT_EQ(default_budget(100'000), 1U << 20);
}

TEST(FoldRule, BySize)
{
  const Rule rule = read("at_least=64MiB, at_most=1GiB");
  EXPECT_EQ(rule.at_least, 64 * mib);
  EXPECT_EQ(rule.at_most, 1024 * mib);
  EXPECT_TRUE(rule.function.empty());
  EXPECT_TRUE(rule.object.empty());
  EXPECT_FALSE(rule.call);
  EXPECT_EQ(rule.text, "at_least=64MiB, at_most=1GiB");
}

TEST(FoldRule, BySizeInUnits)
{
  EXPECT_EQ(read("at_least=5000").at_least, 5000U);
  EXPECT_EQ(read("at_least=5kB").at_least, 5000U);
  EXPECT_EQ(read("at_least=4KiB").at_least, 4096U);
  EXPECT_EQ(read("at_least=2GB").at_least, 2'000'000'000U);
}

TEST(FoldRule, ByFunctionFromAMebibyteOn)
{
  const Rule rule = read("function=solve");
  EXPECT_EQ(rule.function, "solve");
  EXPECT_EQ(rule.at_least, mib);
  EXPECT_EQ(rule.at_most, unlimited);
}

TEST(FoldRule, ByObject)
{
  EXPECT_EQ(read("in=libfoo.so.1").object, "libfoo.so.1");
}

TEST(FoldRule, ByCallInTheProgram)
{
  const Rule rule = read("call=0x4a10");
  EXPECT_EQ(rule.call, 0x4a10U);
  EXPECT_TRUE(rule.object.empty());
}

TEST(FoldRule, ByCallInAnObject)
{
  const Rule rule = read("call=libfoo0x.so.1+0xAbC");
  EXPECT_EQ(rule.call, 0xabcU);
  EXPECT_EQ(rule.object, "libfoo0x.so.1");
}

TEST(FoldRule, KeepsNothingByDefault)
{
  EXPECT_EQ(kept(read("at_least=1MiB"), mib), Pairs{});
}

TEST(FoldRule, KeepsSeveralRanges)
{
  const Rule rule = read("at_least=1MiB,keep=size-64..size,keep=0..4KiB");
  EXPECT_EQ(kept(rule, mib), (Pairs{{0, 4096}, {mib - 64, mib}}));
  EXPECT_EQ(kept(rule, 2 * mib), (Pairs{{0, 4096}, {2 * mib - 64, 2 * mib}}));
}

TEST(FoldRule, KeepsWhatExpressionsWithCommasSay)
{
  EXPECT_EQ(kept(read("keep=0..min(size, 8KiB),at_least=1MiB"), mib), (Pairs{{0, 8192}}));
}

TEST(FoldRule, KeepsNothingOutsideTheAllocation)
{
  EXPECT_EQ(kept(read("at_least=1MiB,keep=0-10..2*size"), mib), (Pairs{{0, mib}}));
  EXPECT_EQ(kept(read("at_least=1MiB,keep=2*size..3*size"), mib), Pairs{});
  EXPECT_EQ(kept(read("at_least=1MiB,keep=size..0"), mib), Pairs{});
}

TEST(FoldRule, KeepsToTheByteInWhateverFitsIntoMemory)
{
  const std::uint64_t size = (std::uint64_t{1} << 47) - 1;
  EXPECT_EQ(kept(read("at_least=1MiB,keep=size-1..size"), size), (Pairs{{size - 1, size}}));
}

TEST(FoldRule, ThatIsNoAssignment)
{
  EXPECT_THAT(error_of(""), HasSubstr("KEY=VALUE,..."));
  EXPECT_THAT(error_of("solve"), HasSubstr("KEY=VALUE,..."));
  EXPECT_THAT(error_of("at_least=1MiB,"), HasSubstr("KEY=VALUE,..."));
  EXPECT_THAT(error_of("function="), HasSubstr("'function='"));
}

TEST(FoldRule, OfUnknownKeyNamesTheNearest)
{
  EXPECT_THAT(error_of("at_lest=1MiB"), HasSubstr("Did you mean at_least?"));
  EXPECT_THAT(error_of("funktion=solve"), HasSubstr("Did you mean function?"));
}

TEST(FoldRule, OfBadSize)
{
  EXPECT_THAT(error_of("at_least=much"), HasSubstr("--fold, at_least: expected a size, got 'much'"));
  EXPECT_THAT(error_of("at_most=-1"), HasSubstr("--fold, at_most: expected a size"));
}

TEST(FoldRule, BelowAPage)
{
  EXPECT_THAT(error_of("at_least=4095"), HasSubstr("at least 4KiB"));
  EXPECT_THAT(error_of("at_least=0"), HasSubstr("at least 4KiB"));
}

TEST(FoldRule, ThatNoAllocationFits)
{
  EXPECT_THAT(error_of("at_least=2MiB,at_most=1MiB"), HasSubstr("No allocation would fit"));
  EXPECT_THAT(error_of("at_most=1MiB,at_least=2MiB"), HasSubstr("No allocation would fit"));
}

TEST(FoldRule, OfBadCall)
{
  for (const char* call : {"0x", "main", "4a10", "+0x10", "libfoo.so0x10", "0x4g", "0x10 ff"})
    EXPECT_THAT(error_of(std::string("call=") + call), HasSubstr("OBJECT+0xOFFSET")) << call;
}

TEST(FoldRule, ByBothFunctionAndCall)
{
  EXPECT_THAT(error_of("function=solve,call=0x10"), HasSubstr("function or call"));
}

TEST(FoldRule, OfBadKeep)
{
  EXPECT_THAT(error_of("at_least=1MiB,keep=4096"), HasSubstr("BEGIN..END"));
  EXPECT_THAT(error_of("at_least=1MiB,keep=0..bytes"), HasSubstr("bytes"));
  EXPECT_THAT(error_of("at_least=1MiB,keep=0..1us"), HasSubstr("number of bytes"));
  EXPECT_THAT(error_of("at_least=1MiB,keep=0..1/0"), HasSubstr("a number of bytes for size = 1048576"));
  EXPECT_THAT(error_of("at_least=1MiB,keep=0..sqrt(0-size)"), HasSubstr("a number of bytes for size = 1048576"));
}

TEST(FoldRule, ThatOnlyKeeps)
{
  EXPECT_THAT(error_of("keep=0..4KiB"), HasSubstr("which allocations"));
}

class FoldFile : public testing::Test
{
protected:
  std::string write(const std::string& text) const
  {
    std::ofstream(path_) << text;
    return "@" + path_;
  }
  ~FoldFile() override { std::filesystem::remove(path_); }

private:
  std::string path_ = testing::TempDir() + "umwelt-fold-" + std::to_string(getpid());
};

TEST_F(FoldFile, HasARuleOnEachLine)
{
  const std::array<std::string, 2> texts{write("# matrices\n\n  at_least=1MiB # all\r\nfunction=solve,keep=0..8\n"),
                                         "at_least=8KiB"};
  const Rules rules = read_rules(texts);
  ASSERT_EQ(rules.list.size(), 3U);
  EXPECT_EQ(rules.list[0].text, "at_least=1MiB");
  EXPECT_EQ(rules.list[1].function, "solve");
  EXPECT_EQ(rules.list[2].where, "--fold");
  EXPECT_EQ(rules.least(), 8192U);
}

TEST_F(FoldFile, TellsTheLine)
{
  EXPECT_THAT(error_of(write("at_least=1MiB\n\nat_least=x\n")), HasSubstr(":3, at_least: expected a size"));
}

TEST_F(FoldFile, WithoutRules)
{
  EXPECT_THAT(error_of(write("# none\n")), HasSubstr("a rule on each line"));
  EXPECT_THAT(error_of("@" + testing::TempDir()), HasSubstr("a rule on each line"));
}

TEST_F(FoldFile, ThatIsNotThere)
{
  EXPECT_THAT(error_of("@/no/such/file"), HasSubstr("--fold @/no/such/file: expected a file of rules"));
}

} // namespace
} // namespace umwelt::fold
