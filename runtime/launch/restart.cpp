// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/launch/restart.h"

#include <algorithm>
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

#include "loader/namespace.h"
#include "runtime/base/descriptor.h"
#include "runtime/launch/number.h"

namespace umwelt::launch
{

namespace
{

constexpr const char* restart_variable = "UMWELT_RESTART"; // descriptor of the memory file
// In which stand the number of arguments, the repetition's number and descriptor, the loader, how many variables of the
// environment are to be as before and these, the arguments, the findings.
constexpr std::size_t first_variable = 5;

// "NAME=value"; "NAME": it was not there.
std::string as_it_is(const std::string& name)
{
  const char* const value = std::getenv(name.c_str());
  return value != nullptr ? name + "=" + value : name;
}

void set(const std::string& variable)
{
  const std::size_t equals = variable.find('=');
  if (equals == std::string::npos)
    unsetenv(variable.c_str());
  else
    setenv(variable.substr(0, equals).c_str(), variable.c_str() + equals + 1, 1);
}

} // namespace

std::optional<Restarted> restarted()
{
  const char* value = std::getenv(restart_variable);
  if (value == nullptr)
    return std::nullopt;
  const int fd = std::atoi(value);
  unsetenv(restart_variable);
  const std::string text = contents(fd);
  close(fd);
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\0', begin);
    words.push_back(text.substr(begin, end - begin));
    begin = end == std::string::npos ? text.size() : end + 1;
  }
  if (words.size() < first_variable)
    return std::nullopt;
  Repetition repetition{number<unsigned>(words[1]), number<int>(words[2])};
  if (repetition.is_one_of_several())
    fcntl(repetition.report, F_SETFD, FD_CLOEXEC);
  const auto loader = static_cast<plan::Loader>(number<int>(words[3]));
  const auto variables = words.begin() + first_variable;
  const auto arguments = variables + number<std::ptrdiff_t>(words[4]);
  const auto findings = arguments + number<std::ptrdiff_t>(words[0]);
  std::for_each(variables, arguments, set);
  return Restarted{{arguments, findings}, {findings, words.end()}, repetition, loader};
}

std::string restart(const Restarted& what, const std::vector<std::string>& program_argv, bool fixed_addresses)
{
  const int fd = memfd_create("umwelt-command", 0);
  if (fd < 0)
    return fmt::format("memory file: {}", std::strerror(errno));
  const std::vector<std::string> needed =
      what.loader == plan::Loader::dlmopen ? loader::Namespace::needed_environment() : std::vector<std::string>{};
  std::vector<std::string> before;
  before.reserve(needed.size());
  for (const std::string& variable : needed)
    before.push_back(as_it_is(variable.substr(0, variable.find('='))));
  std::string text = fmt::format("{1}{0}{2}{0}{3}{0}{4}{0}{5}{0}", '\0', what.arguments.size(), what.repetition.number,
                                 what.repetition.report, static_cast<int>(what.loader), before.size());
  for (const std::vector<std::string>* words :
       std::initializer_list<const std::vector<std::string>*>{&before, &what.arguments, &what.findings})
    for (const std::string& word : *words) {
      text += word;
      text += '\0';
    }
  if (write(fd, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    return fmt::format("memory file: {}", std::strerror(errno));
  setenv(restart_variable, fmt::format("{}", fd).c_str(), 1);
  std::for_each(needed.begin(), needed.end(), set);
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
