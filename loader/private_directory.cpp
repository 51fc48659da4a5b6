// SPDX-License-Identifier: LGPL-2.1-or-later
#include "loader/private_directory.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace umwelt::loader
{

namespace
{

constexpr const char* keep_mark = "keep";

// Waits for the end of the run and tidies up. Its own session and no open files but the pipe: nothing waits for it and
// no terminal signal ends it before its time.
[[noreturn]] void be_janitor(int pipe, const std::string& directory)
{
  prctl(PR_SET_NAME, "umwelt-janitor");
  setsid();
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE})
    ::signal(signal, SIG_IGN);
  if (dup2(pipe, 0) < 0)
    _exit(1);
  close_range(1, ~0U, 0);
  if (chdir("/") != 0)
    _exit(1);
  char byte = 0;
  while (read(0, &byte, 1) < 0 && errno == EINTR) {
  }
  std::error_code ignored;
  std::filesystem::remove_all(directory, ignored);
  _exit(0);
}

// What would end the process waits until there is a janitor: it would leave the directory behind.
class HeldSignals
{
public:
  HeldSignals()
  {
    sigset_t held;
    sigemptyset(&held);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP})
      sigaddset(&held, signal);
    sigprocmask(SIG_BLOCK, &held, &before_);
  }
  ~HeldSignals() { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

private:
  sigset_t before_{};
};

std::string parent_directory()
{
  const char* parent = std::getenv("TMPDIR");
  return parent != nullptr && *parent != '\0' ? parent : "/tmp";
}

std::string prefix()
{
  return fmt::format("umwelt-{}-", getuid());
}

// Removes what runs left behind whose janitor was killed with them. A run that is alive holds a lock on its directory,
// and one that has just begun is too young.
void sweep()
{
  namespace fs = std::filesystem;
  constexpr auto young = std::chrono::minutes(1);
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(parent_directory(), ignored)) {
    if (!entry.path().filename().string().starts_with(prefix()) || fs::exists(entry.path() / keep_mark, ignored) ||
        fs::file_time_type::clock::now() - fs::last_write_time(entry.path(), ignored) < young)
      continue;
    const int fd = open(entry.path().c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
      continue;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
      fs::remove_all(entry.path(), ignored);
    close(fd);
  }
}

} // namespace

PrivateDirectory::PrivateDirectory(bool keep) : keep_(keep)
{
  sweep();
  const HeldSignals held;
  std::string pattern = fmt::format("{}/{}XXXXXX", parent_directory(), prefix());
  if (mkdtemp(pattern.data()) == nullptr)
    throw std::runtime_error(
        fmt::format("{}: expected a directory for temporary files, got: {}. Next step: set TMPDIR to a "
                    "writable directory",
                    pattern, std::strerror(errno)));
  path_ = pattern;
  if (keep_) {
    std::ofstream(path_ + "/" + keep_mark) << "made by umwelt run --keep-temps\n";
    return;
  }
  lock_ = open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  flock(lock_, LOCK_SH); // held until this process has ended
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    throw std::runtime_error(fmt::format("pipe: {}", std::strerror(errno)));
  const pid_t child = fork();
  if (child == 0) {
    close(ends[1]);
    if (fork() == 0) // twice: the janitor is nobody's child and leaves no zombie
      be_janitor(ends[0], path_);
    _exit(0);
  }
  if (child > 0)
    waitpid(child, nullptr, 0);
  close(ends[0]);
  pipe_ = ends[1];
}

PrivateDirectory::~PrivateDirectory()
{
  remove();
}

void PrivateDirectory::remove() noexcept
{
  if (keep_ || path_.empty())
    return;
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
  path_.clear();
  close(lock_);
  close(pipe_); // lets the janitor go
}

} // namespace umwelt::loader
