// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/cli/doctor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>

#include "preload/abi/version_mark.h"
#include "runtime/base/exit_codes.h"
#include "support.h"

namespace umwelt::cli
{
namespace
{

using testing::HasSubstr;

const std::vector<Finding> mixed{{"one", Health::ok, "well", ""}, {"second", Health::warn, "so so", "do this"}};
const std::vector<Finding> failed{{"one", Health::fail, "broken", "mend it"}};

TEST(DoctorText, HasALineForEachFindingAndTheAdviceBelow)
{
  EXPECT_EQ(doctor_text(mixed), "OK    one     well\n"
                                "WARN  second  so so\n"
                                "              -> do this\n"
                                "\nUmwelt can run here, within the warnings above.\n");
}

TEST(DoctorText, SaysThatAFailureStopsUmwelt)
{
  EXPECT_THAT(doctor_text(failed), HasSubstr("FAIL  one  broken\n"));
  EXPECT_THAT(doctor_text(failed), HasSubstr("Umwelt cannot run here"));
}

TEST(DoctorJson, HoldsTheFindings)
{
  const auto json = nlohmann::json::parse(doctor_json(failed));
  EXPECT_EQ(json["ok"], false);
  EXPECT_EQ(json["findings"][0]["health"], "FAIL");
  EXPECT_EQ(json["findings"][0]["advice"], "mend it");
}

TEST(DoctorExitCode, IsZeroUnlessSomethingFailed)
{
  EXPECT_EQ(doctor_exit_code(mixed), exit_code::ok);
  EXPECT_EQ(doctor_exit_code(failed), exit_code::failure);
}

TEST(Doctor, OldGlibcFails)
{
  EXPECT_EQ(check_glibc("2.31").health, Health::fail);
}
TEST(Doctor, TestedGlibcIsWell)
{
  for (const char* version : {"2.36", "2.41"}) { // Debian 12 and 13
    const Finding finding = check_glibc(version);
    EXPECT_EQ(finding.health, Health::ok);
    EXPECT_THAT(finding.detail, HasSubstr("has _dl_find_object"));
  }
}
TEST(Doctor, AnotherGlibcIsWarnedAbout)
{
  EXPECT_EQ(check_glibc("2.40").health, Health::warn);
}
TEST(Doctor, UnreadableGlibcVersionFails)
{
  EXPECT_EQ(check_glibc("musl").health, Health::fail);
}

TEST(Doctor, LimitsAreWellWhenUnlimited)
{
  EXPECT_EQ(check_stack_limit(RLIM_INFINITY).detail, "unlimited");
  EXPECT_EQ(check_descriptor_limit(RLIM_INFINITY).health, Health::ok);
  EXPECT_EQ(check_process_limit(RLIM_INFINITY).health, Health::ok);
  EXPECT_EQ(check_address_space_limit(RLIM_INFINITY).health, Health::ok);
}

TEST(Doctor, LowLimitsAreWarnedAboutAndVeryLowOnesFail)
{
  EXPECT_EQ(check_stack_limit(64 << 10).health, Health::warn);
  EXPECT_EQ(check_descriptor_limit(256).health, Health::warn);
  EXPECT_EQ(check_descriptor_limit(64).health, Health::fail);
  EXPECT_EQ(check_process_limit(100).health, Health::warn);
  EXPECT_EQ(check_process_limit(10).health, Health::fail);
  EXPECT_EQ(check_address_space_limit(1 << 30).health, Health::warn);
  EXPECT_EQ(check_memory_maps(1000).health, Health::warn);
  EXPECT_EQ(check_memory(100 << 20).health, Health::warn);
}

TEST(Doctor, AdviceComesWithEveryTrouble)
{
  for (const Finding& finding :
       {check_descriptor_limit(64), check_memory(0), check_memory_maps(0), check_glibc("2.31")})
    EXPECT_FALSE(finding.advice.empty()) << finding.subject;
}

TEST(Doctor, ADirectoryThatCanBeUsedIsWell)
{
  const test::TemporaryDirectory directory;
  const Finding finding = check_directory(directory.path());
  EXPECT_NE(finding.health, Health::fail) << finding.detail;
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

TEST(Doctor, ADirectoryThatIsMissingFails)
{
  const Finding finding = check_directory("/nonexistent");
  EXPECT_EQ(finding.health, Health::fail);
  EXPECT_EQ(finding.detail, "/nonexistent: no file can be made (No such file or directory)");
}

TEST(Doctor, StrictSeccompFails)
{
  EXPECT_EQ(check_confinement("Name:\tx\nSeccomp:\t1\n", "").health, Health::fail);
}

TEST(Doctor, ASeccompFilterIsMentioned)
{
  const Finding finding = check_confinement("Seccomp:\t2\nSeccomp_filters:\t1\n", "1\n");
  EXPECT_EQ(finding.health, Health::ok);
  EXPECT_THAT(finding.detail, HasSubstr("a seccomp filter is in force"));
  EXPECT_THAT(finding.detail, HasSubstr("ptrace_scope 1"));
}

TEST(Doctor, RefusedSystemCallsFail)
{
  EXPECT_EQ(check_system_calls({}).health, Health::ok);
  const Finding finding = check_system_calls({"memfd_create(2), memory: Operation not permitted"});
  EXPECT_EQ(finding.health, Health::fail);
  EXPECT_THAT(finding.detail, HasSubstr("memfd_create(2)"));
  EXPECT_THAT(finding.advice, HasSubstr("seccomp"));
}

TEST(Doctor, MissingComponentsAreNamed)
{
  const test::TemporaryDirectory directory;
  const Finding finding = check_components(directory.path(), true, true);
  EXPECT_EQ(finding.health, Health::fail);
  EXPECT_THAT(finding.detail, HasSubstr("mca_btl_portals4.so is missing"));
}

TEST(Doctor, ComponentsAreOnlyForOpenMpi)
{
  const test::TemporaryDirectory directory;
  EXPECT_EQ(check_components(directory.path(), false, true).health, Health::warn);
}

TEST(Doctor, ComponentsThatWereNeverBuiltAreNoFailure)
{
  const test::TemporaryDirectory directory;
  const Finding finding = check_components(directory.path(), true, false);
  EXPECT_EQ(finding.health, Health::warn);
  EXPECT_THAT(finding.advice, HasSubstr("umwelt openmpi --source"));
}

TEST(Doctor, ComponentsThatCannotBeLoadedAreReported)
{
  const test::TemporaryDirectory directory;
  for (const char* name : {"btl_portals4", "mtl_portals4", "osc_portals4", "osc_pt2pt", "coll_portals4"})
    directory.write(std::string("mca_") + name + ".so", "not a library");
  const Finding finding = check_components(directory.path(), true, true);
  EXPECT_EQ(finding.health, Health::fail);
  EXPECT_THAT(finding.advice, HasSubstr("They must match"));
}

TEST(Doctor, ALibraryOfThisBuildIsWell)
{
  const test::TemporaryDirectory directory;
  const std::string text = std::string("\x7f") + "ELF" + UMW_VERSION_MARK "1.2 (git abc)" + '\0' + "more";
  const Finding finding = check_library(directory.write("libumwelt.so", text), "1.2 (git abc)");
  EXPECT_EQ(finding.health, Health::ok) << finding.detail;
  EXPECT_EQ(finding.subject, "libumwelt.so");
}

TEST(Doctor, ALibraryOfAnotherBuildFails)
{
  const test::TemporaryDirectory directory;
  const Finding finding = check_library(directory.write("libumwelt.so", UMW_VERSION_MARK "1.1"), "1.2");
  EXPECT_EQ(finding.health, Health::fail);
  EXPECT_THAT(finding.detail, HasSubstr("version 1.1, but this is umwelt 1.2"));
  EXPECT_THAT(finding.advice, HasSubstr("Install Umwelt again"));
}

TEST(Doctor, ALibraryThatIsMissingOrAnotherOneFails)
{
  const test::TemporaryDirectory directory;
  EXPECT_THAT(check_library(directory.path() / "gone.so", "1").detail, HasSubstr("No such file or directory"));
  EXPECT_EQ(check_library(directory.write("empty.so", ""), "1").health, Health::fail);
  EXPECT_EQ(check_program("umwelt calibrate", directory.path() / "gone").health, Health::warn);
}

TEST(Doctor, ExaminesThisMachine)
{
  const test::TemporaryDirectory directory;
  const auto findings = examine_machine({directory.path(),
                                         directory.path(),
                                         {directory.path() / "gone"},
                                         {{"umwelt tune", "/bin/sh"}, {"umwelt sweep", directory.path() / "gone"}}});
  EXPECT_EQ(findings.size(), 21u);
  EXPECT_EQ(findings.back().subject, "umwelt sweep");
  EXPECT_EQ(findings.back().health, Health::warn);
  for (const Finding& finding : findings) {
    EXPECT_FALSE(finding.detail.empty()) << finding.subject;
    EXPECT_EQ(finding.advice.empty(), finding.health == Health::ok) << finding.subject;
  }
}

TEST(Doctor, ReachesTheMemoryOfChildren)
{
  EXPECT_EQ(check_memory_of_children().health, Health::ok);
}

} // namespace
} // namespace umwelt::cli
