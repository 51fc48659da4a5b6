// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/launch/wrappers.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
extern "C" {
#include <sys/pidfd.h> // glibc 2.36 forgets to say so
}

#include "preload/abi/wrapper_protocol.h"
#include "runtime/base/exit_codes.h"
#include "runtime/job/environment.h"

namespace umwelt::launch
{

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

namespace
{

constexpr auto shells = std::to_array<std::string_view>(
    {"sh", "ash", "bash", "busybox", "csh", "dash", "fish", "ksh", "ksh93", "mksh", "posh", "tcsh", "yash", "zsh"});
constexpr auto tools = std::to_array<std::string_view>({"chrt", "env", "ionice", "nice", "nohup", "numactl", "prlimit",
                                                        "setarch", "setsid", "stdbuf", "taskset", "time", "timeout"});
// A program that is linked to one of these takes part in a job.
constexpr auto job_libraries = std::to_array<std::string_view>(
    {"libmpi", "liboshmem.", "libpmi.", "libpmi2.", "libpmix.", "libportals.", "libsma.", "libshmem."});

template <std::size_t n> bool contains(const std::array<std::string_view, n>& names, std::string_view name)
{
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool takes_part_in_jobs(const loader::Program& program)
{
  return std::any_of(program.libraries.begin(), program.libraries.end(), [](const loader::Library& library) {
    return std::any_of(job_libraries.begin(), job_libraries.end(),
                       [&library](std::string_view name) { return library.name.starts_with(name); });
  });
}

bool is_tool(const loader::Program& program)
{
  return contains(tools, fs::path(program.path).filename().string());
}

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

class Descriptor
{
public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept
  {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor()
  {
    if (fd_ >= 0)
      close(fd_);
  }
  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] int release() { return std::exchange(fd_, -1); }

private:
  int fd_;
};

// Under a name that only those learn who are to ask.
class Listener
{
public:
  Listener() : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0))
  {
    std::uint64_t salt = 0;
    if (getentropy(&salt, sizeof salt) != 0)
      salt = static_cast<std::uint64_t>(Clock::now().time_since_epoch().count());
    name_ = fmt::format("umwelt-{}-{:x}", getpid(), salt);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    name_.copy(address.sun_path + 1, sizeof address.sun_path - 1);
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name_.size());
    if (socket_.get() < 0 || bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), length) != 0 ||
        listen(socket_.get(), SOMAXCONN) != 0)
      throw std::system_error(errno, std::generic_category(), "socket for the wrappers' questions");
  }
  [[nodiscard]] int fd() const { return socket_.get(); }
  [[nodiscard]] const std::string& name() const { return name_; }

private:
  Descriptor socket_;
  std::string name_;
};

template <class Number> Number number(const std::string& word)
{
  Number value{};
  std::from_chars(word.data(), word.data() + word.size(), value);
  return value;
}

// A process asks: may it execute this?
struct Question {
  Descriptor connection;
  pid_t asker = 0;
  unsigned rank = 0;
  bool searched = false;
  bool same_addresses = false;
  std::array<Descriptor, 3> streams;
  std::string file, path_variable, directory;
  std::vector<std::string> argv;
  std::vector<std::string> environment;

  void answer(char what) const { send(connection.get(), &what, 1, MSG_NOSIGNAL); }
};

bool receive_head(int connection, umw_wrapper_head& head, std::array<Descriptor, 3>& streams)
{
  alignas(cmsghdr) std::array<char, CMSG_SPACE(3 * sizeof(int))> control{};
  iovec data{&head, sizeof head};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  if (recvmsg(connection, &message, MSG_CMSG_CLOEXEC | MSG_WAITALL) != static_cast<ssize_t>(sizeof head))
    return false;
  std::vector<int> fds;
  if (const cmsghdr* rights = CMSG_FIRSTHDR(&message); rights != nullptr && rights->cmsg_type == SCM_RIGHTS) {
    fds.resize((rights->cmsg_len - CMSG_LEN(0)) / sizeof(int));
    std::memcpy(fds.data(), CMSG_DATA(rights), fds.size() * sizeof(int));
  }
  std::size_t next = 0;
  for (std::size_t i = 0; i < streams.size(); ++i)
    if (head.open[i] != 0 && next < fds.size())
      streams[i] = Descriptor(fds[next++]);
  return true;
}

