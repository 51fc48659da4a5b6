// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/observe/result_file.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/runtime/observe/devices.h"

namespace umwelt::observe
{
namespace
{

namespace fs = std::filesystem;
using testing::ContainsRegex;
using testing::HasSubstr;

class ResultFileTest : public testing::Test
{
protected:
  ResultFileTest()
  {
    std::string name = testing::TempDir() + "umwelt-result-XXXXXX";
    directory = mkdtemp(name.data());
  }
  ~ResultFileTest() override { fs::remove_all(directory); }

  static std::string text_of(const fs::path& path)
  {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  static void write(const fs::path& path, const std::string& text = "new")
  {
    ResultFile file("--option", path);
    file.buffer() += text;
    file.finish();
  }
  static std::string refusal(const fs::path& path)
  {
    try {
      ResultFile::check("--option", path);
      ADD_FAILURE() << "check() accepts what the constructor does not";
    } catch (const std::invalid_argument&) {
    }
    try {
      const ResultFile file("--option", path);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "accepted";
  }
  std::vector<std::string> names()
  {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(directory))
      found.push_back(entry.path().filename());
    std::sort(found.begin(), found.end());
    return found;
  }

  fs::path directory;
};

TEST_F(ResultFileTest, IsThereWhenItIsWhole)
{
  ResultFile file("--option", directory / "a");
  file.buffer() += "text";
  EXPECT_FALSE(fs::exists(directory / "a"));
  EXPECT_EQ(file.bytes(), 4U);
  file.finish();
  EXPECT_EQ(text_of(directory / "a"), "text");
  EXPECT_THAT(names(), testing::ElementsAre("a"));
}

TEST_F(ResultFileTest, LeavesNothingIfItIsNotFinished)
{
  std::ofstream(directory / "a") << "old";
  {
    ResultFile file("--option", directory / "a");
    file.buffer().append(1 << 20, 'x');
    file.flush_if_large();
  }
  EXPECT_EQ(text_of(directory / "a"), "old");
  EXPECT_THAT(names(), testing::ElementsAre("a"));
}

TEST_F(ResultFileTest, ThatWasThereIsReplacedAndKeepsItsPermissions)
{
  std::ofstream(directory / "a") << "older and longer";
  fs::permissions(directory / "a", fs::perms(0640));
  const int before = open((directory / "a").c_str(), O_RDONLY);
  write(directory / "a");
  EXPECT_EQ(text_of(directory / "a"), "new");
  EXPECT_EQ(fs::status(directory / "a").permissions(), fs::perms(0640));
  std::array<char, 5> text{};
  EXPECT_EQ(read(before, text.data(), 5), 5); // who reads the old one goes on doing so
  EXPECT_EQ(std::string(text.data(), 5), "older");
  close(before);
  EXPECT_THAT(names(), testing::ElementsAre("a"));
}

TEST_F(ResultFileTest, KeepsTheOwner)
{
  std::ofstream(directory / "a") << "old";
  if (chown((directory / "a").c_str(), 12, 34) != 0)
    GTEST_SKIP() << "chown(2) needs root";
  write(directory / "a");
  struct stat status {
  };
  stat((directory / "a").c_str(), &status);
  EXPECT_EQ(status.st_uid, 12U);
  EXPECT_EQ(status.st_gid, 34U);
}

TEST_F(ResultFileTest, ThatIsNewHasThePermissionsOfTheUmask)
{
  const mode_t before = umask(027);
  write(directory / "a");
  umask(before);
  EXPECT_EQ(fs::status(directory / "a").permissions(), fs::perms(0640));
}

TEST_F(ResultFileTest, LinksStayAndTheirTargetsAreReplaced)
{
  fs::create_directory(directory / "far");
  std::ofstream(directory / "far" / "b") << "old";
  fs::create_symlink("far/b", directory / "a");
  write(directory / "a");
  EXPECT_TRUE(fs::is_symlink(directory / "a"));
  EXPECT_EQ(text_of(directory / "far" / "b"), "new");
  EXPECT_FALSE(fs::is_symlink(directory / "far" / "b"));
}

TEST_F(ResultFileTest, TheTargetOfALinkNeedNotBeThereYet)
{
  fs::create_directory(directory / "far");
  fs::create_symlink(directory / "far" / "c", directory / "b");
  fs::create_symlink("b", directory / "a");
  write(directory / "a");
  EXPECT_TRUE(fs::is_symlink(directory / "a") && fs::is_symlink(directory / "b"));
  EXPECT_EQ(text_of(directory / "far" / "c"), "new");
}

TEST_F(ResultFileTest, LinksThatLeadNowhereAreRefused)
{
  fs::create_symlink("b", directory / "a");
  fs::create_symlink("a", directory / "b");
  EXPECT_THAT(refusal(directory / "a"), HasSubstr("Too many levels of symbolic links"));
}

TEST_F(ResultFileTest, DevicesStay)
{
  const std::string null = make_null_device(directory / "null");
  if (null.empty())
    GTEST_SKIP() << "mknod(2) needs root";
  fs::create_symlink("null", directory / "link");
  write(null);
  write(directory / "link");
  EXPECT_TRUE(fs::is_character_file(null));
  EXPECT_TRUE(fs::is_symlink(directory / "link"));
  EXPECT_THAT(names(), testing::ElementsAre("link", "null"));
}

TEST_F(ResultFileTest, WhatIsNotWholeIsTold)
{
  const std::string full = make_full_device(directory / "full");
  if (full.empty())
    GTEST_SKIP() << "mknod(2) needs root";
  try {
    write(full);
    FAIL() << "accepted";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), ContainsRegex("--option .*/full: expected all of it to be written, got: No space left on "
                                            "device after 0 bytes\n  Make room"));
  }
  EXPECT_TRUE(fs::is_character_file(full));
}

TEST_F(ResultFileTest, FifosAreWaitedForAndStay)
{
  ASSERT_EQ(mkfifo((directory / "fifo").c_str(), 0600), 0);
  ResultFile::check("--option", directory / "fifo"); // does not wait
  std::string got;
  std::thread reader([&] { got = text_of(directory / "fifo"); });
  testing::internal::CaptureStderr();
  write(directory / "fifo");
  reader.join();
  testing::internal::GetCapturedStderr(); // whether it had to wait is chance
  EXPECT_EQ(got, "new");
  EXPECT_TRUE(fs::is_fifo(directory / "fifo"));
}

TEST_F(ResultFileTest, AReaderThatHasGoneIsAnErrorAndNoSignal)
{
  ASSERT_EQ(mkfifo((directory / "fifo").c_str(), 0600), 0);
  const int reader = open((directory / "fifo").c_str(), O_RDONLY | O_NONBLOCK);
  ResultFile file("--option", directory / "fifo");
  close(reader);
  file.buffer() += "text";
  try {
    file.finish();
    FAIL() << "accepted";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("Broken pipe"));
  }
}

