// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/mpi/collective_models.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "runtime/base/nearest.h"
#include "runtime/base/parameters.h"
#include "runtime/base/usage_error.h"

namespace umwelt::mpi
{

namespace
{

constexpr std::array<std::string_view, UMW_COLLECTIVE_FUNCTIONS> names{
#define UMW_COLLECTIVE(name, nonblocking, lower) "MPI_" #name,
    UMW_COLLECTIVES(UMW_COLLECTIVE)
#undef UMW_COLLECTIVE
};
constexpr std::array<std::string_view, UMW_COLLECTIVE_FUNCTIONS> short_names{
#define UMW_COLLECTIVE(name, nonblocking, lower) #lower,
    UMW_COLLECTIVES(UMW_COLLECTIVE)
#undef UMW_COLLECTIVE
};

constexpr const char* blanks = " \t\n";

constexpr std::string_view models_help = "Models are real, zero, tree, or a time like '2us*log2(P) + bytes*0.1ns' with "
                                         "P (members), bytes, latency and bandwidth.";

// Variables of an expression, and which power of the unit of time they have.
enum Variable : std::uint8_t { members_variable, bytes_variable, latency_variable, bandwidth_variable };
const std::vector<std::string>& variables()
{
  static const std::vector<std::string> all{"P", "bytes", "latency", "bandwidth"};
  return all;
}
constexpr std::array<std::uint8_t, 4> powers{0, 0, kernels::a_time, kernels::per_time};

// Commas between parentheses are of functions.
std::vector<std::string_view> items_of(std::string_view text)
{
  std::vector<std::string_view> items;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= text.size(); ++at) {
    if (at == text.size() || (text[at] == ',' && depth <= 0)) {
      items.push_back(trim(text.substr(begin, at - begin), blanks));
      begin = at + 1;
    } else if (text[at] == '(') {
      ++depth;
    } else if (text[at] == ')') {
      --depth;
    }
  }
  return items;
}

// Where "FUNCTION=" ends in it; nothing: it is a model for all.
std::optional<std::size_t> assignment(std::string_view item)
{
  const auto equals = item.find('=');
  if (equals == std::string_view::npos || (equals + 1 < item.size() && item[equals + 1] == '=') ||
      !kernels::is_identifier(trim(item.substr(0, equals), blanks)))
    return std::nullopt;
  return equals;
}

umw_collective_function function_called(std::string_view option, std::string_view name)
{
  std::string wanted;
  for (const char c : name)
    wanted += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (wanted.starts_with("mpi_"))
    wanted.erase(0, 4);
  const auto* const found = std::find(short_names.begin(), short_names.end(), wanted);
  if (found != short_names.end())
    return static_cast<umw_collective_function>(found - short_names.begin());
  std::vector<std::string> known(short_names.begin(), short_names.end());
  std::string next;
  if (const std::string_view guess = plausible(wanted, known); !guess.empty())
    next = fmt::format("Did you mean '{}'? ", guess);
  throw UsageError(option, "a collective of MPI before '='", in_quotes(name),
                   fmt::format("{}There are {}; each stands for its nonblocking and persistent forms, too.", next,
                               fmt::join(short_names, " ")));
}

double evaluated(const kernels::Expression& expression, std::uint32_t members, double bytes, const PairTimes& pair)
{
  std::array<double, powers.size()> values{};
  values[members_variable] = members;
  values[bytes_variable] = bytes;
  values[latency_variable] = pair.latency;
  values[bandwidth_variable] = pair.bandwidth;
  return expression.evaluate(values);
}

// What it says of numbers that are usual is a time.
void check(const kernels::Expression& expression)
{
  for (const std::uint32_t members : {2U, 3U, 16U, 1024U})
    for (const double bytes : {0., 8., 1e6}) {
      const double seconds = evaluated(expression, members, bytes, {1e-6, 1e10});
      if (!std::isfinite(seconds) || seconds < 0)
        throw UsageError(
            expression.object(), "a time of at least 0 for every P and bytes",
            fmt::format("{} s for P = {}, bytes = {} from {}", seconds, members, bytes, in_quotes(expression.text())),
            "Keep it from there with max(0s, ...) or CONDITION ? A : B.");
    }
}

// Binomial trees for what goes to or comes from one rank as a whole; what is of a size for each member passes the link
// of one of them in any case.
double tree(umw_collective_function function, std::uint32_t members, double bytes, const PairTimes& pair)
{
  const double steps = std::ceil(std::log2(members));
  const double others = members - 1;
  switch (function) {
  case UMW_COLLECTIVE_Allgather:
  case UMW_COLLECTIVE_Allgatherv:
  case UMW_COLLECTIVE_Alltoall:
  case UMW_COLLECTIVE_Alltoallv:
  case UMW_COLLECTIVE_Alltoallw:
  case UMW_COLLECTIVE_Gather:
  case UMW_COLLECTIVE_Gatherv:
  case UMW_COLLECTIVE_Scatter:
  case UMW_COLLECTIVE_Scatterv:
    return steps * pair.latency + others * bytes / pair.bandwidth;
  case UMW_COLLECTIVE_Reduce_scatter:
  case UMW_COLLECTIVE_Reduce_scatter_block:
    return steps * pair.latency + others / members * bytes / pair.bandwidth;
  default:
    return steps * (pair.latency + bytes / pair.bandwidth);
  }
}

} // namespace