std::optional<Question> receive_question(int listener)
{
  Question question;
  question.connection = Descriptor(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
  const int connection = question.connection.get();
  ucred asker{};
  socklen_t length = sizeof asker;
  const timeval timeout{10, 0};
  umw_wrapper_head head{};
  if (connection < 0 || getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &asker, &length) != 0 ||
      asker.uid != getuid() || setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout) != 0 ||
      !receive_head(connection, head, question.streams))
    return std::nullopt;
  question.asker = asker.pid;
  question.rank = head.rank;
  question.same_addresses = (head.persona & ADDR_NO_RANDOMIZE) != 0;
  question.searched = head.searched != 0;
  std::string text(head.bytes, '\0');
  for (std::size_t got = 0; got < text.size();) {
    const ssize_t n = recv(connection, text.data() + got, text.size() - got, 0);
    if (n <= 0)
      return std::nullopt;
    got += static_cast<std::size_t>(n);
  }
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\0', begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  if (words.size() < 3 + static_cast<std::size_t>(head.arguments) || head.arguments == 0)
    return std::nullopt;
  question.file = words[0];
  question.path_variable = words[1];
  question.directory = words[2];
  const auto arguments = words.begin() + 3;
  question.argv.assign(arguments, arguments + head.arguments);
  question.environment.assign(arguments + head.arguments, words.end());
  return question;
}

// Takes out what makes processes ask.
void remove_traces(std::vector<std::string>& environment, const std::string& library)
{
  job::unset_variable(environment, UMW_WRAPPER_VARIABLE);
  const char* preload = job::variable(environment, "LD_PRELOAD");
  std::string others;
  for (std::string_view rest = preload != nullptr ? preload : ""; !rest.empty();) {
    const std::size_t end = std::min(rest.find_first_of(": "), rest.size());
    if (const std::string_view word = rest.substr(0, end); !word.empty() && word != library)
      others += fmt::format("{}{}", others.empty() ? "" : ":", word);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (others.empty())
    job::unset_variable(environment, "LD_PRELOAD");
  else
    job::set_variable(environment, "LD_PRELOAD", others);
}

// What an execution is.
struct Kind {
  std::string file; // what is executed: a script rather than its interpreter
  bool wrapper = false;
  bool in_jobs = false; // takes part in them
  bool refused = false; // cannot be simulated
  bool absent = false;
  std::string why;
};

class Judge
{
public:
  Judge(const std::string& library, const std::string& own_programs) : library_(library), own_programs_(own_programs) {}

  const Kind& operator()(const Question& question)
  {
    auto environment = question.environment;
    job::set_variable(environment, "PATH", question.path_variable);
    const char* libraries = job::variable(environment, "LD_LIBRARY_PATH");
    const std::string name =
        question.searched || question.file.find('/') != std::string::npos ? question.file : "./" + question.file;
    const auto key = std::make_tuple(name, question.argv.size() > 1, question.directory,
                                     std::string(libraries != nullptr ? libraries : ""), question.path_variable);
    if (const auto known = known_.find(key); known != known_.end())
      return known->second;
    Kind kind;
    remove_traces(environment, library_);
    try {
      kind.file = loader::locate_program(name, environment, question.directory, own_programs_);
      std::vector<std::string> argv = question.argv;
      argv.front() = kind.file;
      const loader::Program program = loader::find_program(argv, environment, question.directory, own_programs_);
      kind.wrapper = is_wrapper(program);
      kind.in_jobs = takes_part_in_jobs(program);
    } catch (const loader::Refusal& refusal) {
      kind.refused = refusal.kind() == loader::Refusal::Kind::not_runnable;
      kind.absent = !kind.refused; // the wrapper says so itself
      kind.why = refusal.what();
    }
    return known_.emplace(key, kind).first->second;
  }

private:
  const std::string& library_;
  const std::string& own_programs_;
  std::map<std::tuple<std::string, bool, std::string, std::string, std::string>, Kind> known_;
};

// Sends a signal (0: none) to the processes of the wrappers; returns how many there are.
std::size_t signal_marked(const std::string& mark, int signal)
{
  std::size_t count = 0;
  const std::string entry = fmt::format("{}={}:", UMW_WRAPPER_VARIABLE, mark);
  std::error_code error;
  for (const auto& directory : fs::directory_iterator("/proc", error)) {
    const auto pid = number<pid_t>(directory.path().filename().string());
    if (pid <= 0 || pid == getpid())
      continue;
    std::ifstream file(directory.path() / "environ", std::ios::binary);
    const std::string environment{std::istreambuf_iterator<char>(file), {}};
    if (environment.starts_with(entry) || environment.find('\0' + entry) != std::string::npos)
      count += ::kill(pid, signal) == 0;
  }
  return count;
}

enum KeeperOrder : char { answer = 'a', leave = 'l' };

// The keeper's life; see wrappers.h.
[[noreturn]] void keep(int orders, Listener& listener, Judge& judge)
{
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, nullptr); // a Ctrl-C is for the others
  std::vector<pollfd> fds{{orders, POLLIN, 0}};
  while (poll(fds.data(), fds.size(), -1) >= 0) {
    char order = 0;
    if (fds[0].revents != 0) {
      if (read(orders, &order, 1) != 1)
        signal_marked(listener.name(), SIGKILL);
      if (order != answer)
        _exit(0);
      fds.push_back({listener.fd(), POLLIN, 0});
      continue;
    }
    const auto question = receive_question(listener.fd());
    if (!question)
      continue;
    const Kind& kind = judge(*question);
    const bool late = kind.in_jobs && !kind.wrapper;
    if (late)
      fmt::print(stderr,
                 "umwelt: rank {}: {}: expected its wrapper to execute one program of the job, got another one. Next "
                 "step: a run of "
                 "its own for each\n",
                 question->rank, question->file);
    question->answer(late ? umw_wrapper_refused : umw_wrapper_native);
  }
  _exit(0);
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
    order(leave);
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
    order(answer);
    result.mark = listener_.name();
    result.keeper = fcntl(keeper_.get(), F_DUPFD, 3); // for the second start
    keeper_ = Descriptor();
    return result;
  }

