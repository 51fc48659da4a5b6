// SPDX-License-Identifier: LGPL-2.1-or-later
// Parsing of `umwelt run`'s options. CLI11 parses the other subcommands (command.cpp) but not this one: mpirun's long
// options with one dash, options that take two values, values that begin with a dash, and a list of options that ends
// at the first word that is none and starts again behind ':' are outside its grammar.
#include "runtime/cli/options.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <string_view>

#include <sched.h>

#include "runtime/base/nearest.h"
#include "runtime/base/usage_error.h"
#include "runtime/base/values.h"
#include "runtime/cli/option_checks.h"
#include "runtime/cli/option_table.h"
#include "runtime/cli/refused_options.h"

namespace umwelt::cli
{
namespace
{

// CPUs that this process may run on, sched_getaffinity(2).
unsigned usable_cpus()
{
  std::array<cpu_set_t, 64> masks{}; // of 1024 CPUs each; the kernel wants room for all it may ever have
  if (sched_getaffinity(0, sizeof masks, masks.data()) != 0)
    return 1;
  return static_cast<unsigned>(std::max(CPU_COUNT_S(sizeof masks, masks.data()), 1));
}

const Option* find_option(std::string_view name)
{
  for (const Option& option : option_table()) {
    for (const std::string_view names : {option.names, option.former}) {
      for (const std::string_view known : split(names, ' ')) {
        if (known == name)
          return &option;
      }
    }
  }
  return nullptr;
}

std::string with_dashes(std::string_view name)
{
  const bool one_dash = name.size() == 1 || name == "np"; // as everybody writes them
  return fmt::format("{}{}", one_dash ? "-" : "--", name);
}

[[noreturn]] void throw_unknown(std::string_view written, std::string_view name)
{
  for (const Refused& refused : refused_options) {
    if (refused.name == name)
      throw UsageError(
          fmt::format("{}: an option of mpirun that umwelt run does not have\n  {}", written, refused.instead));
  }
  std::vector<std::string_view> known;
  for (const Option& option : option_table()) {
    for (const std::string_view candidate : split(option.names, ' '))
      known.push_back(candidate);
  }
  throw UsageError(fmt::format("unknown option {}\n  The nearest known option is {}; `umwelt run --help` lists all.",
                               in_quotes(written), with_dashes(nearest(name, known))));
}

// ADDR:PORT, which no program is called.
bool is_address(std::string_view word)
{
  const std::size_t colon = word.rfind(':');
  const std::string_view port = colon == std::string_view::npos ? std::string_view{} : word.substr(colon + 1);
  return !port.empty() && port.find_first_not_of("0123456789") == std::string_view::npos &&
         word.find('/') == std::string_view::npos;
}

class Parser
{
public:
  Parser(std::span<const std::string> arguments, const Lookup& environment, RunKind kind)
      : arguments_(arguments), state_{{}, {}, environment}
  {
    state_.run.jobs = usable_cpus();
    if (kind == RunKind::watched)
      state_.run.watch.emplace();
  }

  plan::RunOptions parse()
  {
    do {
      state_.draft = {};
      options_of_program();
      if (state_.run.help || state_.run.version)
        return std::move(state_.run);
      program();
      finish_program();
    } while (more_programs_);
    finish_job();
    return std::move(state_.run);
  }

private:
  void options_of_program()
  {
    while (at_ < arguments_.size()) {
      const std::string& word = arguments_[at_];
      if (word.empty() || word.front() != '-')
        return;
      ++at_;
      if (word == "--")
        return;
      option(word);
      if (state_.run.help || state_.run.version)
        return;
    }
  }

