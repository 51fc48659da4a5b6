// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/tune/mpi.h"

#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "runtime/tune/functions.h"
#include "runtime/tune/mpich_selection.h"
#include "runtime/tune/openmpi_rules.h"

namespace umwelt::tune
{
namespace
{

class OpenMpi final : public Mpi
{
public:
  OpenMpi(const std::string& algorithms, std::vector<std::uint64_t> segments, std::vector<unsigned> fanouts)
      : segments_(std::move(segments)), fanouts_(std::move(fanouts))
  {
    std::istringstream lines(algorithms);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string kind;
      std::string function;
      Choice choice;
      if (words >> kind >> function >> choice.number >> choice.name && kind == "algorithm" && choice.number != 0)
        algorithms_[function].push_back(choice);
    }
  }

  [[nodiscard]] std::string key() const override { return "openmpi"; }
  [[nodiscard]] std::string name() const override { return "Open MPI"; }
  [[nodiscard]] std::string file_name() const override { return "openmpi.rules"; }

  [[nodiscard]] std::vector<Choice> choices(const std::string& function) const override
  {
    std::vector<Choice> list;
    const auto known = algorithms_.find(function);
    if (known == algorithms_.end())
      return list;
    const std::vector<std::uint64_t> whole{0};
    const std::vector<unsigned> none{0};
    for (const Choice& algorithm : known->second)
      for (const unsigned fanout : takes_fanout(function, algorithm.name) ? fanouts_ : none)
        for (const std::uint64_t segment : takes_segments(function, algorithm.name) ? segments_ : whole)
          list.push_back({algorithm.number, algorithm.name, segment, fanout});
    return list;
  }

  [[nodiscard]] std::vector<std::string> forced(const std::string& function, const Choice& choice) const override
  {
    if (choice.is_default())
      return {};
    const std::string parameter = fmt::format("coll_tuned_{}_algorithm", function);
    std::vector<std::string> options{"--mca", "coll_tuned_use_dynamic_rules", "1"};
    const auto set = [&options](std::string name, std::uint64_t value) {
      options.insert(options.end(), {"--mca", std::move(name), fmt::format("{}", value)});
    };
    set(parameter, choice.number);
    if (choice.segment > 0)
      set(parameter + "_segmentsize", choice.segment);
    if (choice.fanout > 0)
      set(parameter + "_chain_fanout", choice.fanout);
    return options;
  }

  [[nodiscard]] std::vector<std::string> with_file(const std::string& path) const override
  {
    return {"--mca", "coll_tuned_use_dynamic_rules", "1", "--mca", "coll_tuned_dynamic_rules_filename", path};
  }

  [[nodiscard]] std::string file(std::span<const Group> groups) const override { return openmpi_rules(groups); }

  [[nodiscard]] std::vector<Rule> rules(const Group& group) const override
  {
    return known_function(group.function()).openmpi == Looks::nothing ? one_rule(group) : rules_by_size(group);
  }

private:
  std::map<std::string, std::vector<Choice>> algorithms_;
  std::vector<std::uint64_t> segments_;
  std::vector<unsigned> fanouts_;
};

class Mpich final : public Mpi
{
public:
  explicit Mpich(MpichLibrary library) : library_(std::move(library)) {}

  [[nodiscard]] std::string key() const override { return "mpich"; }
  [[nodiscard]] std::string name() const override { return "MPICH"; }
  [[nodiscard]] std::string file_name() const override { return "mpich.json"; }

  [[nodiscard]] std::vector<Choice> choices(const std::string& function) const override
  {
    std::vector<Choice> list;
    const auto known = library_.answers.find(function);
    if (known != library_.answers.end())
      for (const std::string& answer : known->second)
        list.push_back({static_cast<unsigned>(list.size() + 1), variable_value(answer), 0, 0});
    return list;
  }

  [[nodiscard]] std::vector<std::string> forced(const std::string& function, const Choice& choice) const override
  {
    if (choice.is_default())
      return {};
    std::string caps = function;
    for (char& c : caps)
      c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    // Otherwise MPICH takes another one, and does not say so.
    return {"-x", fmt::format("MPIR_CVAR_{}_INTRA_ALGORITHM={}", caps, choice.name), "-x",
            "MPIR_CVAR_COLLECTIVE_FALLBACK=error"};
  }

  [[nodiscard]] std::vector<std::string> with_file(const std::string& path) const override
  {
    return {"-x", "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE=" + path};
  }

  [[nodiscard]] std::string file(std::span<const Group> groups) const override
  {
    return mpich_selection(library_, groups);
  }

  [[nodiscard]] std::vector<Rule> rules(const Group& group) const override
  {
    return known_function(group.function()).mpich == Looks::nothing ? one_rule(group) : rules_by_size(group);
  }

private:
  MpichLibrary library_;
};

} // namespace

std::unique_ptr<Mpi> open_mpi(const std::string& algorithms, std::vector<std::uint64_t> segments,
                              std::vector<unsigned> fanouts)
{
  return std::make_unique<OpenMpi>(algorithms, std::move(segments), std::move(fanouts));
}

std::unique_ptr<Mpi> mpich(const std::string& library)
{
  std::ifstream file(library, std::ios::binary);
  std::stringstream contents;
  contents << file.rdbuf();
  if (!file)
    throw std::runtime_error(fmt::format("{}: expected a library that can be read, got: {}. Leave MPICH out: --mpi "
                                         "openmpi",
                                         library, std::strerror(errno)));
  return std::make_unique<Mpich>(read_mpich_library(contents.view(), library));
}

} // namespace umwelt::tune
