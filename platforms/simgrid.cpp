// SPDX-License-Identifier: LGPL-2.1-or-later
#include "platforms/simgrid.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <system_error>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>
#include <simgrid/s4u/Engine.hpp>
#include <xbt/log.h>

namespace umwelt::platform
{

simgrid::s4u::Engine& simgrid_engine()
{
  using simgrid::s4u::Engine;
  if (Engine::has_instance())
    return *Engine::get_instance();

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
  Engine* engine = Engine::get_instance(&argc, argv.data());
  for (std::size_t i = 0; i < taken.size(); ++i)
    sigaction(taken[i], &before[i], nullptr);
  static bool configured = false; // settings outlive the engine, and SimGrid takes the model only once
  if (configured)
    return *engine;
  configured = true;
  Engine::set_config("surf/precision", 1e-12);   // times closer than this are one (seconds)
  Engine::set_config("maxmin/precision", 1e-12); // likewise for amounts of work (bytes)
  Engine::set_config("network/model", std::string("CM02"));
  Engine::set_config("network/crosstraffic", false); // links are full duplex
  Engine::set_config("network/TCP-gamma", 0.0);      // no window: not TCP
  // CM02 shares a link in inverse proportion to the routes' latencies, as TCP would. Without latencies, which the model
  // adds itself, the shares are equal, as those of a switch that takes packets in turn.
  Engine::set_config("network/latency-factor", 0.0);
  return *engine;
}

void release_simgrid()
{
  using simgrid::s4u::Engine;
  if (!Engine::has_instance())
    return;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" // 3.32 offers no other way to load a second platform
  Engine::get_instance()->shutdown();
#pragma GCC diagnostic pop
  // The engine leaves a callback to itself behind, which the next XML file would call.
  Engine::on_platform_created.disconnect_slots();
}

namespace
{

[[noreturn]] void rehearse_in_child(const std::function<void()>& attempt, int report)
{
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  for (const int fatal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL})
    std::signal(fatal, SIG_DFL);
  dup2(report, STDERR_FILENO);
  dup2(report, STDOUT_FILENO);
  try {
    attempt();
  } catch (const std::exception& error) {
    const std::string text = error.what();
    const bool told = write(report, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    _exit(told ? 1 : 2);
  }
  _exit(0);
}

// "[host:actor:(1) 0.000000] [category/LEVEL] text" to "text", and only the first line.
std::string first_message(const std::string& output)
{
  std::string line = output.substr(0, output.find('\n'));
  while (!line.empty() && line.front() == '[') {
    const auto end = line.find("] ");
    if (end == std::string::npos)
      break;
    line.erase(0, end + 2);
  }
  return line;
}

} // namespace

std::string rehearse(const std::function<void()>& attempt)
{
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    throw std::system_error(errno, std::generic_category(), "pipe");
  const pid_t child = fork();
  if (child < 0) {
    const int error = errno;
    close(ends[0]);
    close(ends[1]);
    throw std::system_error(error, std::generic_category(), "fork");
  }
  if (child == 0) {
    close(ends[0]);
    rehearse_in_child(attempt, ends[1]);
  }
  close(ends[1]);
  std::string output;
  std::array<char, 4096> buffer{};
  ssize_t got = 0;
  while ((got = read(ends[0], buffer.data(), buffer.size())) > 0 || (got < 0 && errno == EINTR))
    if (got > 0)
      output.append(buffer.data(), static_cast<std::size_t>(got));
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
    return {};
  if (std::string message = first_message(output); !message.empty())
    return message;
  if (WIFSIGNALED(status))
    return fmt::format("SimGrid crashed ({})", strsignal(WTERMSIG(status)));
  return fmt::format("SimGrid ended with status {}", WEXITSTATUS(status));
}

} // namespace umwelt::platform
