// SPDX-License-Identifier: LGPL-2.1-or-later
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loader/elf_file.h"
#include "loader/image.h"
#include "loader/linker.h"
#include "loader/private_directory.h"
#include "loader/program.h"

namespace umwelt::loader
{
namespace
{

namespace fs = std::filesystem;

class LoaderTest : public testing::Test
{
protected:
  LoaderTest()
  {
    char name[] = "/tmp/umwelt-test-XXXXXX";
    directory = mkdtemp(name);
  }
  ~LoaderTest() override { fs::remove_all(directory); }
  std::string write(const std::string& name, const std::string& content) const
  {
    const fs::path path = directory / name;
    std::ofstream(path) << content;
    chmod(path.c_str(), 0755);
    return path;
  }
  [[nodiscard]] static std::vector<std::string> environment() { return {"PATH=/usr/bin:/bin", "HOME=/"}; }

  fs::path directory;
  const std::string self = fs::read_symlink("/proc/self/exe");
};

TEST_F(LoaderTest, InspectsAnExecutable)
{
  const ElfFile file = inspect(self);
  EXPECT_EQ(file.kind, ElfFile::Kind::shared);
  EXPECT_TRUE(file.native);
  EXPECT_TRUE(file.pie);
  EXPECT_NE(file.interpreter.find("ld-linux-x86-64"), std::string::npos);
  EXPECT_FALSE(file.needed.empty());
  EXPECT_EQ(file.soname, "");
  EXPECT_EQ(inspect(UMWELT_SHIM).soname, "libumwelt-preload.so");
}

TEST_F(LoaderTest, TextIsNotElf)
{
  EXPECT_EQ(inspect(write("text", "hello")).kind, ElfFile::Kind::not_elf);
}

TEST_F(LoaderTest, DamagedElfNeverCrashesTheInspection)
{
  std::ifstream file(self, std::ios::binary);
  std::string image(64 * 1024, '\0');
  file.read(image.data(), static_cast<std::streamsize>(image.size()));
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    std::string damaged = image;
    for (int i = 0; i < 1 + round % 32; ++i)
      damaged[random() % (round % 2 ? 1024 : damaged.size())] = static_cast<char>(random());
    damaged.resize(random() % damaged.size() + 1);
    const std::string path = write("damaged", damaged);
    inspect(path);
    fs::remove(path);
  }
}

TEST_F(LoaderTest, SaysWhereAProgramMustLie)
{
  const Program fixed = find_program({UMWELT_FIXED_PROGRAM}, environment(), "/");
  EXPECT_TRUE(fixed.fixed_address());
  EXPECT_EQ(fixed.linked_at.begin % 4096, 0u);
  EXPECT_EQ(fixed.linked_at.end % 4096, 0u);
  EXPECT_FALSE(find_program({self}, environment(), "/").fixed_address());
}

// --- a dynamic linker of one's own -----------------------------------------------------------------------------------

class LinkerTest : public LoaderTest
{
protected:
  [[nodiscard]] LoadStart start_of(const Program& program)
  {
    LoadStart start;
    start.interpreter = program.interpreter;
    start.program = program.path;
    start.preloaded = {UMWELT_SHIM};
    start.linked_at = program.linked_at;
    start.argv = {name, nullptr};
    start.envp = {nullptr};
    const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    start.stack_bottom = reinterpret_cast<void*>((here - (4UL << 20)) & ~std::uintptr_t{4095});
    return start;
  }
  // A gate that the shim takes for its own.
  static void prepare(umw_gate& gate)
  {
    gate.version = UMW_GATE_VERSION;
    gate.size = sizeof gate;
  }

