// SPDX-License-Identifier: LGPL-2.1-or-later
// Every call with garbage: random handles, indexes, options, sizes and null pointers never crash the engine.
#include "tests/runtime/portals/garbage.h"

namespace umwelt::portals::test
{
namespace
{

class GarbageTest : public Machine, public ::testing::WithParamInterface<unsigned>
{
protected:
  Entropy entropy{GetParam()};
  Garbage garbage{entropy};

  GarbageTest()
  {
    for (const ptl_handle_any_t handle : {a.ni, a.target_eq, a.initiator_eq, a.target_ct, a.initiator_ct})
      garbage.remember(handle);
  }
};

TEST_P(GarbageTest, never_crashes)
{
  for (int round = 0; round < 400; ++round) {
    if (!a.process.initialised() || entropy.pick(50) == 0) { // PtlFini was among the calls
      ASSERT_EQ(api::PtlInit(a.process), PTL_OK);
      ptl_handle_ni_t ni = PTL_INVALID_HANDLE;
      const unsigned matching = entropy.pick(2) ? PTL_NI_MATCHING : PTL_NI_NO_MATCHING;
      const unsigned addressing = entropy.pick(2) ? PTL_NI_LOGICAL : PTL_NI_PHYSICAL;
      ASSERT_EQ(api::PtlNIInit(a.process, 0, matching | addressing, PTL_PID_ANY, nullptr, nullptr, &ni), PTL_OK);
      garbage.remember(ni);
      ptl_pt_index_t index = 0;
      static_cast<void>(api::PtlPTAlloc(a.process, ni, 0, PTL_EQ_NONE, PTL_PT_ANY, &index));
    }
    garbage.call_all(a.process);
    if (entropy.pick(4) == 0)
      settle();
  }
  settle();
  EXPECT_EQ(fabric.in_flight(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Seeds, GarbageTest, ::testing::Range(1U, 21U));

// Handles of one process name nothing of another one's.
TEST(Handles, belong_to_a_process)
{
  sim::Timeline timeline;
  TestHost host{timeline};
  Fabric fabric{timeline, host, 1};
  Peer rich{fabric, 0, 0, 0};
  Peer poor{fabric, 0, 1, 0};
  rich.open(PTL_NI_MATCHING | PTL_NI_PHYSICAL);
  ASSERT_EQ(api::PtlInit(poor.process), PTL_OK);
  ptl_event_t event{};
  EXPECT_EQ(api::PtlEQGet(poor.process, rich.target_eq, &event), PTL_ARG_INVALID);
  EXPECT_EQ(api::PtlCTFree(poor.process, rich.target_ct), PTL_ARG_INVALID);
  EXPECT_EQ(api::PtlNIFini(poor.process, rich.ni), PTL_ARG_INVALID);
}

} // namespace
} // namespace umwelt::portals::test
