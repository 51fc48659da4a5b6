// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/cli/command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/base/version.h"
#include "runtime/cli/help.h"
#include "support.h"

namespace umwelt::cli
{
namespace
{

using testing::HasSubstr;
using testing::StartsWith;

Command command(const std::vector<std::string>& arguments)
{
  return parse_command(arguments, test::environment({}));
}

std::string command_error(const std::vector<std::string>& arguments)
{
  return test::error_of([&] { command(arguments); });
}

TEST(Command, RunTakesTheOptionsBehindIt)
{
  const Command parsed = command({"run", "-np", "2", "app"});
  EXPECT_EQ(parsed.kind, Command::Kind::run);
  EXPECT_EQ(parsed.run.programs[0].ranks, 2u);
}

TEST(Command, RunHasOtherNames)
{
  for (const char* name : {"mpirun", "oshrun"}) {
    const Command parsed = command({name, "-n", "3", "app"});
    EXPECT_EQ(parsed.kind, Command::Kind::run);
    EXPECT_EQ(parsed.run.programs[0].ranks, 3u);
  }
}

TEST(Command, ALinkWithALaunchersNameRuns)
{
  const std::vector<std::string> given{"-n", "3", "app"};
  using testing::ElementsAre;
  for (const char* name : {"oshrun", "./mpirun", "/usr/bin/mpiexec"})
    EXPECT_THAT(command_words(name, given), ElementsAre("run", "-n", "3", "app"));
  for (const char* name : {"umwelt", "/oshrun/umwelt", ""})
    EXPECT_THAT(command_words(name, given), ElementsAre("-n", "3", "app"));
}

TEST(Command, RunHasItsOwnHelp)
{
  const Command parsed = command({"run", "--help"});
  EXPECT_EQ(parsed.kind, Command::Kind::text);
  EXPECT_EQ(parsed.text, run_help(option_groups()));
}

TEST(Command, HelpComesBeforeOrBehindACommand)
{
  EXPECT_EQ(command({"help", "run"}).text, command({"run", "--help"}).text);
  EXPECT_EQ(command({"--help", "run"}).text, command({"run", "--help"}).text);
  EXPECT_EQ(command({"help", "mpirun"}).text, command({"run", "--help"}).text);
  EXPECT_EQ(command({"help", "doctor"}).text, command({"doctor", "--help"}).text);
  EXPECT_EQ(command({"help"}).text, command({"--help"}).text);
  EXPECT_EQ(command({"help", "--help"}).text, command({"--help"}).text);
}

TEST(Command, HelpOfCalibrateIsThatProgramsOwn)
{
  for (const char* word : {"help", "--help"}) {
    const Command parsed = command({word, "calibrate"});
    EXPECT_EQ(parsed.kind, Command::Kind::calibrate);
    EXPECT_THAT(parsed.arguments, testing::ElementsAre("--help"));
  }
}

TEST(Command, HelpOfAnUnknownOneIsAnError)
{
  EXPECT_THAT(command_error({"help", "docter"}), StartsWith("unknown command 'docter'"));
  EXPECT_THAT(command_error({"help", "run", "models"}), StartsWith("umwelt help: expected one command"));
}

TEST(Command, CompletionKnowsBash)
{
  EXPECT_THAT(command({"completion", "bash"}).text, HasSubstr("complete -F _umwelt umwelt"));
  EXPECT_THAT(command_error({"completion"}), HasSubstr("expected bash, the only shell it knows, got nothing"));
  EXPECT_THAT(command_error({"completion", "zsh"}), HasSubstr("got 'zsh'"));
}

TEST(Command, AProgramNeedsRun)
{
  EXPECT_THAT(command_error({"./hello", "-x", "1"}),
              testing::AllOf(StartsWith("'./hello': expected a command (run, "),
                             HasSubstr("), got a program\n  Programs are started with: umwelt run ./hello -x 1")));
}

TEST(Command, AProgramIsAFileOrInPath)
{
  const test::TemporaryDirectory directory;
  const std::string program = directory.write("bin/prog", "");
  const std::string script = directory.write("prog.py", "");
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  EXPECT_THAT(command_error({program}), HasSubstr("umwelt run " + program));
  EXPECT_THAT(command_error({script}), HasSubstr("umwelt run python3 " + script));
  const auto in_path = test::environment({{"PATH", directory.path() / "bin"}});
  EXPECT_THAT(test::error_of([&] { parse_command(std::vector<std::string>{"prog"}, in_path); }),
              HasSubstr("umwelt run prog"));
}

TEST(Command, AnOptionOfRunNeedsRun)
{
  EXPECT_EQ(command_error({"-np", "2", "./hello"}), "'-np': expected a command first, got an option of one\n"
                                                    "  Programs are started with: umwelt run -np 2 ./hello");
}

TEST(Command, OthersAreRecognised)
{
  EXPECT_EQ(command({"platforms"}).kind, Command::Kind::platforms);
  EXPECT_EQ(command({"models"}).kind, Command::Kind::models);
  EXPECT_EQ(command({"doctor"}).kind, Command::Kind::doctor);
  EXPECT_EQ(command({"coverage"}).kind, Command::Kind::coverage);
}

TEST(Command, ReportsAreNamed)
{
  const Command report = command({"report", "run.json", "-o", "run.html"});
  EXPECT_EQ(report.kind, Command::Kind::report);
  EXPECT_THAT(report.arguments, testing::ElementsAre("run.json"));
  EXPECT_EQ(report.page, "run.html");
  const Command compare = command({"compare", "a.json", "b.json", "--html", "both.html"});
  EXPECT_EQ(compare.kind, Command::Kind::compare);
  EXPECT_THAT(compare.arguments, testing::ElementsAre("a.json", "b.json"));
  EXPECT_EQ(compare.page, "both.html");
  EXPECT_THAT(command_error({"compare"}), HasSubstr("FILE"));
  const Command explain = command({"explain", "a.json", "--json"});
  EXPECT_EQ(explain.kind, Command::Kind::explain);
  EXPECT_THAT(explain.arguments, testing::ElementsAre("a.json"));
  EXPECT_TRUE(explain.json);
  EXPECT_THAT(command_error({"explain"}), HasSubstr("FILE"));
}

TEST(Command, CalibrateReadsItsOwnArguments)
{
  const Command parsed = command({"calibrate", "--help", "put_waitack=a.csv"});
  EXPECT_EQ(parsed.kind, Command::Kind::calibrate);
  EXPECT_THAT(parsed.arguments, testing::ElementsAre("--help", "put_waitack=a.csv"));
}

TEST(Command, JsonIsAFlag)
{
  EXPECT_TRUE(command({"doctor", "--json"}).json);
  EXPECT_FALSE(command({"doctor"}).json);
}

TEST(Command, HelpListsTheCommands)
{
  const Command parsed = command({"--help"});
  EXPECT_EQ(parsed.kind, Command::Kind::text);
  for (const char* name : {"run", "platforms", "models", "calibrate", "doctor", "coverage", "help", "completion"})
    EXPECT_THAT(parsed.text, HasSubstr(name));
}

TEST(Command, HelpOfACommandIsItsOwn)
{
  const Command parsed = command({"doctor", "--help"});
  EXPECT_EQ(parsed.kind, Command::Kind::text);
  EXPECT_THAT(parsed.text, HasSubstr("--json"));
}

TEST(Command, VersionIsTheSameEverywhere)
{
  EXPECT_EQ(command({"--version"}).text, "umwelt " + std::string(version()) + "\n");
  EXPECT_EQ(command({"run", "--version"}).text, command({"-V"}).text);
}

TEST(Command, NoneIsAnError)
{
  EXPECT_EQ(command_error({}), "command: expected run, kernels, platforms, models, calibrate, tune, report, compare, "
                               "explain, sweep, ctl, openmpi, "
                               "doctor or coverage, got none\n"
                               "  For example: umwelt run -np 2 PROGRAM; `umwelt --help` tells more.");
}

TEST(Command, AnUnknownOneNamesTheNearest)
{
  EXPECT_EQ(command_error({"docter"}),
            "unknown command 'docter'\n"
            "  The nearest known one is 'doctor'; programs are started with: umwelt run -np N PROGRAM");
}

TEST(Command, AnUnknownOptionIsAnError)
{
  EXPECT_THAT(command_error({"doctor", "--jsno"}), HasSubstr("--jsno"));
}

} // namespace
} // namespace umwelt::cli