  void option(const std::string& word)
  {
    const std::size_t dashes = word.starts_with("--") ? 2 : 1;
    const auto equals = word.find('=');
    const std::string_view written = std::string_view(word).substr(0, equals);
    const std::string_view name = written.substr(dashes);
    const Option* known = find_option(name);
    if (known == nullptr && equals == std::string::npos && dashes == 1 && cluster(name))
      return;
    if (known == nullptr)
      throw_unknown(written, name);

    const auto placeholders = split(known->values, ' ');
    std::vector<std::string> values;
    const bool optional = known->values.starts_with('[');
    if (equals != std::string::npos) {
      if (placeholders.size() != 1)
        throw UsageError(written,
                         placeholders.empty() ? "no value" : fmt::format("{} as separate words", known->values),
                         in_quotes(word), fmt::format("For example: {} {}", written, known->values));
      values.push_back(word.substr(equals + 1));
    } else if (optional) {
      const bool follows = at_ < arguments_.size() && is_address(arguments_[at_]);
      values.push_back(follows ? arguments_[at_++] : std::string());
    } else {
      for (const std::string_view placeholder : placeholders) {
        if (at_ == arguments_.size() || arguments_[at_] == ":")
          throw UsageError(written, fmt::format("{} after it", placeholder), "the end of the options",
                           fmt::format("Usage: {} {}", written, known->values));
        values.push_back(arguments_[at_++]);
      }
    }
    known->apply(state_, {written, values});
  }

  // "-vv", "-qv": flags of one letter written together.
  bool cluster(std::string_view letters)
  {
    std::vector<const Option*> flags;
    for (std::size_t i = 0; i < letters.size(); ++i) {
      const Option* flag = find_option(letters.substr(i, 1));
      if (flag == nullptr || !flag->values.empty())
        return false;
      flags.push_back(flag);
    }
    for (const Option* flag : flags)
      flag->apply(state_, {letters, {}});
    return !flags.empty();
  }

  void program()
  {
    while (at_ < arguments_.size() && arguments_[at_] != ":")
      state_.draft.app.argv.push_back(arguments_[at_++]);
    if (state_.draft.app.argv.empty() || state_.draft.app.argv.front().empty())
      throw UsageError(state_.run.programs.empty() ? "program" : "program after ':'", "its name behind the options",
                       "none", "Usage: umwelt run -np N [options] program [arguments]");
    more_programs_ = at_ < arguments_.size();
    if (more_programs_)
      ++at_; // the ':'
  }

  void finish_program()
  {
    Draft& draft = state_.draft;
    if (draft.hostfile.empty())
      draft.app.hosts = std::move(draft.host_list);
    else if (draft.host_list.empty())
      draft.app.hosts = std::move(draft.hostfile);
    else
      draft.app.hosts = plan::select_hosts(draft.hostfile, draft.host_list);
    state_.run.programs.push_back(std::move(draft.app));
  }

  void finish_job()
  {
    plan::RunOptions& run = state_.run;
    for (const plan::AppContext& app : run.programs) {
      if (run.programs.size() > 1 && !app.ranks && app.hosts.empty())
        throw UsageError(fmt::format("program {}", in_quotes(app.argv.front())), "-np N, as there are several programs",
                         "no number of ranks", "Write: -np N PROGRAM : -np M PROGRAM");
    }
    check_job(run);
    plan::apply_node_order(run);
    if (!run.timeout) {
      if (const auto text = state_.environment("MPIEXEC_TIMEOUT"))
        run.timeout = static_cast<unsigned>(
            read_count("MPIEXEC_TIMEOUT (environment)", *text, "a number of seconds", 1, most_ranks));
    }
  }

  std::span<const std::string> arguments_;
  std::size_t at_ = 0;
  bool more_programs_ = false;
  State state_;
};

} // namespace

plan::RunOptions parse_run(std::span<const std::string> arguments, const Lookup& environment, RunKind kind)
{
  return Parser(arguments, environment, kind).parse();
}

std::vector<OptionGroup> option_groups()
{
  std::vector<OptionGroup> groups;
  for (const Heading& heading : option_headings()) {
    OptionGroup& group = groups.emplace_back();
    group.title = heading.text;
    group.of_kernels = heading.group == Group::watching;
    for (const Option& option : option_table()) {
      if (option.group != heading.group)
        continue;
      OptionEntry& entry = group.options.emplace_back();
      for (const std::string_view name : split(option.names, ' '))
        entry.names.push_back(with_dashes(name));
      for (const std::string_view name : split(option.former, ' '))
        entry.former.push_back(with_dashes(name));
      entry.values = split(option.values, ' ');
      entry.help = option.help;
    }
  }
  return groups;
}

bool is_run_option(std::string_view word)
{
  const std::string_view name = word.substr(0, word.find('='));
  const std::size_t dashes = name.starts_with("--") ? 2 : 1;
  return name.starts_with('-') && find_option(name.substr(dashes)) != nullptr;
}

} // namespace umwelt::cli
