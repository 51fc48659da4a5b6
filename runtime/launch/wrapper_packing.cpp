// SPDX-License-Identifier: LGPL-2.1-or-later
// Wrappers that wait for their ranks, as words for the second start of the command (restart.h): descriptors stay open
// over it and are known by their numbers.
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/types.h>

#include "runtime/launch/number.h"
#include "runtime/launch/wrappers.h"

namespace umwelt::launch
{

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

} // namespace umwelt::launch
