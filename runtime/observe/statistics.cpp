// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/observe/statistics.h"

namespace umwelt::observe
{

void SizeHistogram::add(const SizeHistogram& other)
{
  for (std::size_t i = 0; i < classes; ++i)
    counts_[i] += other.counts_[i];
}

} // namespace umwelt::observe