std::string_view collective_name(std::uint32_t function)
{
  return names.at(function);
}

double bytes_of_model(std::uint32_t function, std::uint32_t members, double all, double most)
{
  switch (function) {
  case UMW_COLLECTIVE_Bcast:
    return all;
  case UMW_COLLECTIVE_Allgather:
  case UMW_COLLECTIVE_Allgatherv:
  case UMW_COLLECTIVE_Gather:
  case UMW_COLLECTIVE_Gatherv:
  case UMW_COLLECTIVE_Scatter:
  case UMW_COLLECTIVE_Scatterv:
    return all / members;
  case UMW_COLLECTIVE_Alltoall:
  case UMW_COLLECTIVE_Alltoallv:
  case UMW_COLLECTIVE_Alltoallw:
    return most / members;
  default:
    return most;
  }
}

CollectiveModel::CollectiveModel(std::string_view option, std::string_view text) : text_(text)
{
  constexpr std::array<std::string_view, 3> known{"real", "zero", "tree"};
  const auto* const found = std::find(known.begin(), known.end(), text);
  if (found != known.end()) {
    kind_ = static_cast<Kind>(found - known.begin());
    return;
  }
  kind_ = Kind::expression;
  if (text.empty())
    throw UsageError(option, "a model", "nothing", models_help);
  if (kernels::is_identifier(text) && std::find(variables().begin(), variables().end(), text) == variables().end()) {
    const std::vector<std::string> models(known.begin(), known.end());
    const std::string_view guess = plausible(text, models);
    throw UsageError(option, "a model", in_quotes(text),
                     fmt::format("{}{}", guess.empty() ? "" : fmt::format("Did you mean '{}'? ", guess), models_help));
  }
  expression_ = std::make_unique<kernels::Expression>(text, variables(), option, models_help);
  kernels::require_time(*expression_, powers);
  check(*expression_);
}

bool CollectiveModel::wants_pair_times() const
{
  return kind_ == Kind::tree ||
         (expression_ && std::any_of(expression_->used().begin(), expression_->used().end(),
                                     [](std::size_t variable) { return variable >= latency_variable; }));
}

double CollectiveModel::seconds(umw_collective_function function, std::uint32_t members, double bytes,
                                const PairTimes& pair) const
{
  if (members < 2)
    return 0;
  switch (kind_) {
  case Kind::tree:
    return tree(function, members, bytes, pair);
  case Kind::expression:
    return evaluated(*expression_, members, bytes, pair);
  default:
    return 0;
  }
}

CollectiveModels::CollectiveModels()
{
  models_.fill(std::make_shared<const CollectiveModel>("--collectives", "real"));
}

void CollectiveModels::add(std::string_view option, std::string_view text)
{
  for (const std::string_view item : items_of(text)) {
    const auto equals = assignment(item);
    if (!equals) {
      models_.fill(std::make_shared<const CollectiveModel>(option, item));
      continue;
    }
    const std::string_view name = trim(item.substr(0, *equals), blanks);
    const umw_collective_function function = function_called(option, name);
    models_.at(function) = std::make_shared<const CollectiveModel>(fmt::format("{} {}", option, name),
                                                                   trim(item.substr(*equals + 1), blanks));
  }
}

std::uint64_t CollectiveModels::modelled() const
{
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < models_.size(); ++i)
    if (models_.at(i)->kind() != CollectiveModel::Kind::real)
      bits |= std::uint64_t{1} << i;
  return bits;
}

bool CollectiveModels::want_pair_times() const
{
  return std::any_of(models_.begin(), models_.end(), [](const auto& model) { return model->wants_pair_times(); });
}

} // namespace umwelt::mpi
