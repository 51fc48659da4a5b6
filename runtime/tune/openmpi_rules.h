// SPDX-License-Identifier: LGPL-2.1-or-later
// Open MPI's file of dynamic rules, for --mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_dynamic_rules_filename.
//
// Numbers, and comments from # to the end of a line: how many collectives; for each its id and how many counts of
// ranks; for each of these the count and how many sizes; for each of those the size, the algorithm, the fan-out, the
// segment. Open MPI takes the last count that is not above that of the communicator (or else the first), then the last
// size that is not above that of the call. Algorithm 0 is its own decision. Functions that are not in the file stay as
// they are. (ompi/mca/coll/tuned/coll_tuned_dynamic_file.c and coll_tuned_dynamic_rules.c)
#pragma once

#include <span>
#include <string>

#include "runtime/tune/measurements.h"

namespace umwelt::tune
{

// Fewer ranks than were measured keep Open MPI's own decision. So do more ranks than two, up to the next number that
// was measured, if the best for two is an algorithm for two processes only.
std::string openmpi_rules(std::span<const Group> groups);

} // namespace umwelt::tune
