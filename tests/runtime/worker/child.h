// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <csignal>
#include <functional>
#include <thread>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace umwelt::worker::test
{

#if defined(__SANITIZE_THREAD__)
// ThreadSanitizer sees the threads of one process only: `body` runs in one. What they share is the same.
class Child
{
public:
  explicit Child(const std::function<void()>& body) : thread_(body) {}
  int join()
  {
    thread_.join();
    return 0;
  }

private:
  std::jthread thread_;
};
#else
// A forked process that runs `body` and exits.
class Child
{
public:
  explicit Child(const std::function<void()>& body) : pid_(fork())
  {
    if (pid_ != 0)
      return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    body();
    _exit(0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child()
  {
    if (pid_ > 0)
      join();
  }
  // Its status, as of waitpid(2).
  int join()
  {
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = -1;
    return status;
  }

private:
  pid_t pid_;
};
#endif

} // namespace umwelt::worker::test
