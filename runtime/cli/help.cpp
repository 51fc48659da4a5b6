// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/cli/help.h"

#include <algorithm>
#include <fmt/format.h>
#include <sstream>
#include <vector>

#include "runtime/base/exit_codes.h"

namespace umwelt::cli
{
namespace
{

// `text` in lines of at most `width` characters, continued at column `indent`.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t width)
{
  std::string result;
  std::size_t used = 0;
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) {
    if (used != 0 && used + 1 + word.size() > width) {
      result += "\n" + std::string(indent, ' ');
      used = 0;
    }
    if (used != 0) {
      result += ' ';
      ++used;
    }
    result += word;
    used += word.size();
  }
  return result;
}

std::string options_text(std::span<const OptionGroup> groups)
{
  constexpr std::size_t column = 32;
  constexpr std::size_t width = 86;
  std::string text;
  for (const OptionGroup& group : groups) {
    text += fmt::format("\n{}\n", group.title);
    for (const OptionEntry& option : group.options) {
      std::string left = fmt::format("  {}", fmt::join(option.names, ", "));
      if (!option.values.empty())
        left += fmt::format(" {}", fmt::join(option.values, " "));
      left += left.size() < column ? std::string(column - left.size(), ' ') : "\n" + std::string(column, ' ');
      text += left + wrapped(option.help, column, width) + "\n";
    }
  }
  return text + "\n" + exit_code_help;
}

} // namespace

std::string run_help(std::span<const OptionGroup> groups)
{
  return "Usage: umwelt run [options] program [arguments] [: [options] program [arguments]]...\n"
         "Runs an MPI or Portals program on a simulated machine. Options are those of Open MPI's mpirun and\n"
         "some of the simulation; -option and --option, '--option value' and '--option=value' are the same.\n" +
         options_text(groups);
}

std::string kernels_help(std::span<const OptionGroup> groups)
{
  // Its own options first.
  std::vector<OptionGroup> sorted(groups.begin(), groups.end());
  std::stable_partition(sorted.begin(), sorted.end(), [](const OptionGroup& group) { return group.of_kernels; });
  return "Usage: umwelt kernels [options] program [arguments] [: [options] program [arguments]]...\n"
         "Runs a program as umwelt run does, and tells which functions of BLAS, LAPACK and FFTW it calls, how often,\n"
         "with which sizes, and what they take. Those that take most become a kernels file, with models of their\n"
         "durations on this machine, for umwelt run --kernels. A small run is enough.\n" +
         options_text(sorted);
}

} // namespace umwelt::cli
