// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/cli/help.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>

namespace umwelt::cli
{
namespace
{

using testing::HasSubstr;

TEST(RunHelp, HasTheGroupsInTheirOrder)
{
  const std::vector<OptionGroup> groups{{"First", {{{"-n", "--number"}, {"N"}, "how many"}}},
                                        {"Second", {{{"--flag"}, {}, "a flag"}}}};
  EXPECT_THAT(run_help(groups), HasSubstr("\nFirst\n  -n, --number N                how many\n"
                                          "\nSecond\n  --flag                        a flag\n"));
}

TEST(RunHelp, BeginsWithWhatPeopleNeedFirst)
{
  const std::string help = run_help(option_groups());
  EXPECT_LT(help.find("-np, -n, -c N"), help.find("\nPrograms of the job\n"));
  for (const char* text : {"\nMost used\n", "--map-by POLICY", "--cpu-threshold DURATION", "Use of this machine",
                           "-j, --jobs N", "Exit code", "Accepted for mpirun's sake, without effect"})
    EXPECT_THAT(help, HasSubstr(text));
}

TEST(RunHelp, FitsATerminal)
{
  std::size_t longest = 0;
  std::istringstream lines(run_help(option_groups()));
  for (std::string line; std::getline(lines, line);)
    longest = std::max(longest, line.size());
  EXPECT_LE(longest, 118u);
}

} // namespace
} // namespace umwelt::cli
