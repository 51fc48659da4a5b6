// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/cli/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <set>

#include "support.h"

namespace umwelt::cli
{
namespace
{

using test::environment;
using test::error_of;
using test::parse;
using test::parse_error;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

TEST(RunOptions, ProgramAndItsArgumentsFollowTheOptions)
{
  const plan::RunOptions run = parse({"-np", "2", "./app", "-np", "3", "--host"});
  EXPECT_THAT(run.programs.at(0).argv, ElementsAre("./app", "-np", "3", "--host"));
  EXPECT_EQ(run.programs[0].ranks, 2u);
}

TEST(RunOptions, EveryNameOfTheNumberOfRanksIsKnown)
{
  for (const char* name : {"-np", "--np", "-n", "--n", "-c"})
    EXPECT_EQ(parse({name, "3", "app"}).programs[0].ranks, 3u) << name;
}

TEST(RunOptions, LongNamesTakeOneOrTwoDashes)
{
  EXPECT_EQ(parse({"-npernode", "2", "app"}).ranks_per_node, 2u);
  EXPECT_EQ(parse({"--npernode", "2", "app"}).ranks_per_node, 2u);
}

TEST(RunOptions, AValueMayFollowAnEqualsSign)
{
  EXPECT_EQ(parse({"--np=3", "app"}).programs[0].ranks, 3u);
  EXPECT_EQ(parse({"--report=a=b", "app"}).report, "a=b");
}

TEST(RunOptions, TwoDashesEndThem)
{
  EXPECT_THAT(parse({"--", "-app"}).programs[0].argv, ElementsAre("-app"));
}

TEST(RunOptions, WithoutNpLeaveTheNumberOpen)
{
  EXPECT_FALSE(parse({"app"}).programs[0].ranks.has_value());
}

TEST(RunOptions, TheLastOfSeveralNpCounts)
{
  EXPECT_EQ(parse({"-np", "2", "-np", "1", "app"}).programs[0].ranks, 1u);
}

TEST(RunOptions, ZeroRanksAreAnError)
{
  EXPECT_EQ(parse_error({"-np", "0", "app"}), "-np: expected a number of ranks between 1 and 1000000, got '0'\n"
                                              "  Give a whole number, for example 1.");
}

TEST(RunOptions, AMissingProgramIsAnError)
{
  EXPECT_EQ(parse_error({"-np", "2"}), "program: expected its name behind the options, got none\n"
                                       "  Usage: umwelt run -np N [options] program [arguments]");
}

TEST(RunOptions, AnUnknownOneNamesTheNearest)
{
  EXPECT_EQ(parse_error({"--tag-ouput", "app"}),
            "unknown option '--tag-ouput'\n  The nearest known option is --tag-output; `umwelt run --help` lists all.");
}

TEST(RunOptions, AnUnknownOneWithAValueIsNamedWithoutIt)
{
  EXPECT_THAT(parse_error({"--platfrom=bxi", "app"}), HasSubstr("unknown option '--platfrom'\n"));
}

TEST(RunOptions, OfMpirunThatUmweltLacksSayWhatToDo)
{
  EXPECT_EQ(parse_error({"--rankfile", "f", "app"}), "--rankfile: an option of mpirun that umwelt run does not have\n"
                                                     "  Use --host or --hostfile with --map-by and --rank-by.");
}

TEST(RunOptions, AMissingValueIsAnError)
{
  EXPECT_EQ(parse_error({"--mca", "pml"}),
            "--mca: expected VALUE after it, got the end of the options\n  Usage: --mca KEY VALUE");
}

TEST(RunOptions, AFlagTakesNoValue)
{
  EXPECT_THAT(parse_error({"--tag-output=yes", "app"}), HasSubstr("--tag-output: expected no value, got"));
}

TEST(RunOptions, TwoValuesCannotFollowAnEqualsSign)
{
  EXPECT_THAT(parse_error({"--mca=pml", "cm", "app"}), HasSubstr("--mca: expected KEY VALUE as separate words"));
}

TEST(RunOptions, ADashAloneIsNoOption)
{
  EXPECT_THAT(parse_error({"-", "app"}), HasSubstr("unknown option '-'"));
}

TEST(Mpmd, ProgramsAreSeparatedByColons)
{
  const plan::RunOptions run = parse({"-np", "1", "a", "x", ":", "-np", "2", "b"});
  ASSERT_EQ(run.programs.size(), 2u);
  EXPECT_THAT(run.programs[0].argv, ElementsAre("a", "x"));
  EXPECT_EQ(run.programs[1].ranks, 2u);
}

TEST(Mpmd, EachProgramHasItsOwnDirectoryAndVariables)
{
  const plan::RunOptions run = parse({"-np", "1", "-wdir", "/tmp", "-x", "A=1", "a", ":", "-np", "1", "b"});
  EXPECT_EQ(run.programs[0].directory, "/tmp");
  EXPECT_EQ(run.programs[1].directory, "");
  EXPECT_TRUE(run.programs[1].exports.empty());
}

TEST(Mpmd, OptionsOfTheJobMayStandBeforeAnyProgram)
{
  EXPECT_TRUE(parse({"-np", "1", "a", ":", "--tag-output", "-np", "1", "b"}).tag_output);
}

TEST(Mpmd, AProgramIsNeededBehindAColon)
{
  EXPECT_THAT(parse_error({"-np", "1", "a", ":"}), HasSubstr("program after ':': expected its name"));
}

TEST(Mpmd, EachProgramNeedsItsNumberOfRanks)
{
  EXPECT_EQ(parse_error({"-np", "1", "a", ":", "b"}),
            "program 'b': expected -np N, as there are several programs, got no number of ranks\n"
            "  Write: -np N PROGRAM : -np M PROGRAM");
}

TEST(Exports, TakeTheirValueFromTheEnvironment)
{
  EXPECT_THAT(parse({"-x", "A", "app"}, {{"A", "1"}}).programs[0].exports, ElementsAre(Pair("A", "1")));
}

TEST(Exports, OfAMissingVariableAreNotedOnly)
{
  const plan::RunOptions run = parse({"-x", "A", "app"});
  EXPECT_TRUE(run.programs[0].exports.empty());
  EXPECT_THAT(run.notes, ElementsAre("-x A: there is no such variable in the environment; nothing is exported"));
}

TEST(Exports, TakeValuesThatBeginWithADash)
{
  EXPECT_THAT(parse({"-x", "A=-O2 -g", "app"}).programs[0].exports, ElementsAre(Pair("A", "-O2 -g")));
}

TEST(Mca, TakesKeyAndValue)
{
  EXPECT_THAT(parse({"--mca", "pml", "cm", "-mca", "btl", "^vader", "app"}).programs[0].mca,
              ElementsAre(Pair("pml", "cm"), Pair("btl", "^vader")));
}

TEST(Mca, LosesQuotesAroundTheValue)
{
  EXPECT_THAT(parse({"--mca", "a", "\"b c\"", "app"}).programs[0].mca, ElementsAre(Pair("a", "b c")));
}

TEST(Mca, AKeyGivenTwiceIsAnError)
{
  EXPECT_EQ(parse_error({"--mca", "btl", "self", "--mca", "btl", "tcp", "app"}),
            "--mca btl: expected each key once, got it twice ('self' and 'tcp')\n"
            "  Give the key once; several components are one value: --mca btl portals4,self");
}

TEST(Hosts, ComeFromTheListAndTheFile)
{
  const test::TemporaryDirectory directory;
  const std::string file = directory.write("hosts", "a slots=4\nb\n");
  EXPECT_EQ(parse({"-H", "x,y:2", "app"}).programs[0].hosts.size(), 2u);
  EXPECT_EQ(parse({"-machinefile", file, "app"}).programs[0].hosts[0].slots, 4u);
  EXPECT_EQ(parse({"--hostfile", file, "--host", "b", "app"}).programs[0].hosts[0].name, "b");
}

TEST(Hosts, OfTwoListsAreAdded)
{
  const auto hosts = parse({"--host", "a:2", "--host", "b,a", "app"}).programs[0].hosts;
  ASSERT_EQ(hosts.size(), 2u);
  EXPECT_EQ(hosts[0].slots, 3u);
}

TEST(Verbosity, RisesWithEachV)
{
  EXPECT_EQ(parse({"app"}).verbosity, 0);
  EXPECT_EQ(parse({"-v", "--verbose", "app"}).verbosity, 2);
  EXPECT_EQ(parse({"-vv", "app"}).verbosity, 2);
  EXPECT_EQ(parse({"-q", "app"}).verbosity, -1);
}

TEST(WhatIf, OptionsAreKeptInTheirOrder)
{
  const plan::RunOptions run = parse({"--latency-factor", "2", "--latency-factor", "leaf*=3", "--bandwidth-factor",
                                      "0.5", "--compute-factor", "4", "--fault", "link=a:at=1us", "app"});
  ASSERT_EQ(run.link_factors.latency.size(), 2u);
  EXPECT_EQ(run.link_factors.latency[0].links, "");
  EXPECT_EQ(run.link_factors.latency[1].links, "leaf*");
  EXPECT_EQ(run.link_factors.latency[1].factor, 3);
  ASSERT_EQ(run.link_factors.bandwidth.size(), 1u);
  EXPECT_EQ(run.link_factors.bandwidth[0].factor, 0.5);
  EXPECT_EQ(run.compute_factor, 4);
  ASSERT_EQ(run.faults.size(), 1u);
  EXPECT_EQ(run.faults[0].text, "--fault link=a:at=1us");
  EXPECT_EQ(parse({"app"}).compute_factor, 1);
}

TEST(WhatIf, MistakesNameTheOption)
{
  EXPECT_THAT(parse_error({"--latency-factor", "0", "app"}), HasSubstr("--latency-factor"));
  EXPECT_THAT(parse_error({"--compute-factor", "x", "app"}), HasSubstr("--compute-factor"));
  EXPECT_THAT(parse_error({"--fault", "link=a", "app"}), HasSubstr("--fault"));
}

TEST(WhatIf, SaysIfThereIsNothingToBeFaster)
{
  EXPECT_THAT(parse({"--compute-factor", "2", "--cpu", "none", "app"}).notes,
              ElementsAre(HasSubstr("--compute-factor 2 has no effect")));
  EXPECT_THAT(parse({"--compute-factor", "2", "--cpu", "none", "--kernels", "k.yaml", "app"}).notes,
              testing::IsEmpty());
  EXPECT_THAT(parse({"--compute-factor", "2", "app"}).notes, testing::IsEmpty());
}

TEST(WhatIf, MeasuredKernelsAreOfTheMachineAsItIs)
{
  EXPECT_THAT(error_of([] {
                parse_run(std::vector<std::string>{"--compute-factor", "2", "app"}, environment({}), RunKind::watched);
              }),
              HasSubstr("no --compute-factor"));
}

TEST(Timeout, IsInSeconds)
{
  EXPECT_EQ(parse({"--timeout", "10", "app"}).timeout, 10u);
}

TEST(Timeout, ComesFromMpiexecTimeoutOtherwise)
{
  EXPECT_EQ(parse({"app"}, {{"MPIEXEC_TIMEOUT", "7"}}).timeout, 7u);
  EXPECT_EQ(parse({"--timeout", "10", "app"}, {{"MPIEXEC_TIMEOUT", "7"}}).timeout, 10u);
}

TEST(Simulation, HasDefaults)
{
  const plan::RunOptions run = parse({"app"});
  EXPECT_EQ(run.platform, "bxi");
  EXPECT_EQ(run.model, "bxi");
  EXPECT_EQ(run.cpu.kind, engine::CpuPolicy::Kind::measured);
  EXPECT_EQ(run.cpu_threshold, 0);
  EXPECT_EQ(run.seed, 0u);
}

TEST(Simulation, AFabricIsAParameterOfTheNic)
{
  const plan::RunOptions run = parse({"--fabric", "packet", "-np", "2", "app"});
  EXPECT_EQ(run.nic, (std::vector<plan::Setting>{{"fabric", "packet"}}));
  EXPECT_EQ(parse({"--fabric", "flow", "-np", "2", "app"}).nic, (std::vector<plan::Setting>{{"fabric", "flow"}}));
  EXPECT_EQ(parse_error({"--fabric", "wool", "-np", "2", "app"}),
            "--fabric: expected occupancy, flow or packet, got 'wool'\n  For example: --fabric packet");
  EXPECT_EQ(parse_error({"--fabric", "packet", "--model", "loggp", "-np", "2", "app"}),
            "--fabric packet: expected --model bxi, whose NIC has a fabric beside it, got --model loggp\n"
            "  Leave one of them out.");
}

TEST(Simulation, OptionsAreKept)
{
  const plan::RunOptions run = parse({"--platform",
                                      "bxi:leaf=8",
                                      "--model",
                                      "loggp",
                                      "--nic",
                                      "a=1",
                                      "--nic",
                                      "b=2",
                                      "--nic",
                                      "@nic.conf",
                                      "--cpu",
                                      "none",
                                      "--cpu-threshold",
                                      "100ns",
                                      "--cpu-first-touch",
                                      "80ns",
                                      "--seed",
                                      "42",
                                      "--report",
                                      "r.json",
                                      "--keep-temps",
                                      "app"});
  EXPECT_EQ(run.platform, "bxi:leaf=8");
  EXPECT_EQ(run.model, "loggp");
  EXPECT_THAT(run.nic, ElementsAre(Pair("a", "1"), Pair("b", "2"), Pair("@nic.conf", "")));
  EXPECT_EQ(run.cpu.kind, engine::CpuPolicy::Kind::none);
  EXPECT_EQ(run.cpu_threshold, 100 * sim::nanosecond);
  EXPECT_EQ(run.cpu_first_touch, 80 * sim::nanosecond);
  EXPECT_EQ(run.seed, 42u);
  EXPECT_EQ(run.report, "r.json");
  EXPECT_TRUE(run.keep_temps);
}

TEST(Trace, FormatGoesByTheName)
{
  EXPECT_EQ(parse({"--trace", "a.csv", "p"}).trace_format, observe::TraceFormat::csv);
  EXPECT_EQ(parse({"--trace", "a.pftrace", "p"}).trace_format, observe::TraceFormat::perfetto);
  EXPECT_EQ(parse({"--trace", "a.pcapng", "p"}).trace_format, observe::TraceFormat::pcapng);
  EXPECT_EQ(parse({"--trace", "a.pcap-ng", "p"}).trace_format, observe::TraceFormat::pcapng);
  EXPECT_EQ(parse({"--trace", "a.paje", "p"}).trace_format, observe::TraceFormat::paje);
  EXPECT_EQ(parse({"--trace", "a.csv", "p"}).trace, "a.csv");
}
TEST(Trace, FormatCanBeSaid)
{
  EXPECT_EQ(parse({"--trace", "a.csv", "--trace-format", "perfetto", "p"}).trace_format,
            observe::TraceFormat::perfetto);
  EXPECT_EQ(parse({"--trace-format", "csv", "--trace", "/dev/stdout", "p"}).trace_format, observe::TraceFormat::csv);
}
TEST(Trace, UnknownNamesAndFormatsAreErrors)
{
  EXPECT_THAT(
      parse_error({"--trace", "a.json", "p"}),
      AllOf(HasSubstr("--trace: expected a name that ends in .csv (csv), .pftrace, .perfetto-trace, .pb (perfetto)"),
            HasSubstr(".otf2 (otf2), .pcapng, .pcap-ng (pcapng) or .paje (paje), got 'a.json'"),
            HasSubstr("--trace-format")));
  EXPECT_THAT(parse_error({"--trace", "a.csv", "--trace-format", "json", "p"}),
              HasSubstr("--trace-format: expected csv, perfetto, otf2, pcapng or paje, got 'json'"));
}
TEST(Trace, ItsOptionsNeedIt)
{
  EXPECT_THAT(parse_error({"--trace-format", "csv", "p"}), HasSubstr("--trace-format: expected --trace"));
  EXPECT_THAT(parse_error({"--trace-ranks", "1", "p"}), HasSubstr("--trace-ranks: expected --trace"));
}
TEST(Trace, FunctionsAreOneListAndNeedATraceThatShowsCalls)
{
  EXPECT_THAT(parse({"--trace", "a.otf2", "--trace-functions", "solve,step_", "--trace-functions", "step_,last", "p"})
                  .trace_functions,
              ElementsAre("solve", "step_", "last"));
  EXPECT_THAT(parse_error({"--trace-functions", "solve", "p"}),
              HasSubstr("--trace-functions: expected a trace that shows calls with it, got no --trace"));
  EXPECT_THAT(parse_error({"--trace", "a.csv", "--trace-functions", "solve", "p"}), HasSubstr("got 'a.csv'"));
  EXPECT_THAT(parse_error({"--trace", "a.otf2", "--trace-functions", "MPI_Send", "p"}),
              HasSubstr("--trace-functions: expected functions of the program, got MPI_Send"));
  EXPECT_THAT(parse_error({"--trace", "a.otf2", "--trace-functions", "a,,b", "p"}), HasSubstr("by its symbol"));
}

TEST(Accepted, HarmlessOptionsAreSilent)
{
  EXPECT_TRUE(parse({"--allow-run-as-root", "--oversubscribe", "--bind-to", "core", "app"}).notes.empty());
}

TEST(Accepted, OptionsWithoutEffectAreNoted)
{
  EXPECT_TRUE(parse({"app"}).bound);
  EXPECT_FALSE(parse({"--bind-to", "socket", "app"}).bound);
}

TEST(Help, StopsParsing)
{
  EXPECT_TRUE(parse({"--help"}).help);
  EXPECT_TRUE(parse({"-np", "2", "-h", "--nonsense"}).help);
  EXPECT_TRUE(parse({"-V"}).version);
}

TEST(RunOptions, WorkersAreANumberOrAutomatic)
{
  EXPECT_FALSE(parse({"p"}).workers.workers.has_value());
  EXPECT_EQ(parse({"--workers", "0", "p"}).workers.workers, 0u);
  EXPECT_EQ(parse({"--workers", "4", "p"}).workers.workers, 4u);
  EXPECT_FALSE(parse({"--workers", "4", "--workers", "auto", "p"}).workers.workers.has_value());
  EXPECT_EQ(parse_error({"--workers", "many", "p"}),
            "--workers: expected auto, or a number of worker processes between 0 and 1000000, got "
            "'many'\n  Give a whole number, for example 1.");
}

TEST(RunOptions, WorkersHaveAnOlderName)
{
  EXPECT_EQ(parse({"--cells", "4", "p"}).workers.workers, 4u);
  EXPECT_EQ(parse({"--ranks-per-cell", "3", "p"}).workers.ranks_per_worker, 3u);
  EXPECT_THAT(parse_error({"--cells", "many", "p"}), testing::StartsWith("--cells: expected auto"));
  for (const OptionGroup& group : option_groups())
    for (const OptionEntry& option : group.options)
      for (const std::string& name : option.names)
        EXPECT_THAT(name, testing::Not(testing::HasSubstr("cell"))) << "is accepted, but not shown";
}

TEST(RunOptions, RanksPerWorkerHaveALimit)
{
  EXPECT_FALSE(parse({"p"}).workers.ranks_per_worker.has_value());
  EXPECT_EQ(parse({"--ranks-per-worker", "512", "p"}).workers.ranks_per_worker, 512u);
  for (const char* number : {"0", "513", "auto"})
    EXPECT_THAT(parse_error({"--ranks-per-worker", number, "p"}),
                HasSubstr("--ranks-per-worker: expected a number of ranks between 1 and 512"));
}

TEST(RunOptions, JobsAreTheCpusUnlessGiven)
{
  cpu_set_t own;
  ASSERT_EQ(sched_getaffinity(0, sizeof own, &own), 0);
  EXPECT_EQ(parse({"p"}).jobs, static_cast<unsigned>(CPU_COUNT(&own)));
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int cpu = 0; CPU_COUNT(&one) == 0; ++cpu)
    if (CPU_ISSET(cpu, &own))
      CPU_SET(cpu, &one);
  sched_setaffinity(0, sizeof one, &one);
  EXPECT_EQ(parse({"p"}).jobs, 1u);
  sched_setaffinity(0, sizeof own, &own);
  EXPECT_EQ(parse({"-j", "3", "p"}).jobs, 3u);
  EXPECT_EQ(parse({"--jobs", "8", "p"}).jobs, 8u);
  EXPECT_EQ(parse_error({"-j", "0", "p"}),
            "-j: expected a number of jobs between 1 and 1000000, got '0'\n  Give a whole number, for example 1.");
}

TEST(Help, OfTheProgramIsTheProgramsOwn)
{
  EXPECT_FALSE(parse({"app", "--help"}).help);
}

TEST(OptionGroups, HaveEveryOptionOnce)
{
  std::set<std::string> seen;
  for (const OptionGroup& group : option_groups()) {
    for (const OptionEntry& option : group.options) {
      EXPECT_FALSE(option.help.empty()) << option.names.front();
      for (const std::string& name : option.names)
        EXPECT_TRUE(seen.insert(name).second) << name;
    }
  }
}

TEST(OptionGroups, BeginWithTheTenMostUsed)
{
  const OptionGroup first = option_groups().front();
  EXPECT_EQ(first.title, "Most used");
  EXPECT_EQ(first.options.size(), 10u);
  EXPECT_EQ(first.options.front().names.front(), "-np");
}

TEST(OptionGroups, AreShort)
{
  for (const OptionGroup& group : option_groups()) {
    EXPECT_GE(group.options.size(), 1u) << group.title;
    EXPECT_LE(group.options.size(), 10u) << group.title;
  }
}

TEST(Watching, HasOptionsOfItsOwn)
{
  const auto watched = [](const std::vector<std::string>& arguments) {
    return parse_run(arguments, environment({}), RunKind::watched);
  };
  EXPECT_EQ(watched({"./app"}).watch->output, "kernels.yaml");
  const plan::RunOptions run = watched({"-np", "2", "-o", "k.yaml", "--least=5%", "--functions", "f,g", "--functions",
                                        "h", "--force", "./app", "-o", "x"});
  EXPECT_EQ(run.watch->output, "k.yaml");
  EXPECT_EQ(run.watch->least, 0.05);
  EXPECT_EQ(run.watch->functions, (std::vector<std::string>{"f", "g", "h"}));
  EXPECT_TRUE(run.watch->overwrite);
  EXPECT_EQ(run.programs.front().argv.size(), 3U);
  EXPECT_FALSE(parse({"./app"}).watch);
  for (const char* option : {"-o", "--least", "--functions"})
    EXPECT_THAT(error_of([&] { parse({option, "1", "./app"}); }), HasSubstr("expected umwelt kernels in front of it"));
  EXPECT_THAT(error_of([&] { watched({"--kernels", "a.yaml", "./app"}); }), HasSubstr("expected no --kernels"));
  EXPECT_THAT(error_of([&] { watched({"--repeat", "2", "./app"}); }), HasSubstr("expected one run"));
  EXPECT_THAT(error_of([&] { watched({"--least", "101", "./app"}); }), HasSubstr("a percentage up to 100"));
}

TEST(RunOption, IsKnownHoweverItIsWritten)
{
  for (const char* word : {"-np", "--np", "--report=a", "-report"})
    EXPECT_TRUE(is_run_option(word)) << word;
  for (const char* word : {"np", "", "-", "--", "--nonsense"})
    EXPECT_FALSE(is_run_option(word)) << word;
}

} // namespace
} // namespace umwelt::cli
