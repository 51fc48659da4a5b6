// SPDX-License-Identifier: LGPL-2.1-or-later
// What links carry, as fabrics and models tell it.
#include "net_models/core/link_load.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include "tests/net_models/in_actor.h"

namespace umwelt::net
{
namespace
{

struct Loaded : Bench {
  Loaded(std::string_view name, std::string_view list, const std::string& machine)
      : Bench(name, list, 8, machine), load(*platform)
  {
    Parameters parameters;
    parameters.add(list, "test");
    ModelContext context{timeline, *platform, &probe};
    context.load = &load;
    model = make_model(name, context, parameters);
  }
  [[nodiscard]] double in_bins(std::size_t link) const
  {
    const std::vector<double> row = load.bins().row(link, sim::never / 2);
    return std::accumulate(row.begin(), row.end(), 0.0);
  }

  LinkLoad load;
};

using Named = std::tuple<const char*, const char*>; // model, parameters

class Load : public testing::TestWithParam<Named>
{
};

TEST_P(Load, IsWhatMessagesBringToEachLinkOfTheirRoute)
{
  constexpr std::uint64_t payload = 100'000;
  Loaded bench(std::get<0>(GetParam()), std::get<1>(GetParam()), "bxi:leaf=2,spines=2");
  in_actor(bench, [&bench] {
    bench.put(payload, 0, 7);
    bench.put(payload, 1, 7);
    bench.put(payload, 7, 7); // over no link
    loop(bench);
  });
  const auto& to_both = bench.platform->route(0, 7).links;
  ASSERT_LT(*std::max_element(to_both.begin(), to_both.end()), bench.load.links());
  const double last = static_cast<double>(bench.load.bytes(to_both.back()));
  const double first = static_cast<double>(bench.load.bytes(to_both.front()));
  EXPECT_GE(first, payload);
  EXPECT_LE(first, 1.25 * payload);  // headers
  EXPECT_NEAR(last, 2 * first, 500); // and acknowledgements, if any come that way
  for (platform::LinkIndex link = 0; link < bench.load.links(); ++link)
    EXPECT_NEAR(bench.in_bins(link), static_cast<double>(bench.load.bytes(link)), 1);
}

TEST_P(Load, OfALinkIsNeverMoreThanItsRate)
{
  Loaded bench(std::get<0>(GetParam()), std::get<1>(GetParam()), "crossbar:bw=1GB/s");
  in_actor(bench, [&bench] {
    for (NodeIndex from = 0; from < 7; ++from)
      bench.put(200'000, from, 7);
    loop(bench);
  });
  const SimTime width = bench.load.bins().width();
  for (platform::LinkIndex link = 0; link < bench.load.links(); ++link)
    for (const double bytes : bench.load.bins().row(link, sim::never / 2))
      EXPECT_LE(bytes, 1e9 * sim::to_seconds(width) + 1);
}

INSTANTIATE_TEST_SUITE_P(Models, Load,
                         testing::Values(Named{"bxi", ""}, Named{"bxi", "fabric=packet"}, Named{"bxi", "fabric=flow"},
                                         Named{"flow", ""}, Named{"loggp", ""}, Named{"delay", ""}));

} // namespace
} // namespace umwelt::net
