// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/openmpi/build.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <initializer_list>
#include <spawn.h>
#include <string>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <vector>

#include "loader/program.h"
#include "runtime/openmpi/library.h"

namespace umwelt::openmpi
{

namespace fs = std::filesystem;

namespace
{

[[noreturn]] void refuse(const std::string& text)
{
  throw loader::Refusal(loader::Refusal::Kind::not_runnable, text);
}

// A directory of its own beside where the components are to be, so that these can be moved there; gone in the end.
class Workshop
{
public:
  explicit Workshop(const fs::path& beside)
  {
    std::error_code error;
    fs::create_directories(beside, error);
    std::string name = beside / ".building-XXXXXX";
    if (error || mkdtemp(name.data()) == nullptr)
      refuse(fmt::format("{}: expected a directory that can be written, got: {}. Next step: set XDG_CACHE_HOME to one",
                         beside.string(), error ? error.message() : std::strerror(errno)));
    path = name;
  }
  Workshop(const Workshop&) = delete;
  Workshop& operator=(const Workshop&) = delete;
  ~Workshop()
  {
    std::error_code error;
    fs::remove_all(path, error);
  }

  fs::path path;
};

// While tools run, SIGINT, SIGTERM and SIGHUP end them first, and this process when what they have made is removed.
class Interruptible
{
public:
  Interruptible()
  {
    struct sigaction action = {};
    action.sa_handler = [](int signal) { came_ = signal; };
    for (std::size_t i = 0; i < signals.size(); ++i)
      sigaction(signals[i], &action, &before_[i]);
  }
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;
  ~Interruptible()
  {
    for (std::size_t i = 0; i < signals.size(); ++i)
      sigaction(signals[i], &before_[i], nullptr);
    if (came_ != 0)
      raise(came_);
  }
  [[nodiscard]] static int came() { return came_; }

private:
  static constexpr std::array<int, 3> signals{SIGINT, SIGTERM, SIGHUP};
  static volatile std::sig_atomic_t came_;
  std::array<struct sigaction, signals.size()> before_{};
};

volatile std::sig_atomic_t Interruptible::came_ = 0;

// What it prints goes to the log. Whether it succeeded.
bool succeeds(std::vector<std::string> words, const fs::path& log)
{
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words)
    argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP); // it and what it starts can be ended together
  pid_t child = 0;
  const int error = posix_spawnp(&child, argv.front(), &actions, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0)
    refuse(fmt::format("{}: expected CMake in PATH to build Portals components for this Open MPI with, got: {}. Next "
                       "step: install cmake, make and a C compiler",
                       words.front(), std::strerror(error)));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    if (Interruptible::came() != 0)
      kill(-child, SIGTERM);
  if (Interruptible::came() != 0)
    refuse(fmt::format("{}: ended by signal {}", words.front(), Interruptible::came()));
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

std::string last_lines(const fs::path& file, std::size_t count)
{
  std::ifstream in(file);
  std::deque<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    if (line.empty())
      continue;
    lines.push_back(line);
    if (lines.size() > count)
      lines.pop_front();
  }
  std::string text;
  for (const std::string& line : lines)
    text.append("\n  ").append(line);
  return text;
}

} // namespace

fs::path build(const Parts& parts, const fs::path& library, const fs::path& source, const Lookup& environment)
{
  std::error_code error;
  if (!fs::exists(source, error))
    refuse(fmt::format("{}: expected the source of Open MPI, a directory or an archive, got nothing. Next step: name "
                       "the source that {} was built from",
                       source.string(), library.string()));
  const std::string version = version_of(library);
  fs::path kept = kept_at(library, environment);
  const Interruptible interruptible;
  const Workshop workshop(kept.parent_path());
  const fs::path log = workshop.path / "log";
  const fs::path made = workshop.path / "components";
  fmt::print(stderr, "umwelt: builds Portals components for Open MPI {} ({}), once; this takes up to some minutes\n",
             version, library.string());
  const fs::path built = workshop.path / "build";
  if (!succeeds({"cmake", "-S", parts.recipe, "-B", built, "-DOPENMPI_LIBRARY=" + fs::absolute(library).string(),
                 "-DOPENMPI_VERSION=" + version, "-DOPENMPI_SOURCE=" + fs::absolute(source).string(),
                 "-DUMWELT_LIBRARIES=" + parts.libraries.string(), "-DOUTPUT=" + made.string()},
                log) ||
      !succeeds({"cmake", "--build", built, "--parallel"}, log)) {
    constexpr std::size_t lines = 12;
    const fs::path kept_log = kept.string() + ".log";
    fs::rename(log, kept_log, error);
    refuse(fmt::format("{}: expected Portals components to be built from {}, got an error. All of what was said is in "
                       "{}; its end:{}",
                       library.string(), source.string(), kept_log.string(), last_lines(kept_log, lines)));
  }
  std::ofstream(made / "made") << made_by(parts);
  fs::remove_all(kept, error);
  fs::rename(made, kept, error);
  if (error && !find(parts, library, environment)) // else another run was faster
    refuse(fmt::format("{}: expected to be made, got: {}", kept.string(), error.message()));
  return kept;
}

} // namespace umwelt::openmpi
