// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/launch/repeat.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/descriptor.h"
#include "runtime/base/exit_codes.h"
#include "runtime/launch/run.h"
#include "runtime/observe/repetitions.h"
#include "runtime/observe/result_file.h"

namespace umwelt::launch
{

namespace
{

volatile pid_t run_under_way = 0;
volatile sig_atomic_t stopped_by = 0;

// The run ends in good order. One that is at the same terminal has had its Ctrl-C from the kernel.
void hand_on(int signal, siginfo_t* from, void* /*context*/)
{
  stopped_by = signal;
  if (from->si_code != SI_KERNEL && run_under_way > 0)
    ::kill(run_under_way, signal);
}

class HandedOn
{
public:
  HandedOn()
  {
    struct sigaction action {
    };
    action.sa_sigaction = hand_on;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    for (std::size_t i = 0; i < signals.size(); ++i)
      sigaction(signals[i], &action, &before_[i]);
  }
  ~HandedOn() { restore(); }
  HandedOn(const HandedOn&) = delete;
  HandedOn& operator=(const HandedOn&) = delete;

  void restore() const
  {
    for (std::size_t i = 0; i < signals.size(); ++i)
      sigaction(signals[i], &before_[i], nullptr);
  }

private:
  static constexpr std::array<int, 3> signals{SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, signals.size()> before_{};
};

// Every run reads the same file from where it stood; what comes through a pipe goes to those that read it first.
class StandardInput
{
public:
  StandardInput() : begin_(lseek(STDIN_FILENO, 0, SEEK_CUR)) {}
  void rewind() const
  {
    if (begin_ >= 0)
      lseek(STDIN_FILENO, begin_, SEEK_SET);
  }

private:
  off_t begin_;
};

[[noreturn]] void cannot(const char* what)
{
  throw std::runtime_error(fmt::format("--repeat: expected {}, got: {}", what, std::strerror(errno)));
}

int wait_for(pid_t run)
{
  int status = 0;
  while (waitpid(run, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : exit_code::signalled + WTERMSIG(status);
}

} // namespace

plan::RunOptions options_of(const Repetition& repetition, plan::RunOptions options)
{
  if (!repetition.is_one_of_several())
    return options;
  options.repeat = 1;
  options.seed += repetition.number;
  options.report = fmt::format("/proc/self/fd/{}", repetition.report);
  options.summary = options.verbosity > 0;
  options.notes_said = repetition.number > 0;
  return options;
}

int repeat(const plan::RunOptions& options, const std::vector<std::string>& arguments)
{
  std::unique_ptr<observe::ResultFile> file;
  if (!options.report.empty())
    file = std::make_unique<observe::ResultFile>("--report", options.report);
  const HandedOn handed_on;
  const StandardInput input;
  std::vector<std::string> reports;
  int code = exit_code::ok;
  for (unsigned number = 0; number < options.repeat && code == exit_code::ok && stopped_by == 0; ++number) {
    const Descriptor report(memfd_create("umwelt-report", 0));
    if (report.get() < 0)
      cannot("a memory file");
    input.rewind();
    std::fflush(nullptr);
    const pid_t parent = getpid();
    const pid_t run = fork();
    if (run < 0)
      cannot("another process");
    if (run == 0) {
      handed_on.restore();
      prctl(PR_SET_PDEATHSIG, SIGTERM);
      if (getppid() != parent)
        return exit_code::failure;
      const Repetition repetition{number, report.get()};
      return prepare(options_of(repetition, options), arguments, repetition);
    }
    run_under_way = run;
    code = wait_for(run);
    run_under_way = 0;
    if (std::string text = contents(report.get()); !text.empty()) {
      reports.push_back(std::move(text));
      if (options.verbosity == 0)
        fmt::print(stderr, "umwelt: run {} of {}: {}\n", number + 1, options.repeat, observe::run_text(reports.back()));
    }
  }
  if (stopped_by != 0 && code == exit_code::ok)
    code = exit_code::signalled + stopped_by;
  if (reports.empty())
    return code;
  if (options.verbosity >= 0)
    fmt::print(stderr, "{}", observe::repetitions_text(reports));
  if (file != nullptr) {
    file->buffer() += observe::repetitions_json(reports);
    file->finish();
  }
  return code;
}

} // namespace umwelt::launch
