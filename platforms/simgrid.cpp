// SPDX-License-Identifier: LGPL-2.1-or-later
#include "platforms/simgrid.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <system_error>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>
#include <xbt/log.h>

#include "platforms/simgrid_versions.h"

namespace umwelt::platform
{

namespace
{

simgrid::s4u::Engine* engine = nullptr; // 4.0 says of every engine but the first that it is not there

} // namespace

simgrid::s4u::Engine& simgrid_engine()
{
  using simgrid::s4u::Engine;
  if (engine != nullptr)
    return *engine;

  static std::string program = "umwelt";
  std::array<char*, 2> argv{program.data(), nullptr};
  int argc = 1;
  // Settings exist only once the engine does; until then SimGrid must not announce them on stderr.
  xbt_log_control_set("root.thresh:warning");
  // Its handlers call exit(1): a run that is interrupted while it starts would not tell that it was.
  std::array<struct sigaction, 2> before{};
  constexpr std::array taken = {SIGINT, SIGSEGV};
  for (std::size_t i = 0; i < taken.size(); ++i)
    sigaction(taken[i], nullptr, &before[i]);
  engine = Engine::get_instance(&argc, argv.data());
  for (std::size_t i = 0; i < taken.size(); ++i)
    sigaction(taken[i], &before[i], nullptr);
  static bool configured = false; // settings outlive the engine, and SimGrid takes the model only once
  if (configured)
    return *engine;
  configured = true;
  Engine::set_config(versions::timing_precision, 1e-12); // times closer than this are one (seconds)
  Engine::set_config(versions::work_precision, 1e-12);   // likewise for amounts of work (bytes)
  Engine::set_config("network/model", std::string("CM02"));
  Engine::set_config("network/crosstraffic", false); // links are full duplex
  Engine::set_config("network/TCP-gamma", 0.0);      // no window: not TCP
  // CM02 shares a link in inverse proportion to the routes' latencies, as TCP would. Without latencies, which the model
  // adds itself, the shares are equal, as those of a switch that takes packets in turn.
  Engine::set_config("network/latency-factor:0"); // a number in 3.32, a text in 4.0
  return *engine;
}

void release_simgrid()
{
  if (engine == nullptr)
    return;
  versions::end(*engine);
  engine = nullptr;
  // The engine leaves a callback to itself behind, which the next XML file would call.
  simgrid::s4u::Engine::on_platform_created.disconnect_slots();
}

namespace
{

// The verdict of the child, in a file in memory: one of these, the text, and `whole`.
constexpr char went_well = 'w';
constexpr char went_wrong = 'e';
constexpr char whole = '\n';
int verdict = -1; // of the child

// Also in signal handlers.
[[noreturn]] void tell(char outcome, std::string_view text)
{
  bool told = write(verdict, &outcome, 1) == 1;
  while (told && !text.empty()) {
    const ssize_t count = write(verdict, text.data(), text.size());
    told = count > 0;
    text.remove_prefix(told ? static_cast<std::size_t>(count) : 0);
  }
  told = told && write(verdict, &whole, 1) == 1;
  _exit(told ? 0 : 1);
}

[[noreturn]] void rehearse_in_child(const std::function<std::string()>& attempt, int output)
{
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  for (const int fatal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL})
    std::signal(fatal, SIG_DFL);
  dup2(output, STDERR_FILENO);
  dup2(output, STDOUT_FILENO);
  try {
    tell(went_well, attempt());
  } catch (const std::exception& error) {
    tell(went_wrong, error.what());
  } catch (...) {
    tell(went_wrong, "an exception that is no std::exception");
  }
}

// Of the lines that SimGrid printed the first about an error, else the first, without what stands before the text:
// "[host:actor:(1) 0.000000] FILE:LINE: [category/LEVEL] text".
std::string first_message(const std::string& output)
{
  std::size_t begin = 0;
  for (const std::string_view level : {std::string_view("/CRITICAL] "), std::string_view("/ERROR] ")})
    if (const auto at = output.find(level); at != std::string::npos) {
      begin = at + level.size();
      break;
    }
  std::string line = output.substr(begin, output.find('\n', begin) - begin);
  while (!line.empty() && line.front() == '[') {
    const auto end = line.find("] ");
    if (end == std::string::npos)
      break;
    line.erase(0, end + 2);
  }
  return line;
}

std::string read_all(int file)
{
  std::string text;
  std::array<char, 4096> buffer{};
  ssize_t got = 0;
  while ((got = read(file, buffer.data(), buffer.size())) > 0 || (got < 0 && errno == EINTR))
    if (got > 0)
      text.append(buffer.data(), static_cast<std::size_t>(got));
  return text;
}

std::string end_text(int status, const std::string& output)
{
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
    return "an end of the process, with status 0";
  if (std::string message = first_message(output); !message.empty())
    return message;
  if (WIFSIGNALED(status))
    return fmt::format("SimGrid crashed ({})", strsignal(WTERMSIG(status)));
  return fmt::format("an end of the process, with status {}", WEXITSTATUS(status));
}

} // namespace

void abandon(std::string_view reason)
{
  tell(went_wrong, reason);
}

Rehearsal rehearse(const std::function<std::string()>& attempt)
{
  std::array<int, 2> ends{};
  const int answer = memfd_create("umwelt", MFD_CLOEXEC);
  if (answer < 0)
    throw std::system_error(errno, std::generic_category(), "memfd_create");
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    const int error = errno;
    close(answer);
    throw std::system_error(error, std::generic_category(), "pipe");
  }
  const pid_t child = fork();
  if (child < 0) {
    const int error = errno;
    for (const int open : {ends[0], ends[1], answer})
      close(open);
    throw std::system_error(error, std::generic_category(), "fork");
  }
  if (child == 0) {
    close(ends[0]);
    verdict = answer;
    rehearse_in_child(attempt, ends[1]);
  }
  close(ends[1]);
  const std::string output = read_all(ends[0]);
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  lseek(answer, 0, SEEK_SET);
  const std::string told = read_all(answer);
  close(answer);
  const bool complete = told.size() > 1 && told.back() == whole && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (!complete)
    return {end_text(status, output), {}};
  std::string text = told.substr(1, told.size() - 2);
  if (told.front() == went_well)
    return {{}, std::move(text)};
  return {text.empty() ? "an error without a text" : std::move(text), {}};
}

} // namespace umwelt::platform
