// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/cli/manual.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace umwelt::cli
{
namespace
{

using testing::HasSubstr;

// `text` as roff wants it.
std::string in_roff(const std::string& text)
{
  std::string result;
  for (const char c : text)
    result += c == '-' ? std::string("\\-") : std::string(1, c);
  return result;
}

TEST(Manual, HasEveryCommand)
{
  const std::string page = manual(commands(), option_groups(), "1");
  for (const CommandEntry& command : commands())
    EXPECT_THAT(page, HasSubstr("\n\\fB" + std::string(command.name) + "\\fR\n"));
}

TEST(Manual, HasEveryOption)
{
  const std::string page = manual(commands(), option_groups(), "1");
  for (const OptionGroup& group : option_groups())
    for (const OptionEntry& option : group.options)
      for (const std::string& name : option.names)
        EXPECT_THAT(page, HasSubstr("\\fB" + in_roff(name) + "\\fR")) << name;
}

TEST(Manual, EscapesWhatRoffWouldObey)
{
  const std::vector<OptionGroup> groups{{"A \"group\"", {{{"--a"}, {}, ".b \\c"}, {{"--d"}, {}, "'e"}}}};
  const std::string page = manual({}, groups, "1");
  EXPECT_THAT(page, HasSubstr("\n.SS \"A \\(dqgroup\\(dq\"\n"));
  EXPECT_THAT(page, HasSubstr("\n.TP\n\\fB\\-\\-a\\fR\n\\&.b \\ec\n"));
  EXPECT_THAT(page, HasSubstr("\n\\&'e\n"));
}

} // namespace
} // namespace umwelt::cli
