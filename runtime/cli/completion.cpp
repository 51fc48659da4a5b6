// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/cli/completion.h"

#include <algorithm>
#include <fmt/format.h>

namespace umwelt::cli
{
namespace
{

// The part of the script that is the same whatever the options are. Words are those of the line between blanks: bash
// splits its own at '=' and ':', which stand in the middle of many values.
constexpr const char* walk = R"(
_umwelt()
{
  local line=${COMP_LINE:0:COMP_POINT} words word at option count kind program=
  COMPREPLY=()
  read -ra words <<<"$line"
  [[ $line == *[[:blank:]] ]] && words+=('')
  local last=$((${#words[@]} - 1))
  word=${words[last]}
  if ((last == 1)); then
    COMPREPLY=($(compgen -W "$_umwelt_commands --help --version" -- "$word"))
    return
  fi
  if ! [[ " $_umwelt_launchers " == *" ${words[1]} "* ]]; then
    case ${words[1]} in
      help) COMPREPLY=($(compgen -W "$_umwelt_commands --man" -- "$word")) ;;
      completion) COMPREPLY=($(compgen -W "bash" -- "$word")) ;;
      platforms)
        if [[ ${words[last - 1]} == --draw ]]; then
          COMPREPLY=($(compgen -f -- "$word"))
        else
          _umwelt_option platform
          COMPREPLY=($(compgen -W "$kind --routes --check --bisection --draw --nodes --json --help" -- "$word"))
        fi
        ;;
      tune)
        case ${words[last - 1]} in
          --functions)
            local functions='allgather allgatherv allreduce alltoall alltoallv barrier bcast exscan gather reduce
              reduce_scatter reduce_scatter_block scan scatter all'
            local before=
            [[ $word == *,* ]] && before=${word%,*},
            COMPREPLY=($(compgen -P "$before" -W "$functions" -- "${word##*,}"))
            ;;
          --mpi) COMPREPLY=($(compgen -W "openmpi mpich" -- "$word")) ;;
          -o | --output) COMPREPLY=($(compgen -d -- "$word")) ;;
          *)
            _umwelt_option "${words[last - 1]}"
            if [[ ${words[last - 1]} == -* ]] && ((count > 0)); then
              _umwelt_value "$word"
              return
            fi
            COMPREPLY=($(compgen -W "collectives --functions --sizes --ranks --segments --fanouts --mpi --repetitions
              --jobs --output --force --no-plots --no-verify --verbose --quiet --help $_umwelt_options" -- "$word"))
            ;;
        esac
        ;;
      report) COMPREPLY=($(compgen -W "--output --help" -f -- "$word")) ;;
      explain) COMPREPLY=($(compgen -W "--json --help" -f -- "$word")) ;;
      compare) COMPREPLY=($(compgen -W "--html --help" -f -- "$word")) ;;
      sweep)
        COMPREPLY=($(compgen -W "status gather export plot check crate schema --resume --dry-run --jobs --slurm --wait
          --output --again --help" -f -- "$word"))
        ;;
      calibrate) COMPREPLY=($(compgen -W "kernels --help" -f -- "$word")) ;;
      *) COMPREPLY=($(compgen -W "--help --json" -- "$word")) ;;
    esac
    return
  fi
  at=2
  while ((at < last)); do
    if [[ $program ]]; then # its arguments, up to the next program
      [[ ${words[at]} == : ]] && program=
      at=$((at + 1))
      continue
    fi
    case ${words[at]} in
      --) program=yes ;;
      -*=*) ;;
      -*)
        _umwelt_option "${words[at]}"
        if ((at + count >= last)); then
          _umwelt_value "$word"
          return
        fi
        at=$((at + count))
        ;;
      *) program=yes ;;
    esac
    at=$((at + 1))
  done
  if [[ $program ]]; then
    compopt -o default 2>/dev/null
  elif [[ $word == -*=* ]]; then
    _umwelt_option "${word%%=*}"
    _umwelt_value "${word#*=}"
  elif [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "$_umwelt_options" -- "$word"))
  else
    COMPREPLY=($(compgen -A command -A file -- "$word"))
  fi
}

# What may stand where an option has its value.
_umwelt_value()
{
  case $kind in
    file) COMPREPLY=($(compgen -f -- "$1")) ;;
    directory) COMPREPLY=($(compgen -d -- "$1")) ;;
    at_file) [[ $1 == @* ]] && COMPREPLY=($(compgen -P @ -f -- "${1#@}")) ;;
    *) COMPREPLY=($(compgen -W "$kind" -- "$1")) ;;
  esac
}

complete -F _umwelt umwelt
)";

// What an option's value can be, from its placeholder: FILE, DIR..., KEY=VALUE|@FILE, N|auto|0, or a name of a list.
std::string kind_of(const OptionEntry& option, std::span<const ValueNames> names)
{
  for (const ValueNames& known : names)
    if (std::find(option.names.begin(), option.names.end(), known.option) != option.names.end())
      return fmt::format("{}", fmt::join(known.names, " "));
  if (option.values.empty())
    return {};
  const std::string_view placeholder = option.values.back();
  if (placeholder == "FILE")
    return "file";
  if (placeholder.starts_with("DIR"))
    return "directory";
  if (placeholder.ends_with("|@FILE"))
    return "at_file";
  // Alternatives in small letters or digits are meant as they stand.
  std::string words;
  for (std::string_view rest = placeholder; rest.find('|') != std::string_view::npos || !words.empty();) {
    const auto end = rest.find('|');
    const std::string_view part = rest.substr(0, end);
    if (std::none_of(part.begin(), part.end(), [](char c) { return c >= 'A' && c <= 'Z'; }))
      words += fmt::format("{}{}", words.empty() ? "" : " ", part);
    if (end == std::string_view::npos)
      break;
    rest.remove_prefix(end + 1);
  }
  return words;
}

} // namespace

std::string bash_completion(std::span<const CommandEntry> commands, std::span<const OptionGroup> groups,
                            std::span<const ValueNames> names)
{
  std::string all;
  std::string launchers;
  for (const CommandEntry& command : commands) {
    all += fmt::format("{}{}", all.empty() ? "" : " ", command.name);
    if (command.runs)
      launchers += fmt::format("{}{}", launchers.empty() ? "" : " ", command.name);
  }
  std::string options;
  std::string cases;
  for (const OptionGroup& group : groups) {
    for (const OptionEntry& option : group.options) {
      options += fmt::format("  {}\n", fmt::join(option.names, " "));
      if (option.values.empty() || option.values.front().starts_with('[')) // the next word need not be its value
        continue;
      std::string patterns;
      for (const auto* known : {&option.names, &option.former})
        for (const std::string& name : *known) // both -option and --option are meant
          patterns += fmt::format("{}{}", patterns.empty() ? "" : "|", name.substr(name.find_first_not_of('-')));
      cases += fmt::format("    {}) count={} kind='{}' ;;\n", patterns, option.values.size(), kind_of(option, names));
    }
  }
  return fmt::format("# Completion of umwelt for bash, made by `umwelt completion bash`.\n"
                     "_umwelt_commands='{}'\n"
                     "_umwelt_launchers='{}'\n"
                     "_umwelt_options='\n{}'\n\n"
                     "# How many values an option takes, and what the last of them can be.\n"
                     "_umwelt_option()\n{{\n"
                     "  local name=${{1#-}}\n"
                     "  count=0 kind=\n"
                     "  case ${{name#-}} in\n{}  esac\n}}\n",
                     all, launchers, options, cases) +
         walk;
}

} // namespace umwelt::cli