private:
  struct Rank {
    pid_t pid = 0;
    Descriptor process;
    bool ended = false;
    int code = 0;
    std::optional<Execution> execution;
  };

  void order(char what) const
  {
    if (write(keeper_.get(), &what, 1) != 1)
      fmt::print(stderr, "umwelt: the keeper of the wrappers is gone: {}\n", std::strerror(errno));
  }

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

  // Whether the execution becomes the rank's.
  bool is_the_program(const Question& question, const WrapperStart& wrapper, const Rank& rank)
  {
    const bool in_its_place = question.asker == rank.pid || is_tool(wrapper.program);
    const Kind& kind = judge_(question);
    if (kind.refused && in_its_place)
      throw loader::Refusal(loader::Refusal::Kind::not_runnable, fmt::format("rank {}: {}", wrapper.rank, kind.why));
    return !kind.absent && !kind.refused && !kind.wrapper && (in_its_place || kind.in_jobs);
  }

  void consider(Question& question)
  {
    const auto found = index_.find(question.rank);
    if (found == index_.end())
      return;
    const WrapperStart& wrapper = starts_[found->second];
    Rank& rank = ranks_[found->second];
    if (rank.ended || !is_the_program(question, wrapper, rank)) {
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
  Listener listener_;
  Descriptor keeper_;
  Descriptor null_;
  std::size_t started_ = 0;
  std::size_t running_ = 0; // neither ended nor at a program
};

} // namespace

bool is_wrapper(const loader::Program& program)
{
  return contains(shells, fs::path(program.path).filename().string()) || (is_tool(program) && program.argv.size() > 1);
}

Wrappers run_wrappers(std::vector<WrapperStart> starts, const std::string& library, const std::string& own_programs,
                      std::optional<unsigned> timeout)
{
  return Session(std::move(starts), library, own_programs).run(timeout);
}

std::vector<std::string> pack(const Wrappers& wrappers)
{
  if (wrappers.executions.empty())
    return {};
  std::vector<std::string> words{wrappers.mark, fmt::format("{}", wrappers.keeper)};
  for (const Execution& execution : wrappers.executions) {
    words.push_back(fmt::format("{}", execution.rank));
    words.push_back(fmt::format("{}", execution.wrapper));
    words.push_back(fmt::format("{}", execution.stand_in));
    for (const int stream : execution.streams)
      words.push_back(fmt::format("{}", stream));
    words.push_back(execution.name);
    words.push_back(execution.directory);
    words.push_back(execution.same_addresses ? "1" : "0");
    for (const auto* list : {&execution.argv, &execution.environment}) {
      words.push_back(fmt::format("{}", list->size()));
      words.insert(words.end(), list->begin(), list->end());
    }
  }
  return words;
}

Wrappers unpack(std::span<const std::string> words)
{
  Wrappers wrappers;
  if (words.empty())
    return wrappers;
  const auto adopt = [](int fd) {
    if (fd >= 0)
      fcntl(fd, F_SETFD, FD_CLOEXEC);
    return fd;
  };
  auto word = words.begin();
  wrappers.mark = *word++;
  wrappers.keeper = adopt(number<int>(*word++));
  while (word != words.end()) {
    Execution execution;
    execution.rank = number<unsigned>(*word++);
    execution.wrapper = number<pid_t>(*word++);
    execution.stand_in = adopt(number<int>(*word++));
    for (int& stream : execution.streams)
      stream = adopt(number<int>(*word++));
    execution.name = *word++;
    execution.directory = *word++;
    execution.same_addresses = number<int>(*word++) != 0;
    for (auto* list : {&execution.argv, &execution.environment}) {
      const auto count = number<std::ptrdiff_t>(*word++);
      list->assign(word, word + count);
      word += count;
    }
    wrappers.executions.push_back(std::move(execution));
  }
  return wrappers;
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
  const char order = leave;
  if (write(wrappers.keeper, &order, 1) != 1)
    fmt::print(stderr, "umwelt: the keeper of the wrappers is gone: {}\n", std::strerror(errno));
  return exit_code;
}

void kill(const Wrappers& wrappers)
{
  if (wrappers.keeper >= 0)
    signal_marked(wrappers.mark, SIGKILL);
}

} // namespace umwelt::launch
