// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/plan/folding.h"

#include <fmt/format.h>

#include "runtime/base/parameters.h"
#include "runtime/base/usage_error.h"

namespace umwelt::plan
{

std::shared_ptr<const fold::Rules> read_folding(const RunOptions& options, std::size_t ranks)
{
  if (options.fold_rules.empty()) {
    if (options.fold_budget != 0)
      throw UsageError("--fold-budget", "--fold beside it, which says what may be forgotten", "none",
                       "For example: --fold at_least=64MiB");
    return nullptr;
  }
  fold::Rules rules = fold::read_rules(options.fold_rules);
  rules.budget = options.fold_budget != 0 ? options.fold_budget / ranks : fold::default_budget(ranks);
  if (rules.budget < fold::smallest_budget)
    throw UsageError(
        "--fold-budget", fmt::format("{} or more for each of {} ranks", size_text(fold::smallest_budget), ranks),
        size_text(options.fold_budget), fmt::format("Give at least {}.", size_text(fold::smallest_budget * ranks)));
  return std::make_shared<const fold::Rules>(std::move(rules));
}

} // namespace umwelt::plan
