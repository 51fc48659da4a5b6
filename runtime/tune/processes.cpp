// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/tune/processes.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <map>
#include <stdexcept>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/descriptor.h"
#include "runtime/base/exit_codes.h"

namespace umwelt::tune
{
namespace
{

// What ends this program, and the end of a process, come when they are waited for.
class AwaitedSignals
{
public:
  AwaitedSignals()
  {
    sigemptyset(&set_);
    for (const int signal : {SIGCHLD, SIGINT, SIGTERM, SIGHUP})
      sigaddset(&set_, signal);
    sigprocmask(SIG_BLOCK, &set_, &before_);
  }
  ~AwaitedSignals() { restore(); }
  AwaitedSignals(const AwaitedSignals&) = delete;
  AwaitedSignals& operator=(const AwaitedSignals&) = delete;

  void restore() const { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  [[nodiscard]] int next() const
  {
    int signal = -1;
    while ((signal = sigwaitinfo(&set_, nullptr)) < 0 && errno == EINTR) {
    }
    return signal;
  }

private:
  sigset_t set_{};
  sigset_t before_{};
};

struct Process {
  std::size_t number = 0;
  Descriptor output;
  Descriptor errors;
};

[[noreturn]] void cannot(const char* what)
{
  throw std::runtime_error(fmt::format("umwelt tune: expected {}, got: {}", what, std::strerror(errno)));
}

Descriptor memory_file()
{
  Descriptor file(memfd_create("umwelt-tune", MFD_CLOEXEC));
  if (file.get() < 0)
    cannot("a memory file");
  return file;
}

class Processes
{
public:
  Processes() = default;
  // Of an exception: nothing runs on.
  ~Processes()
  {
    stop(SIGTERM);
    while (!running_.empty()) {
      int status = 0;
      const pid_t pid = waitpid(-1, &status, 0);
      if (pid < 0 && errno != EINTR)
        break;
      running_.erase(pid);
    }
  }
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  [[nodiscard]] std::size_t size() const { return running_.size(); }

  void start(std::size_t number, std::vector<std::string> command)
  {
    Process process{number, memory_file(), memory_file()};
    std::vector<char*> argv;
    argv.reserve(command.size() + 1);
    for (std::string& word : command)
      argv.push_back(word.data());
    argv.push_back(nullptr);
    std::fflush(nullptr);
    const pid_t parent = getpid();
    const pid_t pid = fork();
    if (pid < 0)
      cannot("another process");
    if (pid == 0) {
      const int nothing = open("/dev/null", O_RDONLY);
      if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 || dup2(process.output.get(), STDOUT_FILENO) < 0 ||
          dup2(process.errors.get(), STDERR_FILENO) < 0)
        _exit(exit_code::failure);
      signals_.restore();
      prctl(PR_SET_PDEATHSIG, SIGTERM);
      if (getppid() == parent)
        execv(argv[0], argv.data());
      _exit(exit_code::not_found);
    }
    running_.emplace(pid, std::move(process));
  }

  // Waits for the end of one, or for a signal to this program.
  void wait(const std::function<void(std::size_t, const Outcome&)>& done)
  {
    const int signal = signals_.next();
    if (signal != SIGCHLD)
      throw Stopped{signal};
    int status = 0;
    for (pid_t pid = 0; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
      const auto found = running_.find(pid);
      if (found == running_.end())
        continue;
      const Process process = std::move(found->second);
      running_.erase(found);
      done(process.number, {WIFEXITED(status) ? WEXITSTATUS(status) : exit_code::signalled + WTERMSIG(status),
                            contents(process.output.get()), contents(process.errors.get())});
    }
  }

private:
  void stop(int signal) const
  {
    for (const auto& [pid, process] : running_)
      ::kill(pid, signal);
  }

  AwaitedSignals signals_;
  std::map<pid_t, Process> running_;
};

} // namespace

void run_all(const std::vector<std::vector<std::string>>& commands, unsigned jobs,
             const std::function<void(std::size_t, const Outcome&)>& done)
{
  Processes processes;
  for (std::size_t next = 0; next < commands.size() || processes.size() > 0;) {
    while (next < commands.size() && processes.size() < jobs) {
      processes.start(next, commands[next]);
      ++next;
    }
    processes.wait(done);
  }
}

} // namespace umwelt::tune