// /dev/stdout and what a shell's >(...) gives. What has been written there stays.
TEST_F(ResultFileTest, DescriptorsOfTheProcessAreWrittenInPlace)
{
  const int fd = open((directory / "a").c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_EQ(::write(fd, "before ", 7), 7);
  const std::string name = "/proc/self/fd/" + std::to_string(fd);
  fs::create_symlink(name, directory / "link");
  write("/dev/fd/" + std::to_string(fd), "one ");
  write(directory / "link", "two ");
  ASSERT_EQ(::write(fd, "after", 5), 5);
  EXPECT_EQ(text_of(directory / "a"), "before one two after");
  close(fd);

  std::array<int, 2> pair{};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair.data()), 0);
  write("/dev/fd/" + std::to_string(pair[0]));
  std::array<char, 3> text{};
  EXPECT_EQ(read(pair[1], text.data(), 3), 3);
  for (const int end : pair)
    close(end);
}

TEST_F(ResultFileTest, WhatCannotBeWrittenIsKnownAtOnce)
{
  EXPECT_THAT(refusal(directory / "absent" / "a"), ContainsRegex("--option .*/absent/a: expected a file that can be "
                                                                 "written, got: No such file or directory\n  Check"));
  EXPECT_THAT(refusal(directory), HasSubstr("Is a directory"));
  EXPECT_THAT(refusal(directory.string() + "/new/"), HasSubstr("No such file or directory"));
  EXPECT_THAT(refusal(""), HasSubstr("No such file or directory"));
  const int fd = open("/", O_RDONLY);
  EXPECT_THAT(refusal("/dev/fd/" + std::to_string(fd)), HasSubstr("Bad file descriptor"));
  close(fd);
}

