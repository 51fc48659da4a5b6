// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/cli/completion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>

namespace umwelt::cli
{
namespace
{

using testing::HasSubstr;
using testing::Not;

const std::vector<OptionGroup> groups{{"Group",
                                       {{{"-n", "--number"}, {"N"}, ""},
                                        {{"--flag"}, {}, ""},
                                        {{"--pair"}, {"KEY", "VALUE"}, ""},
                                        {{"--file"}, {"FILE"}, ""},
                                        {{"--set"}, {"KEY=VALUE|@FILE"}, ""},
                                        {{"--where"}, {"DIR[:x]"}, ""},
                                        {{"--how"}, {"N|auto|0"}, ""},
                                        {{"--name"}, {"NAME"}, ""},
                                        {{"--new"}, {"N"}, "", {"--old"}}}}};
const std::vector<ValueNames> names{{"--name", {"one", "two"}}};

TEST(BashCompletion, KnowsHowManyValuesAnOptionTakes)
{
  const std::string script = bash_completion({}, groups, names);
  EXPECT_THAT(script, HasSubstr("\n    n|number) count=1 kind='' ;;\n"));
  EXPECT_THAT(script, HasSubstr("\n    pair) count=2 kind='' ;;\n"));
  EXPECT_THAT(script, Not(HasSubstr("flag)")));
}

TEST(BashCompletion, KnowsWhatAValueCanBe)
{
  const std::string script = bash_completion({}, groups, names);
  for (const char* line :
       {"file) count=1 kind='file'", "set) count=1 kind='at_file'", "where) count=1 kind='directory'",
        "how) count=1 kind='auto 0'", "name) count=1 kind='one two'"})
    EXPECT_THAT(script, HasSubstr(line));
}

TEST(BashCompletion, KnowsFormerNamesButDoesNotOfferThem)
{
  const std::string script = bash_completion({}, groups, names);
  EXPECT_THAT(script, HasSubstr("\n    new|old) count=1 kind='' ;;\n"));
  EXPECT_THAT(script, HasSubstr("\n  --new\n"));
  EXPECT_THAT(script, Not(HasSubstr("--old")));
}

TEST(BashCompletion, OffersEveryCommandAndOption)
{
  std::istringstream lines(bash_completion(commands(), option_groups(), {}));
  std::string offered;
  for (std::string line; std::getline(lines, line) && line != "_umwelt_option()";)
    for (const char c : line + " ")
      offered += c == '\'' ? ' ' : c;
  for (const CommandEntry& command : commands())
    EXPECT_THAT(offered, HasSubstr(" " + std::string(command.name) + " "));
  for (const OptionGroup& group : option_groups())
    for (const OptionEntry& option : group.options)
      for (const std::string& name : option.names)
        EXPECT_THAT(offered, HasSubstr(" " + name + " "));
}

} // namespace
} // namespace umwelt::cli
