// SPDX-License-Identifier: LGPL-2.1-or-later
#include "net_models/calibration/plot.h"

#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace umwelt::net
{

namespace
{

// In gnuplot's double quotes.
std::string quoted(const std::string& text)
{
  std::string result = "\"";
  for (const char c : text)
    result += c == '"' || c == '\\' ? std::string{'\\', c} : c == '\n' ? std::string(" ") : std::string(1, c);
  return result + '"';
}

} // namespace

// gnuplot's answer on standard output; it draws to `-`, so that nothing is left of a figure that failed.
std::string run_gnuplot(const std::string& script)
{
  std::array<int, 2> in{};
  std::array<int, 2> out{};
  if (pipe(in.data()) != 0 || pipe(out.data()) != 0)
    throw std::runtime_error(fmt::format("pipe: {}", std::strerror(errno)));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  for (const int end : {in[0], in[1], out[0], out[1]})
    posix_spawn_file_actions_addclose(&actions, end);
  std::string name = "gnuplot";
  std::array<char*, 2> argv{name.data(), nullptr};
  pid_t child = 0;
  const int error = posix_spawnp(&child, "gnuplot", &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(in[0]);
  close(out[1]);
  if (error != 0) {
    close(in[1]);
    close(out[0]);
    throw std::runtime_error(
        fmt::format("plots: expected gnuplot in PATH, got: {}. Install it (Debian: gnuplot-nox), or "
                    "leave the plots out.",
                    std::strerror(error)));
  }
  // It reads all of the script before the first byte of the figure, so neither side waits for the other.
  struct sigaction ignore {
  };
  struct sigaction before {
  };
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignore, &before);
  for (std::size_t at = 0; at < script.size();) {
    const ssize_t n = write(in[1], script.data() + at, script.size() - at);
    if (n <= 0)
      break; // it has gone; its exit code tells
    at += static_cast<std::size_t>(n);
  }
  sigaction(SIGPIPE, &before, nullptr);
  close(in[1]);
  std::string figure;
  std::array<char, 4096> buffer{};
  for (ssize_t n = 0; (n = read(out[0], buffer.data(), buffer.size())) > 0;)
    figure.append(buffer.data(), static_cast<std::size_t>(n));
  close(out[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0 || figure.find("</svg>") == std::string::npos)
    throw std::runtime_error(fmt::format("plots: expected an SVG from gnuplot, got exit status {}. What it said stands "
                                         "above; try gnuplot 5.4 or later.",
                                         WIFEXITED(status) ? WEXITSTATUS(status) : -1));
  return figure;
}

std::string gnuplot_script(const Figure& figure)
{
  std::string script = fmt::format("set terminal svg size 720,600 font 'sans-serif,13' name 'figure'\n"
                                   "set encoding utf8\n");
  // The blocks of data: 0 measured, then one per prediction with its ratio.
  const auto add_block = [&](const std::string& name, const Series& series) {
    script += name + " << EOD\n";
    for (const auto& [size, time] : series)
      if (size > 0) {
        const auto real = figure.measured.find(size);
        script += fmt::format("{} {:.6g} {:.3f}\n", size, time,
                              real == figure.measured.end() ? 0.0 : 100 * (time / real->second - 1));
      }
    script += "EOD\n";
  };
  add_block("$measured", figure.measured);
  for (std::size_t i = 0; i < figure.predictions.size(); ++i)
    add_block(fmt::format("$predicted{}", i), figure.predictions[i].series);

  script += fmt::format("set multiplot\n"
                        "set lmargin 9\nset rmargin 2\nset grid lc rgb '#dddddd'\n"
                        "set logscale x 2\nset format x ''\n"
                        "set logscale y\nset ylabel 'us per message'\nset key top left\n"
                        "set title {} noenhanced\n"
                        "set origin 0,0.37\nset size 1,0.63\nset bmargin 0.5\n"
                        "plot $measured using 1:2 with points pt 7 ps 0.5 lc rgb 'black' title 'measured'",
                        quoted(figure.title));
  constexpr std::array colours{"#0060ad", "#dd7711", "#559933", "#aa3377"};
  for (std::size_t i = 0; i < figure.predictions.size(); ++i)
    script += fmt::format(", $predicted{} using 1:2 with lines lw 1.5 lc rgb '{}' title {} noenhanced", i,
                          colours[i % colours.size()], quoted(figure.predictions[i].name));
  script += "\nunset title\nunset key\nunset logscale y\nset ylabel '% off'\nset format x '2^{%L}'\n"
            "set xlabel 'bytes'\nset origin 0,0\nset size 1,0.37\nset tmargin 0.5\nunset bmargin\n"
            "set xzeroaxis lc rgb 'black'\nplot ";
  for (std::size_t i = 0; i < figure.predictions.size(); ++i)
    script += fmt::format("{}$predicted{} using 1:3 with lines lw 1.5 lc rgb '{}'", i == 0 ? "" : ", ", i,
                          colours[i % colours.size()]);
  return script + "\nunset multiplot\n";
}

std::string draw(const Figure& figure)
{
  return run_gnuplot(gnuplot_script(figure));
}

} // namespace umwelt::net
