// SPDX-License-Identifier: LGPL-2.1-or-later
// Wrappers while they run: to the executions of their programs, and, once the ranks have ended, to their own ends.
#include "runtime/launch/wrappers.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <map>
#include <system_error>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
extern "C" {
#include <sys/pidfd.h> // glibc 2.36 forgets to say so
}

#include "preload/abi/wrapper_protocol.h"
#include "runtime/base/descriptor.h"
#include "runtime/base/exit_codes.h"
#include "runtime/job/environment.h"
#include "runtime/launch/tracers.h"
#include "runtime/launch/wrapper_keeper.h"
#include "runtime/launch/wrapper_kinds.h"
#include "runtime/launch/wrapper_questions.h"

namespace umwelt::launch
{

using Clock = std::chrono::steady_clock;

namespace
{

int exit_code_of(int status)
{
  return WIFSIGNALED(status) ? exit_code::signalled + WTERMSIG(status) : WEXITSTATUS(status);
}

bool same_file(int a, int b)
{
  struct stat first {
  };
  struct stat second {
  };
  return fstat(a, &first) == 0 && fstat(b, &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino && first.st_rdev == second.st_rdev;
}

// The wrappers while they run.
class Session
{
public:
  Session(std::vector<WrapperStart> starts, const std::string& library, const std::string& own_programs)
      : starts_(std::move(starts)), ranks_(starts_.size()), library_(library), judge_(library, own_programs)
  {
    for (std::size_t i = 0; i < starts_.size(); ++i)
      index_[starts_[i].rank] = i;
    null_ = Descriptor(open("/dev/null", O_RDWR | O_CLOEXEC));
    start_keeper();
  }
  ~Session()
  {
    if (keeper_.get() < 0)
      return;
    for (const Rank& rank : ranks_) // first: one that is about to execute the wrapper has no mark yet
      if (rank.pid > 0 && !rank.ended)
        ::kill(rank.pid, SIGKILL);
    signal_marked(listener_.name(), SIGKILL);
    for (const Rank& rank : ranks_)
      if (rank.pid > 0 && !rank.ended)
        waitpid(rank.pid, nullptr, 0);
    order_keeper(keeper_.get(), KeeperOrder::leave);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  Wrappers run(std::optional<unsigned> timeout)
  {
    const std::size_t at_once = 4 * std::max(1U, std::thread::hardware_concurrency());
    const auto deadline = timeout ? Clock::now() + std::chrono::seconds(*timeout) : Clock::time_point::max();
    while (running_ > 0 || started_ < ranks_.size()) {
      while (started_ < ranks_.size() && running_ < at_once)
        start(started_++);
      if (!await(deadline))
        return {{}, timed_out(*timeout)};
      if (const auto failed =
              std::find_if(ranks_.begin(), ranks_.end(),
                           [](const Rank& rank) { return rank.ended && rank.code != 0 && !rank.execution; });
          failed != ranks_.end()) {
        fmt::print(stderr, "umwelt: the wrapper of rank {} ended with exit code {} before it executed a program\n",
                   starts_[static_cast<std::size_t>(failed - ranks_.begin())].rank, failed->code);
        return {{}, failed->code};
      }
    }
    Wrappers result;
    for (Rank& rank : ranks_)
      if (rank.execution)
        result.executions.push_back(std::move(*rank.execution));
    if (!result.executions.empty() && result.executions.size() < ranks_.size())
      refuse_partial();
    if (result.executions.empty())
      return result;
    order_keeper(keeper_.get(), KeeperOrder::answer);
    result.mark = listener_.name();
    result.keeper = fcntl(keeper_.get(), F_DUPFD, 3); // for the second start
    keeper_ = Descriptor();
    return result;
  }

private:
  struct Rank {
    pid_t pid = 0;
    pid_t shell = 0; // what this process executes in its own place counts; 0: a tool's, whatever process it starts
    Descriptor process;
    bool ended = false;
    int code = 0;
    std::optional<Execution> execution;
  };

  void start_keeper()
  {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0)
      throw std::system_error(errno, std::generic_category(), "pipe to the keeper of the wrappers");
    Descriptor orders(ends[0]);
    keeper_ = Descriptor(ends[1]);
    const pid_t child = fork();
    if (child < 0)
      throw std::system_error(errno, std::generic_category(), "fork for the keeper of the wrappers");
    if (child > 0)
      return;
    keeper_ = Descriptor(); // the pipe ends with its parent
    keep(orders.get(), listener_, judge_);
  }

  void start(std::size_t index)
  {
    WrapperStart& wrapper = starts_[index];
    remove_traces(wrapper.environment, library_); // Umwelt in a wrapper of Umwelt
    const char* preload = job::variable(wrapper.environment, "LD_PRELOAD");
    job::set_variable(wrapper.environment, "LD_PRELOAD",
                      preload != nullptr ? fmt::format("{}:{}", library_, preload) : library_);
    job::set_variable(wrapper.environment, UMW_WRAPPER_VARIABLE, fmt::format("{}:{}", listener_.name(), wrapper.rank));
    std::vector<char*> argv;
    for (std::string& word : wrapper.program.argv)
      argv.push_back(word.data());
    argv.push_back(nullptr);
    std::vector<char*> envp;
    for (std::string& entry : wrapper.environment)
      envp.push_back(entry.data());
    envp.push_back(nullptr);
    const pid_t umwelt = getpid();
    const pid_t child = fork();
    if (child < 0)
      throw std::system_error(errno, std::generic_category(), "fork for a wrapper");
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != umwelt || chdir(wrapper.directory.c_str()) != 0 ||
          (wrapper.rank != 0 && dup2(null_.get(), 0) < 0))
        _exit(exit_code::failure);
      execve(wrapper.program.path.c_str(), argv.data(), envp.data());
      _exit(exit_code::refused);
    }
    ranks_[index].pid = child;
    ranks_[index].shell = is_tool(wrapper.program) ? 0 : child;
    ranks_[index].process = Descriptor(pidfd_open(child, 0)); // close-on-exec
    ++running_;
  }

