// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/tune/mpich_selection.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "runtime/tune/functions.h"

namespace umwelt::tune
{
namespace
{

constexpr std::string_view answer_begin = "algorithm=";
constexpr std::string_view in_ranks = "comm_type=intra"; // of one group of ranks, not between two

bool in_name(char c)
{
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// The text between two bytes of 0 that begins at `at`.
std::string_view text_at(std::string_view contents, std::size_t at)
{
  return contents.substr(at, contents.find('\0', at) - at);
}

// "comm_size<= 16" and the like, for a given number of ranks. False: another question.
bool is_about_ranks(std::string_view question, unsigned ranks, bool& yes)
{
  constexpr std::string_view subject = "comm_size";
  if (!question.starts_with(subject))
    return false;
  question.remove_prefix(subject.size());
  if (question == "=any" || question == "=pow2") {
    yes = question == "=any" || (ranks & (ranks - 1)) == 0;
    return true;
  }
  if (!question.starts_with('<'))
    return false; // =node_comm_size: only the program knows
  question.remove_prefix(1);
  const bool or_equal = question.starts_with('=');
  question.remove_prefix(or_equal ? 1 : 0);
  unsigned limit = 0;
  if (std::from_chars(question.data(), question.data() + question.size(), limit).ec != std::errc())
    return false;
  yes = or_equal ? ranks <= limit : ranks < limit;
  return true;
}

std::string without_blanks(std::string text)
{
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  return text;
}

// `tree` where the number of ranks is known. MPICH asks for that above the questions about messages only.
Tree for_ranks(const Tree& tree, unsigned ranks)
{
  Tree result = Tree::object();
  for (const auto& [key, value] : tree.items()) {
    const std::string question = without_blanks(key);
    bool yes = false;
    if (question.starts_with(answer_begin))
      result[key] = value;
    else if (!is_about_ranks(question, ranks, yes))
      result[key] = for_ranks(value, ranks);
    else if (yes) {
      Tree rest = for_ranks(value, ranks);
      if (result.empty())
        return rest;
      result.update(rest);
      return result;
    }
  }
  return result;
}

const std::string* answer_of(const MpichLibrary& library, const Function& function, const Choice& choice)
{
  const auto known = library.answers.find(std::string(function.name));
  if (known == library.answers.end())
    return nullptr;
  const auto found = std::find_if(known->second.begin(), known->second.end(),
                                  [&](const std::string& answer) { return variable_value(answer) == choice.name; });
  return found == known->second.end() ? nullptr : &*found;
}

// What a choice means. Those that scatter before they reduce need an element for each rank, so they ask for that.
Tree answered(const MpichLibrary& library, const Function& function, const Choice& choice, const Tree& own)
{
  const std::string* answer = answer_of(library, function, choice);
  if (answer == nullptr) // the library's own decision
    return own;
  Tree leaf = Tree::object();
  leaf[fmt::format("{}{}", answer_begin, *answer)] = Tree::object();
  const bool reduces = function.name == "allreduce" || function.name == "reduce";
  if (!reduces || choice.name.find("reduce_scatter") == std::string::npos)
    return leaf;
  return {{"count<pow2", own}, {"count=any", leaf}};
}

// Rules as questions about sizes.
Tree by_size(const MpichLibrary& library, const Function& function, const std::vector<Rule>& rules, unsigned ranks,
             const Tree& own)
{
  const bool of_all = function.mpich == Looks::at_bytes_of_all_ranks;
  const std::string_view subject = of_all ? "total_msg_size" : "avg_msg_size";
  Tree tree = Tree::object();
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const bool last = i + 1 == rules.size();
    const std::uint64_t limit = last ? 0 : rules[i + 1].size * (of_all ? ranks : 1);
    Tree answer = answered(library, function, rules[i].choice, own);
    if (last || limit > std::numeric_limits<int>::max()) { // MPICH reads an int
      if (tree.empty())
        return answer;
      tree[fmt::format("{}=any", subject)] = std::move(answer);
      break;
    }
    tree[fmt::format("{}<{}", subject, limit)] = std::move(answer);
  }
  return tree;
}

// Algorithms that were measured with MPI_SUM and without MPI_IN_PLACE must not meet what they cannot do.
Tree guarded(const Function& function, const Tree& tuned, const Tree& own)
{
  if (function.name == "allreduce" || function.name == "reduce")
    return {{"is_op_built_in=yes", tuned}, {"is_op_built_in=no", own}};
  if (function.name.starts_with("reduce_scatter"))
    return {{"is_commutative=yes", tuned}, {"is_commutative=no", own}};
  if (function.name.starts_with("alltoall"))
    return {{"is_sendbuf_inplace=no", tuned}, {"is_sendbuf_inplace=yes", own}};
  return tuned;
}

} // namespace

MpichLibrary read_mpich_library(std::string_view contents, const std::string& path)
{
  MpichLibrary library;
  // There are such trees of other layers, too, whose answers are not algorithms of MPIR.
  for (std::size_t at = contents.find("{\"collective="); at != std::string_view::npos && library.tree.is_null();
       at = contents.find("{\"collective=", at + 1)) {
    const std::string_view text = text_at(contents, at);
    if (text.find("\"composition=") != std::string_view::npos || text.find("MPIDI_") != std::string_view::npos)
      continue;
    Tree tree = Tree::parse(text, nullptr, false);
    if (tree.is_object() && tree.contains("collective=bcast") && tree.contains("collective=iallreduce"))
      library.tree = std::move(tree);
  }
  if (library.tree.is_null())
    throw std::runtime_error(fmt::format("{}: expected the tree of choices of MPICH 4.0 in it, got none. Leave MPICH "
                                         "out: --mpi openmpi",
                                         path));
  for (std::size_t at = contents.find(answer_begin); at != std::string_view::npos;
       at = contents.find(answer_begin, at + 1)) {
    const std::string_view answer = text_at(contents, at).substr(answer_begin.size());
    if (!answer.starts_with("MPIR_") || !std::all_of(answer.begin(), answer.end(), in_name))
      continue;
    for (const Function& function : functions())
      for (const std::string_view kind : {"intra", "allcomm"})
        if (answer.starts_with(fmt::format("MPIR_{}_{}_", function.caps, kind))) {
          std::vector<std::string>& known = library.answers[std::string(function.name)];
          if (std::find(known.begin(), known.end(), answer) == known.end())
            known.emplace_back(answer);
        }
  }
  for (auto& [function, answers] : library.answers)
    std::sort(answers.begin(), answers.end());
  return library;
}

std::string variable_value(std::string_view answer)
{
  for (const std::string_view kind : {"_intra_", "_allcomm_"})
    if (const auto at = answer.find(kind); at != std::string_view::npos)
      return std::string(answer.substr(at + kind.size()));
  return std::string(answer);
}

std::string mpich_selection(const MpichLibrary& library, std::span<const Group> groups)
{
  Tree tree = library.tree;
  std::map<std::string, std::map<unsigned, const Group*>> tuned;
  for (const Group& group : groups)
    tuned[group.function()][group.ranks()] = &group;
  for (const auto& [name, by_ranks] : tuned) {
    const Function& function = known_function(name);
    const std::string collective = fmt::format("collective={}", name);
    if (!tree.contains(collective)) // then there is nothing to choose either
      continue;
    // Scans between two groups do not exist, so that is not asked.
    Tree& whole = tree[collective];
    Tree& place = whole.contains(in_ranks) ? whole[std::string(in_ranks)] : whole;
    const Tree own = place;
    Tree branches = Tree::object();
    for (const auto& [ranks, group] : by_ranks) {
      const std::vector<Rule> rules = function.mpich == Looks::nothing ? one_rule(*group) : rules_by_size(*group);
      if (rules.empty())
        continue;
      const Tree own_of_these = for_ranks(own, ranks);
      if (ranks > 1)
        branches[fmt::format("comm_size<={}", ranks - 1)] = own;
      branches[fmt::format("comm_size<={}", ranks)] =
          guarded(function, by_size(library, function, rules, ranks, own_of_these), own_of_these);
    }
    if (branches.empty())
      continue;
    branches["comm_size=any"] = own;
    place = std::move(branches);
  }
  std::string text = tree.dump(1) + "\n";
  // MPICH maps the file and reads on to a byte of 0, which a file that fills its last page does not have.
  constexpr std::size_t page = 4096;
  if (text.size() % page == 0)
    text += "\n";
  return text;
}

} // namespace umwelt::tune
