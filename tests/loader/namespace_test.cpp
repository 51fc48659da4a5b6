// SPDX-License-Identifier: LGPL-2.1-or-later
// What a dlmopen namespace needs of files, and which linkers are known. Ranks in namespaces: tests of `umwelt run
// --loader dlmopen`.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gnu/libc-version.h>
#include <gtest/gtest.h>
#include <link.h>
#include <unistd.h>

#include "loader/elf_file.h"
#include "loader/known_linker.h"
#include "loader/namespace.h"
#include "loader/private_copy.h"
#include "loader/stub.h"

namespace umwelt::loader
{
namespace
{

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class NamespaceTest : public testing::Test
{
protected:
  NamespaceTest()
  {
    char name[] = "/tmp/umwelt-test-XXXXXX";
    directory = mkdtemp(name);
  }
  ~NamespaceTest() override { fs::remove_all(directory); }

  std::string copy_of(const std::string& program) const
  {
    std::string copy = directory / "copy";
    make_private_copy(program, copy);
    return copy;
  }

  fs::path directory;
  const std::string self = fs::read_symlink("/proc/self/exe");
};

TEST_F(NamespaceTest, AStubNeedsWhatItIsTold)
{
  const std::string path = directory / "stub.so";
  const std::vector<std::string> needed = {"libm.so.6", "/some/where/libx.so"};
  write_stub(path, needed, {"name", 1}, 0);
  const ElfFile file = inspect(path);
  EXPECT_EQ(file.kind, ElfFile::Kind::shared);
  EXPECT_TRUE(file.native);
  EXPECT_EQ(file.soname, "");
  EXPECT_EQ(dlopen(path.c_str(), RTLD_NOW), nullptr);
  EXPECT_THAT(dlerror(), HasSubstr("/some/where/libx.so: cannot open shared object file"));
  EXPECT_THROW(write_stub(path, needed, {"name", 1}, 0), std::system_error); // it is there
}

TEST_F(NamespaceTest, AStubBringsItsSymbolAndThoseOfWhatItNeeds)
{
  const std::string path = directory / "stub.so";
  const std::vector<std::string> needed = {"libm.so.6"};
  write_stub(path, needed, {"test_address", 0x123456789a0}, 0);
  void* const handle = dlopen(path.c_str(), RTLD_NOW);
  ASSERT_NE(handle, nullptr) << dlerror();
  EXPECT_EQ(dlsym(handle, "test_address"), reinterpret_cast<void*>(0x123456789a0));
  EXPECT_NE(dlsym(handle, "cos"), nullptr);
  EXPECT_EQ(dlsym(handle, "no_such_symbol"), nullptr);
  dlclose(handle);
}

TEST_F(NamespaceTest, AProgramOpensAsALibraryFromItsCopy)
{
  ASSERT_TRUE(inspect("/bin/true").pie);
  EXPECT_EQ(dlopen("/bin/true", RTLD_LAZY), nullptr);
  const std::string copy = copy_of("/bin/true");
  EXPECT_FALSE(inspect(copy).pie);
  void* const handle = dlopen(copy.c_str(), RTLD_LAZY);
  EXPECT_NE(handle, nullptr) << dlerror();
}

TEST_F(NamespaceTest, ACopyOfAFixedProgramStillBelongsWhereItWasLinked)
{
  const ElfFile program = inspect(UMWELT_FIXED_PROGRAM);
  ASSERT_EQ(program.kind, ElfFile::Kind::executable);
  const ElfFile copy = inspect(copy_of(UMWELT_FIXED_PROGRAM));
  EXPECT_EQ(copy.kind, ElfFile::Kind::shared);
  EXPECT_EQ(copy.image.begin, program.image.begin);
}

TEST_F(NamespaceTest, ThreadLocalVariablesWithoutRoomAreRefused)
{
  try {
    copy_of(UMWELT_LARGE_PROGRAM);
    FAIL() << "expected a refusal";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("expected at most 8192 bytes, aligned to 64 or less, got 20000"));
    EXPECT_THAT(error.what(), HasSubstr("--loader linker"));
  }
}

TEST_F(NamespaceTest, WhatIsNoProgramCannotBeCopied)
{
  EXPECT_THROW(copy_of(directory / "nothing"), std::exception);
  std::ofstream(directory / "text") << "text";
  EXPECT_THROW(copy_of(directory / "text"), std::runtime_error);
}

TEST_F(NamespaceTest, TheUsersTunablesAreKept)
{
  setenv("GLIBC_TUNABLES", "glibc.malloc.check=1", 1);
  EXPECT_THAT(Namespace::needed_environment(),
              ElementsAre(testing::StartsWith("GLIBC_TUNABLES=glibc.malloc.check=1:glibc.rtld.nns=16:")));
  unsetenv("GLIBC_TUNABLES");
  EXPECT_THAT(Namespace::needed_environment(), ElementsAre(testing::StartsWith("GLIBC_TUNABLES=glibc.rtld.nns=16:")));
}

TEST_F(NamespaceTest, LinkersAreKnownByTheirVersion)
{
  const std::string linker = inspect(self).interpreter;
  const std::string here = gnu_get_libc_version(); // later than is known on Debian sid
  if (here >= "2.36" && here <= "2.41")
    EXPECT_EQ(why_unknown(linker), "");
  else
    EXPECT_THAT(why_unknown(linker), HasSubstr("is of glibc " + here + ", and a linker for each rank is known to"));
  std::ofstream(directory / "text") << "text";
  EXPECT_THAT(why_unknown(directory / "text"), HasSubstr("is not glibc's dynamic linker"));
  std::ofstream(directory / "later") << "ld.so (GNU libc) stable release version 2.99.\n";
  EXPECT_THAT(why_unknown(directory / "later"), HasSubstr("is of glibc 2.99, and a linker for each rank is known to"));
}

} // namespace
} // namespace umwelt::loader
