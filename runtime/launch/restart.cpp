// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/launch/restart.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <unistd.h>

#include "runtime/base/descriptor.h"
#include "runtime/launch/number.h"

namespace umwelt::launch
{

namespace
{

constexpr const char* variable = "UMWELT_RESTART"; // descriptor of the memory file
// In which stand the number of arguments, the repetition's number and descriptor, the arguments, the findings.
constexpr std::size_t first_argument = 3;

} // namespace

std::optional<Restarted> restarted()
{
  const char* value = std::getenv(variable);
  if (value == nullptr)
    return std::nullopt;
  const int fd = std::atoi(value);
  unsetenv(variable);
  const std::string text = contents(fd);
  close(fd);
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\0', begin);
    words.push_back(text.substr(begin, end - begin));
    begin = end == std::string::npos ? text.size() : end + 1;
  }
  if (words.size() < first_argument)
    return std::nullopt;
  Repetition repetition{number<unsigned>(words[1]), number<int>(words[2])};
  if (repetition.is_one_of_several())
    fcntl(repetition.report, F_SETFD, FD_CLOEXEC);
  const auto arguments = words.begin() + first_argument;
  const auto findings = arguments + number<std::ptrdiff_t>(words[0]);
  return Restarted{{arguments, findings}, {findings, words.end()}, repetition};
}

std::string restart(const Restarted& what, const std::vector<std::string>& program_argv, bool fixed_addresses)
{
  const int fd = memfd_create("umwelt-command", 0);
  if (fd < 0)
    return fmt::format("memory file: {}", std::strerror(errno));
  std::string text = fmt::format("{}{}{}{}{}{}", what.arguments.size(), '\0', what.repetition.number, '\0',
                                 what.repetition.report, '\0');
  for (const auto* words : {&what.arguments, &what.findings})
    for (const std::string& word : *words) {
      text += word;
      text += '\0';
    }
  if (write(fd, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    return fmt::format("memory file: {}", std::strerror(errno));
  setenv(variable, fmt::format("{}", fd).c_str(), 1);
  if (fixed_addresses) {
    const int persona = personality(0xffffffff);
    if (persona >= 0)
      personality(static_cast<unsigned long>(persona) | ADDR_NO_RANDOMIZE); // may be forbidden: then addresses vary
  }
  std::vector<char*> argv;
  argv.reserve(program_argv.size() + 1);
  for (const std::string& word : program_argv)
    argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  // By its name: under valgrind, /proc/self/exe itself is valgrind's.
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  execv(error ? "/proc/self/exe" : self.c_str(), argv.data());
  return fmt::format("cannot be executed again: {}", std::strerror(errno));
}

} // namespace umwelt::launch
