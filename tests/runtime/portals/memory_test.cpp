// SPDX-License-Identifier: LGPL-2.1-or-later
// What an outstanding request costs in memory, engine and NIC model together: the same for the hundredth as for the
// hundred thousandth, and nothing when it is over.
#include "net_models/catalogue.h"
#include "platforms/platform.h"
#include "runtime/base/parameters.h"
#include "tests/net_models/count_allocations.h"
#include "tests/runtime/portals/support.h"

namespace umwelt::portals::test
{
namespace
{

enum class Request { put, get, fetch };

struct Cost {
  std::ptrdiff_t outstanding; // bytes while all requests are
  std::ptrdiff_t after;       // and when they are over
};

class OutstandingRequests : public ::testing::TestWithParam<std::tuple<Request, ptl_size_t>>
{
protected:
  Cost measure(std::ptrdiff_t requests)
  {
    const auto [kind, length] = GetParam();
    sim::Timeline timeline;
    TestHost host{timeline};
    Fabric fabric{timeline, host, 2};
    const auto platform = platform::make_platform({.spec = "crossbar", .nodes = 2});
    Parameters parameters;
    parameters.add("queue_depth=1000000", "test"); // the program may have them all outstanding
    const auto model = net::make_model("bxi", {timeline, *platform, &fabric}, parameters);
    fabric.set_model(*model);
    Peer a{fabric, 0, 0, 0};
    Peer b{fabric, 1, 1, 0};
    for (Peer* peer : {&a, &b})
      peer->open(PTL_NI_MATCHING | PTL_NI_PHYSICAL);
    std::vector<char> memory(length);
    std::vector<char> buffer(2 * length);
    b.append(memory.data(), length, PTL_ME_OP_PUT | PTL_ME_OP_GET | PTL_ME_EVENT_COMM_DISABLE);
    const ptl_md_t description{buffer.data(), buffer.size(), PTL_MD_EVENT_CT_ACK | PTL_MD_EVENT_CT_REPLY, PTL_EQ_NONE,
                               a.initiator_ct};
    ptl_handle_md_t md = PTL_INVALID_HANDLE;
    EXPECT_EQ(api::PtlMDBind(a.process, a.ni, &description, &md), PTL_OK);
    // One of each, so that what is there once for all is not counted.
    const auto issue = [&, kind = kind, length = length]() -> int {
      switch (kind) {
      case Request::put:
        return a.put(md, length, b, {.ack = PTL_CT_ACK_REQ});
      case Request::get:
        return a.get(md, length, b);
      case Request::fetch:
        return a.fetch(md, md, length, b, PTL_SUM, PTL_UINT64_T, {.local_offset = length});
      }
      return PTL_FAIL;
    };
    const auto settle = [&] {
      while (timeline.step()) {
      }
    };
    EXPECT_EQ(issue(), PTL_OK);
    settle();
    const auto live = [] { return static_cast<std::ptrdiff_t>(allocated_bytes()); };
    const std::ptrdiff_t before = live();
    for (std::ptrdiff_t i = 0; i < requests; ++i)
      EXPECT_EQ(issue(), PTL_OK);
    const std::ptrdiff_t outstanding = live() - before;
    settle();
    EXPECT_EQ(a.count(a.initiator_ct).success, static_cast<ptl_size_t>(requests) + 1);
    EXPECT_EQ(issue(), PTL_OK); // a smaller burst: nobody needs the memory of the large one
    settle();
    return {outstanding, live() - before};
  }
};

TEST_P(OutstandingRequests, cost_the_same_each_and_are_freed)
{
  constexpr std::ptrdiff_t few = 10;
  constexpr std::ptrdiff_t many = 10'000;
  constexpr std::ptrdiff_t most = 100'000;
  constexpr std::ptrdiff_t piece = 256 << 10; // pools grow in pieces of up to so many bytes
  const Cost of_few = measure(few);
  const Cost of_many = measure(many);
  const Cost of_most = measure(most);
  const std::ptrdiff_t each = of_many.outstanding / many;
  RecordProperty("bytes_per_request", static_cast<int>(each));
  EXPECT_LT(each, 2048);
  EXPECT_LT(of_few.outstanding, few * each + piece);
  EXPECT_LT(of_most.outstanding, most * each * 3 / 2); // vectors double
  EXPECT_LT(of_many.after, of_many.outstanding / 10);
  EXPECT_LT(of_most.after, of_most.outstanding / 10);
}

INSTANTIATE_TEST_SUITE_P(Requests, OutstandingRequests,
                         ::testing::Values(std::tuple(Request::put, 8), std::tuple(Request::put, 4096),
                                           std::tuple(Request::get, 8), std::tuple(Request::get, 4096),
                                           std::tuple(Request::fetch, 64)));

} // namespace
} // namespace umwelt::portals::test