  bool await(Clock::time_point deadline)
  {
    std::vector<pollfd> fds{{listener_.fd(), POLLIN, 0}};
    std::vector<std::size_t> whose;
    for (std::size_t i = 0; i < started_; ++i)
      if (!ranks_[i].ended && !ranks_[i].execution) {
        fds.push_back({ranks_[i].process.get(), POLLIN, 0});
        whose.push_back(i);
      }
    int milliseconds = -1;
    if (deadline != Clock::time_point::max())
      milliseconds = static_cast<int>(
          std::max<long long>(0, std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count()));
    const int ready = poll(fds.data(), fds.size(), milliseconds);
    if (ready == 0)
      return false;
    if (fds[0].revents != 0) // before the ends: the asker may be gone already
      if (auto question = receive_question(listener_.fd()))
        consider(*question);
    for (std::size_t i = 0; i < whose.size(); ++i)
      if (fds[i + 1].revents != 0 && !ranks_[whose[i]].execution)
        reap(ranks_[whose[i]]);
    return true;
  }

  void reap(Rank& rank)
  {
    int status = 0;
    if (waitpid(rank.pid, &status, WNOHANG) != rank.pid)
      return;
    rank.ended = true;
    rank.code = exit_code_of(status);
    --running_;
  }

  // Whether what executes stands where the program of the rank is expected.
  static bool in_its_place(const Question& question, const Rank& rank)
  {
    return rank.shell == 0 || question.asker == rank.shell;
  }

  // Whether the execution becomes the rank's.
  bool is_the_program(const Question& question, const WrapperStart& wrapper, const Rank& rank)
  {
    const bool expected = in_its_place(question, rank);
    if (expected)
      refuse_tracer(question.argv, question.environment, question.directory);
    const ExecutionKind& kind = judge_(question);
    if (kind.refused && expected)
      throw loader::Refusal(loader::Refusal::Kind::not_runnable, fmt::format("rank {}: {}", wrapper.rank, kind.why));
    return !kind.absent && !kind.refused && !kind.wrapper && (expected || kind.in_jobs);
  }

