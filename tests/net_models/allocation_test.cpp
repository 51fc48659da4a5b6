// SPDX-License-Identifier: LGPL-2.1-or-later
// Models must not allocate once they have seen the run's working size: it would cost as much as all their arithmetic.
#include <gtest/gtest.h>

#include "tests/net_models/count_allocations.h"
#include "tests/net_models/probe.h"

namespace umwelt::net
{
namespace
{

class Allocation : public testing::TestWithParam<const char*>
{
};

TEST_P(Allocation, NoneInTheSteadyState)
{
  Bench bench(GetParam(), "", 4, "bxi:leaf=2,spines=2");
  std::vector<Observed> transfers(300);
  const auto round = [&] {
    bench.probe.headers.clear();
    for (std::size_t i = 0; i < transfers.size(); ++i) {
      Observed& transfer = transfers[i];
      transfer = {};
      transfer.client = &bench.probe;
      transfer.source = static_cast<NodeIndex>(i % 4);
      transfer.target = static_cast<NodeIndex>(i / 4 % 4);
      transfer.payload = i * 100;
      bench.model->start(transfer);
    }
    bench.run();
  };
  round();
  round();
  const std::size_t before = allocations();
  round();
  EXPECT_EQ(allocations() - before, 0U);
}

INSTANTIATE_TEST_SUITE_P(Models, Allocation, testing::Values("bxi", "loggp", "piecewise", "delay"),
                         [](const auto& test) { return std::string(test.param); });

} // namespace
} // namespace umwelt::net
