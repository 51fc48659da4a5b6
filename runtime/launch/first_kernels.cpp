// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/launch/first_kernels.h"

#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "runtime/base/usage_error.h"
#include "runtime/kernels/watching.h"

namespace umwelt::launch
{

void check_kernels_file(const plan::RunOptions& options)
{
  if (!options.watch)
    return;
  const auto& [output, overwrite, least, functions] = *options.watch;
  std::error_code error;
  if (!overwrite && std::filesystem::is_regular_file(output, error))
    throw UsageError("--output " + output, "a file that is not there yet", "one that is",
                     "Name another one, or replace it: --force");
  observe::ResultFile::check("--output", output);
}

std::unique_ptr<observe::ResultFile> open_kernels_file(const plan::RunOptions& options)
{
  if (!options.watch)
    return {};
  check_kernels_file(options);
  return std::make_unique<observe::ResultFile>("--output", options.watch->output);
}

bool finish_kernels_file(observe::ResultFile& file, const plan::Plan& plan, const job::Job& job,
                         const observe::JobRecord& record)
{
  const plan::WatchWishes& watch = *plan.options.watch;
  if (record.ending != observe::completed) {
    fmt::print(stderr, "umwelt kernels: {}: not written, since of a run that was broken off too little is known\n",
               watch.output);
    return false;
  }
  sim::SimTime computing = 0;
  for (const observe::RankRecord& rank : record.ranks)
    computing += rank.statistics.compute;
  const std::vector<kernels::Totals> totals = job.kernel_totals();
  try {
    file.buffer() += kernels::first_kernels_file(*plan.kernels, totals, job.profile(), sim::to_seconds(computing),
                                                 watch.least, record.programs);
    file.finish();
  } catch (const std::runtime_error& error) {
    fmt::print(stderr, "umwelt kernels: {}\n", error.what());
    return false;
  }
  if (plan.options.verbosity >= 0)
    fmt::print(stderr, "umwelt: {}: for umwelt run --kernels {}\n", watch.output, watch.output);
  return true;
}

} // namespace umwelt::launch
