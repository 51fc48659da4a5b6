// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "loader/elf_file.h"
#include "loader/loaded_object.h"
#include "loader/namespace.h"
#include "loader/private_copy.h"
#include "loader/private_folder.h"
#include "loader/program.h"
#include "loader/stub.h"

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
    folder = mkdtemp(name);
  }
  ~LoaderTest() override { fs::remove_all(folder); }
  std::string write(const std::string& name, const std::string& content) const
  {
    const fs::path path = folder / name;
    std::ofstream(path) << content;
    chmod(path.c_str(), 0755);
    return path;
  }
  [[nodiscard]] static std::vector<std::string> environment() { return {"PATH=/usr/bin:/bin", "HOME=/"}; }

  fs::path folder;
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

TEST_F(LoaderTest, ThePrivateCopyIsNoPieAnyMoreAndOtherwiseTheSame)
{
  const std::string copy = folder / "copy";
  make_private_copy(self, copy);
  const ElfFile before = inspect(self);
  const ElfFile after = inspect(copy);
  EXPECT_TRUE(before.pie);
  EXPECT_FALSE(after.pie);
  EXPECT_EQ(before.needed, after.needed);
  EXPECT_EQ(fs::file_size(self), fs::file_size(copy));
  struct stat status {
  };
  stat(copy.c_str(), &status);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
}

TEST_F(LoaderTest, SaysWhereAProgramMustLie)
{
  const Program fixed = find_program({UMWELT_FIXED_PROGRAM}, environment(), "/");
  EXPECT_TRUE(fixed.fixed_address());
  EXPECT_EQ(fixed.linked_at.begin % 4096, 0u);
  EXPECT_EQ(fixed.linked_at.end % 4096, 0u);
  EXPECT_FALSE(find_program({self}, environment(), "/").fixed_address());
}

// Everything in a process of its own: namespaces stay.
TEST_F(LoaderTest, OneProgramThatIsNotPositionIndependentFitsInAProcess)
{
  const Program program = find_program({UMWELT_FIXED_PROGRAM}, environment(), "/");
  const std::string copy = folder / "copy";
  const std::string stub = folder / "stub.so";
  make_private_copy(program.path, copy);
  EXPECT_EQ(inspect(copy).kind, ElfFile::Kind::shared);
  write_stub(stub, std::vector<std::string>{copy});
  const auto load_two = [&] {
    Namespace first;
    Namespace second;
    std::string errors = first.load(stub.c_str(), program.linked_at);
    const link_map* object = first.program();
    if (!errors.empty() || object->l_addr != 0 ||
        reinterpret_cast<std::uintptr_t>(elf_header(*object)) != program.linked_at.begin)
      errors += "the first is not where it belongs\n";
    errors += second.load(stub.c_str(), program.linked_at);
    if (second.loaded())
      errors += "\nthe second was loaded";
    std::fputs(errors.c_str(), stderr);
    _exit(0);
  };
  EXPECT_EXIT(
      load_two(), testing::ExitedWithCode(0),
      "^a program that is not position-independent \\(ET_EXEC\\): expected to lie at 0x[0-9a-f]+ to 0x[0-9a-f]+, got "
      "that place taken\\. A process has room for one of them; umwelt gives such ranks a process \\(cell\\) each$");
}

TEST_F(LoaderTest, TheStubBringsInWhatItNeeds)
{
  const std::string path = folder / "stub.so";
  write_stub(path, std::vector<std::string>{"libm.so.6"});
  EXPECT_EQ(inspect(path).kind, ElfFile::Kind::shared);
  void* stub = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(stub, nullptr) << dlerror();
  EXPECT_NE(dlsym(stub, "cos"), nullptr);
  dlclose(stub);
}

TEST_F(LoaderTest, AStubIsNeverWrittenOverSomethingElse)
{
  const std::string path = write("there", "");
  EXPECT_THROW(write_stub(path, std::vector<std::string>{}), std::system_error);
}

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
  const std::string path = folder / "loop";
  write("loop", "#!" + path + "\n");
  EXPECT_THROW(find_program({path}, environment(), "/"), Refusal);
}

TEST_F(LoaderTest, ThePrivateFolderIsPrivateAndGoes)
{
  setenv("TMPDIR", folder.c_str(), 1);
  std::string path;
  {
    PrivateFolder made(false);
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

TEST_F(LoaderTest, AnOldFolderOfADeadRunIsSweptUp)
{
  setenv("TMPDIR", folder.c_str(), 1);
  const fs::path old = folder / ("umwelt-" + std::to_string(getuid()) + "-abandoned");
  fs::create_directory(old);
  fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(1));
  const PrivateFolder made(false);
  EXPECT_FALSE(fs::exists(old));
  unsetenv("TMPDIR");
}

} // namespace
} // namespace umwelt::loader
