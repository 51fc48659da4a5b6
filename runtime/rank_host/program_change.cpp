// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/rank_host/program_change.h"

#include <filesystem>

#include "loader/program.h"
#include "runtime/rank_host/rank_host.h"

namespace umwelt::rank_host
{

ProgramChange ProgramChange::find(const char* path, const char* const* argv, const char* const* environment)
{
  ProgramChange change;
  for (; environment != nullptr && *environment != nullptr; ++environment)
    change.environment.emplace_back(*environment);
  // A name without a slash is a file here, not one to look for in PATH, execve(2).
  const std::string file = std::string_view(path).find('/') == std::string_view::npos ? "./" + std::string(path) : path;
  std::vector<std::string> words{file};
  const std::string name = argv != nullptr && *argv != nullptr ? *argv : ""; // Linux 5.18 puts one there, too
  for (const char* const* word = argv; word != nullptr && *word != nullptr; ++word)
    if (word != argv)
      words.emplace_back(*word);
  loader::Program program = loader::find_program(words, change.environment, std::filesystem::current_path());
  if (program.argv == words) // no script
    program.argv.front() = name;
  change.program_path = std::move(program.path);
  change.interpreter = std::move(program.interpreter);
  change.linked_at = program.linked_at;
  for (const loader::Library& library : program.libraries)
    change.libraries.push_back(library.path);
  change.argv = std::move(program.argv);
  return change;
}

std::string ProgramChange::packed() const
{
  std::string text;
  const auto add = [&text](const std::string& word) {
    text += word;
    text += '\0';
  };
  add(program_path);
  add(interpreter);
  add(std::to_string(linked_at.begin));
  add(std::to_string(linked_at.end));
  add(std::to_string(libraries.size()));
  add(std::to_string(argv.size()));
  for (const auto* words : {&libraries, &argv, &environment})
    for (const std::string& word : *words)
      add(word);
  return text;
}

ProgramChange ProgramChange::unpack(std::string_view text)
{
  const auto next = [&text] {
    const std::size_t end = text.find('\0');
    std::string word(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    return word;
  };
  ProgramChange change;
  change.program_path = next();
  change.interpreter = next();
  change.linked_at.begin = std::stoull(next());
  change.linked_at.end = std::stoull(next());
  const std::size_t libraries = std::stoull(next());
  const std::size_t arguments = std::stoull(next());
  while (change.libraries.size() < libraries)
    change.libraries.push_back(next());
  while (change.argv.size() < arguments)
    change.argv.push_back(next());
  while (!text.empty())
    change.environment.push_back(next());
  return change;
}

void ProgramChange::apply(Rank& rank) const
{
  rank.program_path = program_path;
  rank.interpreter = interpreter;
  rank.linked_at = linked_at;
  rank.libraries = libraries;
  rank.argv = argv;
  rank.environment = environment;
  rank.gate.program = rank.program_path.c_str();
  rank.gate.argv0 = rank.argv.front().c_str();
}

} // namespace umwelt::rank_host