  char name[8] = "program";
};

TEST_F(LinkerTest, ItsImageIsMappedAgainAndAgain)
{
  const Program program = find_program({self}, environment(), "/");
  EXPECT_NE(program.interpreter.find("ld-linux-x86-64"), std::string::npos);
  const Image first(
      program.interpreter, [](void*, int) {}, nullptr);
  const Image second(
      program.interpreter, [](void*, int) {}, nullptr);
  EXPECT_NE(first.base(), second.base());
  EXPECT_GT(first.entry(), first.base());
  EXPECT_NE(first.symbol("_r_debug"), nullptr);
  EXPECT_NE(first.symbol("_r_debug"), dlsym(RTLD_DEFAULT, "_r_debug"));
  EXPECT_EQ(first.symbol("no_such_symbol"), nullptr);
  EXPECT_TRUE(first.returns());
}

TEST_F(LinkerTest, OtherFilesAreNoDynamicLinkers)
{
  EXPECT_THROW(Image("/nonexistent", nullptr, nullptr), std::system_error);
  EXPECT_THROW(Image(write("text", "hello"), nullptr, nullptr), std::runtime_error);
  EXPECT_THROW(Image(UMWELT_FIXED_PROGRAM, nullptr, nullptr), std::runtime_error);
}

TEST_F(LinkerTest, LoadsAProgramUpToTheShimsFirstInitialiser)
{
  const Program program = find_program({"/bin/true"}, environment(), "/");
  umw_gate gate{};
  prepare(gate);
  Linker linker(gate);
  const auto failure = linker.load(start_of(program));
  EXPECT_EQ(failure.text, "");
  EXPECT_NE(linker.thread_pointer(), 0U);
  EXPECT_NE(linker.kernel_id(), gettid());
  ASSERT_NE(linker.debug(), nullptr);
  ASSERT_NE(linker.debug()->r_map, nullptr);
  EXPECT_STREQ(linker.debug()->r_map->l_name, "");
  const ElfW(Ehdr)* header = elf_header(gate, *linker.debug()->r_map);
  ASSERT_NE(header, nullptr);
  EXPECT_EQ(header->e_ident[EI_MAG1], 'E');
  bool shim = false;
  for (const link_map* object = linker.debug()->r_map; object != nullptr; object = object->l_next)
    shim = shim || std::string(object->l_name) == UMWELT_SHIM;
  EXPECT_TRUE(shim);
  ASSERT_EQ(linker.code_of_shim().size(), 1U);
  EXPECT_LT(linker.code_of_shim().front().begin, gate.handover.code);
  EXPECT_GT(linker.code_of_shim().front().end, gate.handover.code);
}

TEST_F(LinkerTest, SaysThatItGaveUp)
{
  Program program = find_program({"/bin/true"}, environment(), "/");
  program.path = "/nonexistent";
  umw_gate gate{};
  prepare(gate);
  Linker linker(gate);
  const auto failure = linker.load(start_of(program));
  EXPECT_TRUE(failure.gave_up);
  EXPECT_EQ(failure.text, "its dynamic linker gave up, with the message above");
  EXPECT_EQ(gate.handover.status, 127);
}

// In a process of its own: what is loaded stays.
TEST_F(LinkerTest, OneProgramThatIsNotPositionIndependentFitsInAProcess)
{
  const Program program = find_program({UMWELT_FIXED_PROGRAM}, environment(), "/");
  const auto load_two = [&] {
    umw_gate gates[2] = {};
    prepare(gates[0]);
    prepare(gates[1]);
    Linker first(gates[0]);
    Linker second(gates[1]);
    std::string errors = first.load(start_of(program)).text;
    const link_map* object = first.debug()->r_map;
    if (!errors.empty() || object->l_addr != 0 ||
        reinterpret_cast<std::uintptr_t>(elf_header(gates[0], *object)) != program.linked_at.begin)
      errors += "the first is not where it belongs\n";
    errors += second.load(start_of(program)).text;
    std::fputs(errors.c_str(), stderr);
    _exit(0);
  };
  EXPECT_EXIT(
      load_two(), testing::ExitedWithCode(0),
      "^a program that is not position-independent \\(ET_EXEC\\): expected to lie at 0x[0-9a-f]+ to 0x[0-9a-f]+, got "
      "that place taken\\. A process has room for one of them; umwelt gives such ranks a worker process "
      "each$");
}

// --- finding programs ------------------------------------------------------------------------------------------------

TEST_F(LoaderTest, FindsAProgramInThePath)
{
  const Program program = find_program({"env", "-i"}, environment(), "/");
  EXPECT_EQ(fs::path(program.path).filename(), "env");
  EXPECT_EQ(program.argv, (std::vector<std::string>{"env", "-i"}));
  ASSERT_FALSE(program.libraries.empty());
  EXPECT_EQ(program.libraries.back().name, "libc.so.6");
  EXPECT_TRUE(fs::exists(program.libraries.back().path));
}

TEST_F(LoaderTest, AScriptRunsItsInterpreter)
{
  const std::string script = write("script", "#!/bin/sh -e\necho hello\n");
  const Program program = find_program({script, "argument"}, environment(), "/");
  EXPECT_EQ(program.path, fs::canonical("/bin/sh"));
  EXPECT_EQ(program.argv, (std::vector<std::string>{"/bin/sh", "-e", script, "argument"}));
}

TEST_F(LoaderTest, SaysWhichKindOfRefusalItIs)
{
  try {
    find_program({"no-such-program"}, environment(), "/");
    FAIL();
  } catch (const Refusal& refusal) {
    EXPECT_EQ(refusal.kind(), Refusal::Kind::not_found);
  }
  try {
    find_program({write("text", "hello")}, environment(), "/");
    FAIL();
  } catch (const Refusal& refusal) {
    EXPECT_EQ(refusal.kind(), Refusal::Kind::not_runnable);
    EXPECT_NE(std::string(refusal.what()).find("found neither"), std::string::npos);
  }
}

TEST_F(LoaderTest, ScriptsOfScriptsEndSomewhere)
{
  const std::string path = directory / "loop";
  write("loop", "#!" + path + "\n");
  EXPECT_THROW(find_program({path}, environment(), "/"), Refusal);
}

TEST_F(LoaderTest, ThePrivateDirectoryIsPrivateAndGoes)
{
  setenv("TMPDIR", directory.c_str(), 1);
  std::string path;
  {
    PrivateDirectory made(false);
    path = made.path();
    struct stat status {
    };
    stat(path.c_str(), &status);
    EXPECT_EQ(status.st_mode & 0777, 0700u);
    std::ofstream(path + "/file") << "x";
  }
  EXPECT_FALSE(fs::exists(path));
  unsetenv("TMPDIR");
}

// Whenever the signal comes: the janitor that removes the directory is there when the process can end.
TEST_F(LoaderTest, AProcessThatIsEndedLeavesNoPrivateDirectory)
{
  const fs::path temporary = directory / "temporary";
  fs::create_directory(temporary);
  setenv("TMPDIR", temporary.c_str(), 1);
  for (int microseconds = 0; microseconds < 1000; microseconds += 5) {
    const pid_t child = fork();
    if (child == 0) {
      const PrivateDirectory made(false);
      for (;;)
        pause();
    }
    usleep(static_cast<useconds_t>(microseconds));
    kill(child, SIGTERM);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM) << status;
  }
  for (int i = 0; i < 5000 && !fs::is_empty(temporary); ++i) // janitors take their time
    usleep(1000);
  EXPECT_TRUE(fs::is_empty(temporary));
  unsetenv("TMPDIR");
}

TEST_F(LoaderTest, AnOldDirectoryOfADeadRunIsSweptUp)
{
  setenv("TMPDIR", directory.c_str(), 1);
  const fs::path old = directory / ("umwelt-" + std::to_string(getuid()) + "-abandoned");
  fs::create_directory(old);
  fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(1));
  const PrivateDirectory made(false);
  EXPECT_FALSE(fs::exists(old));
  unsetenv("TMPDIR");
}

} // namespace
} // namespace umwelt::loader
