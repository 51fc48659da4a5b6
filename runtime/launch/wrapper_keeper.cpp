// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/launch/wrapper_keeper.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <poll.h>
#include <sys/types.h>
#include <unistd.h>

#include "preload/abi/wrapper_protocol.h"
#include "runtime/launch/number.h"

namespace umwelt::launch
{

namespace fs = std::filesystem;

namespace
{

// Until none is left: one that is about to be killed may still start another, which a look through /proc has passed by
// then.
void end_marked(const std::string& mark)
{
  constexpr int pause = 1; // ms
  while (signal_marked(mark, SIGKILL) > 0)
    poll(nullptr, 0, pause);
}

} // namespace

void order_keeper(int keeper, KeeperOrder order)
{
  if (write(keeper, &order, 1) != 1)
    fmt::print(stderr, "umwelt: the keeper of the wrappers is gone: {}\n", std::strerror(errno));
}

void keep(int orders, QuestionListener& listener, Judge& judge)
{
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, nullptr); // a Ctrl-C is for the others
  std::vector<pollfd> fds{{orders, POLLIN, 0}};
  while (poll(fds.data(), fds.size(), -1) >= 0) {
    char order = 0;
    if (fds[0].revents != 0) {
      if (read(orders, &order, 1) != 1)
        end_marked(listener.name());
      if (order != static_cast<char>(KeeperOrder::answer))
        _exit(0);
      fds.push_back({listener.fd(), POLLIN, 0});
      continue;
    }
    const auto question = receive_question(listener.fd());
    if (!question)
      continue;
    const ExecutionKind& kind = judge(*question);
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

} // namespace umwelt::launch
