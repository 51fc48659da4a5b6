// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/plan/collectives.h"

namespace umwelt::plan
{

std::string parse_collectives(std::string_view option, const std::string& text)
{
  mpi::CollectiveModels().add(option, text);
  return text;
}

std::shared_ptr<const mpi::CollectiveModels> collective_models(const RunOptions& options)
{
  auto models = std::make_shared<mpi::CollectiveModels>();
  for (const std::string& text : options.collectives)
    models->add("--collectives", text);
  if (models->modelled() == 0)
    return nullptr;
  return models;
}

} // namespace umwelt::plan