  void consider(Question& question)
  {
    const auto found = index_.find(question.rank);
    if (found == index_.end())
      return;
    const WrapperStart& wrapper = starts_[found->second];
    Rank& rank = ranks_[found->second];
    if (rank.ended) {
      question.answer(umw_wrapper_native);
      return;
    }
    if (!is_the_program(question, wrapper, rank)) {
      const ExecutionKind& kind = judge_(question);
      if (kind.wrapper && in_its_place(question, rank)) // "#!/usr/bin/env bash": the script's commands are not env's
        rank.shell = kind.tool ? 0 : question.asker;
      question.answer(umw_wrapper_native);
      return;
    }
    if (rank.execution)
      throw loader::Refusal(
          loader::Refusal::Kind::not_runnable,
          fmt::format("{}: expected the wrapper of rank {} to execute one program, got a second one beside {}. Next "
                      "step: a run of its own for each",
                      question.file, wrapper.rank, rank.execution->argv.front()));
    Execution execution;
    execution.rank = wrapper.rank;
    execution.wrapper = rank.pid;
    execution.name = question.argv.front();
    execution.argv = question.argv;
    execution.argv.front() = judge_(question).file;
    remove_traces(question.environment, library_);
    execution.environment = std::move(question.environment);
    execution.directory = question.directory;
    execution.same_addresses = question.same_addresses;
    for (int i = 0; i < 3; ++i) {
      Descriptor& stream = question.streams[static_cast<std::size_t>(i)];
      const int usual = i == 0 && wrapper.rank != 0 ? null_.get() : i;
      if (stream.get() < 0)
        execution.streams[static_cast<std::size_t>(i)] = fcntl(null_.get(), F_DUPFD, 3);
      else if (!same_file(stream.get(), usual))
        execution.streams[static_cast<std::size_t>(i)] = fcntl(stream.get(), F_DUPFD, 3);
    }
    question.answer(umw_wrapper_taken);
    execution.stand_in = fcntl(question.connection.get(), F_DUPFD, 3); // for the second start
    rank.execution = std::move(execution);
    --running_;
  }

  int timed_out(unsigned seconds) const
  {
    std::string ranks;
    for (std::size_t i = 0; i < ranks_.size(); ++i)
      if (!ranks_[i].execution && !ranks_[i].ended)
        ranks += fmt::format("{}{}", ranks.empty() ? "" : ", ", starts_[i].rank);
    fmt::print(
        stderr,
        "umwelt: --timeout: {} s are over, and the wrappers of these ranks have not executed a program yet: {}\n",
        seconds, ranks);
    return exit_code::timeout;
  }

  [[noreturn]] void refuse_partial() const
  {
    const auto idle =
        std::find_if(ranks_.begin(), ranks_.end(), [](const Rank& rank) { return rank.pid > 0 && rank.ended; });
    throw loader::Refusal(
        loader::Refusal::Kind::not_runnable,
        fmt::format("{}: expected the wrapper of every rank to execute a program, got none from that of rank {}. Next "
                    "step: fewer ranks (-np), or a program for all of them",
                    fmt::join(starts_.front().program.argv, " "),
                    starts_[static_cast<std::size_t>(idle - ranks_.begin())].rank));
  }

  std::vector<WrapperStart> starts_;
  std::vector<Rank> ranks_;
  const std::string& library_;
  std::map<unsigned, std::size_t> index_; // of a rank
  Judge judge_;
  QuestionListener listener_;
  Descriptor keeper_;
  Descriptor null_;
  std::size_t started_ = 0;
  std::size_t running_ = 0; // neither ended nor at a program
};

} // namespace

Wrappers run_wrappers(std::vector<WrapperStart> starts, const std::string& library, const std::string& own_programs,
                      std::optional<unsigned> timeout)
{
  return Session(std::move(starts), library, own_programs).run(timeout);
}

int finish(const Wrappers& wrappers, std::span<const int> statuses, bool failed)
{
  for (std::size_t i = 0; i < wrappers.executions.size(); ++i) {
    const std::int32_t status = statuses[i];
    send(wrappers.executions[i].stand_in, &status, sizeof status, MSG_NOSIGNAL);
    close(wrappers.executions[i].stand_in);
    for (const int stream : wrappers.executions[i].streams)
      if (stream >= 0)
        close(stream); // who reads it waits for its end
  }
  constexpr auto shutdown_timeout = std::chrono::seconds(1);
  const auto deadline = Clock::now() + shutdown_timeout;
  int exit_code = exit_code::ok;
  for (const Execution& execution : wrappers.executions) {
    int status = 0;
    while (failed && waitpid(execution.wrapper, &status, WNOHANG) == 0) {
      if (Clock::now() > deadline)
        signal_marked(wrappers.mark, SIGKILL);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (!failed && waitpid(execution.wrapper, &status, 0) == execution.wrapper && exit_code == exit_code::ok)
      exit_code = exit_code_of(status);
  }
  while (failed &&
         signal_marked(wrappers.mark, Clock::now() > deadline ? SIGKILL : 0) > 0) // what they have left behind
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  order_keeper(wrappers.keeper, KeeperOrder::leave);
  return exit_code;
}

void kill(const Wrappers& wrappers)
{
  if (wrappers.keeper >= 0)
    signal_marked(wrappers.mark, SIGKILL);
}

} // namespace umwelt::launch
