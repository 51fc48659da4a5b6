// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/base/child_answer.h"

#include <array>
#include <cerrno>
#include <system_error>

#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

namespace umwelt
{

std::string child_answer(const std::function<std::string()>& work)
{
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0)
    throw std::system_error(errno, std::generic_category(), "pipe");
  const pid_t child = fork();
  if (child < 0) {
    const int error = errno;
    close(ends[0]);
    close(ends[1]);
    throw std::system_error(error, std::generic_category(), "fork");
  }
  if (child == 0) {
    const std::string answer = work();
    const bool written = write(ends[1], answer.data(), answer.size()) == static_cast<ssize_t>(answer.size());
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  std::string answer;
  std::array<char, 4096> buffer;
  for (ssize_t size = 0; (size = read(ends[0], buffer.data(), buffer.size())) > 0;)
    answer.append(buffer.data(), static_cast<std::size_t>(size));
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return answer;
}

} // namespace umwelt