TEST_F(ResultFileTest, WithoutTheRightIsRefused)
{
  if (geteuid() == 0)
    GTEST_SKIP() << "root may write everything";
  std::ofstream(directory / "a") << "old";
  fs::permissions(directory / "a", fs::perms(0444));
  EXPECT_THAT(refusal(directory / "a"), HasSubstr("Permission denied"));
  // Where nothing can be made, what is there can still be written.
  fs::permissions(directory / "a", fs::perms(0644));
  fs::permissions(directory, fs::perms(0555));
  write(directory / "a");
  EXPECT_EQ(text_of(directory / "a"), "new");
  EXPECT_THAT(refusal(directory / "b"), HasSubstr("Permission denied"));
  fs::permissions(directory, fs::perms(0755));
}

TEST_F(ResultFileTest, GoesToTheDirectoryItWasOpenedIn)
{
  const fs::path before = fs::current_path();
  fs::current_path(directory);
  ResultFile file("--option", "a");
  fs::current_path(before);
  file.finish();
  EXPECT_TRUE(fs::exists(directory / "a"));
}

TEST_F(ResultFileTest, KnowsWhenTwoAreTheSame)
{
  fs::create_symlink("a", directory / "link");
  const ResultFile one("--one", directory / "a");
  const ResultFile same("--same", directory / "." / "link");
  const ResultFile other("--other", directory / "b");
  EXPECT_TRUE(one.same_file(same));
  EXPECT_FALSE(one.same_file(other));
}

TEST_F(ResultFileTest, FollowedAppearsAtOnceAndIsAddedTo)
{
  using Growth = ResultFile::Growth;
  std::ofstream(directory / "a") << "old";
  {
    const ResultFile refused("--option", directory / "a", Growth::followed);
    const ResultFile made("--option", directory / "b", Growth::followed);
    EXPECT_EQ(names().size(), 2U);
  }
  EXPECT_THAT(names(), testing::ElementsAre("a")); // it has not begun
  EXPECT_EQ(text_of(directory / "a"), "old");
  fs::create_symlink("a", directory / "link");
  ResultFile file("--option", directory / "a", Growth::followed);
  ResultFile same("--option", directory / "link", Growth::followed);
  for (ResultFile* each : {&file, &same})
    each->begin();
  EXPECT_EQ(text_of(directory / "a"), "");
  file.add("one ");
  EXPECT_EQ(text_of(directory / "a"), "one ");
  same.add("two ");
  file.add("three");
  for (ResultFile* each : {&file, &same})
    each->finish();
  EXPECT_EQ(text_of(directory / "a"), "one two three");
  EXPECT_TRUE(fs::is_symlink(directory / "link"));
}

// Somebody else who has the pipe may have made it so.
TEST_F(ResultFileTest, WaitsForRoomInAPipeThatDoesNotBlock)
{
  std::array<int, 2> pipe{};
  ASSERT_EQ(pipe2(pipe.data(), O_CLOEXEC), 0);
  fcntl(pipe[1], F_SETFL, O_NONBLOCK);
  constexpr std::size_t size = 1 << 20;
  std::size_t got = 0;
  std::thread reader([&] {
    std::array<char, 4096> text{};
    for (ssize_t bytes = 0; (bytes = read(pipe[0], text.data(), text.size())) > 0;)
      got += static_cast<std::size_t>(bytes);
  });
  write("/dev/fd/" + std::to_string(pipe[1]), std::string(size, 'x'));
  close(pipe[1]);
  reader.join();
  close(pipe[0]);
  EXPECT_EQ(got, size);
}

// The file system says no at the end: what there is gets a name, if that is wanted.
TEST_F(ResultFileTest, KeepsWhatThereIsIfAsked)
{
  for (const bool keep : {false, true}) {
    ResultFile file("--option", directory / "a");
    file.buffer() += "text";
    fs::create_directory(directory / "a"); // in its place
    EXPECT_THROW(file.finish("", keep), std::runtime_error);
    fs::remove(directory / "a");
    EXPECT_EQ(names().size(), keep ? 1U : 0U);
  }
  EXPECT_EQ(text_of(directory / names().at(0)), "text");
}

} // namespace
} // namespace umwelt::observe
