// SPDX-License-Identifier: LGPL-2.1-or-later
// What a target does not take has crossed the network all the same: only its write to memory is saved.
#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include "tests/net_models/in_actor.h"

namespace umwelt::net
{
namespace
{

using Named = std::tuple<const char*, const char*>; // model, parameters

class Truncated : public testing::TestWithParam<Named>
{
};

SimTime time_of(const Named& model, std::uint64_t payload, NodeIndex target, std::uint64_t keep)
{
  Bench bench(std::get<0>(model), std::get<1>(model));
  Observed& put = bench.transfer(TransferKind::put, payload, 0, target);
  put.keep = keep;
  in_actor(bench, [&bench, &put] {
    bench.start(put);
    loop(bench);
  });
  return put.done - put.started;
}

TEST_P(Truncated, TakesAsLongOnTheWire)
{
  constexpr SimTime write = sim::microsecond; // of a byte, at most
  for (const std::uint64_t payload : {1ULL, 2048ULL, 1ULL << 20})
    for (const NodeIndex target : {1U, 0U}) {
      const SimTime whole = time_of(GetParam(), payload, target, payload);
      const SimTime one_byte = time_of(GetParam(), payload, target, 1);
      const SimTime nothing = time_of(GetParam(), payload, target, 0);
      EXPECT_LE(nothing, one_byte) << payload << " bytes to " << target;
      EXPECT_LE(one_byte, whole) << payload << " bytes to " << target;
      EXPECT_LE(one_byte - nothing, write) << payload << " bytes to " << target;
    }
}

INSTANTIATE_TEST_SUITE_P(Models, Truncated,
                         testing::Values(Named{"bxi", ""}, Named{"bxi", "e2e=off"}, Named{"bxi", "pci=off"},
                                         Named{"bxi", "fabric=packet"}, Named{"bxi", "fabric=flow"}, Named{"flow", ""},
                                         Named{"loggp", ""}, Named{"piecewise", ""}, Named{"delay", ""}));

} // namespace
} // namespace umwelt::net
