// SPDX-License-Identifier: LGPL-2.1-or-later
// Users and operations an entry refuses (Portals 4.3, 3.11): nothing changes at the target but a status register.
#include "tests/runtime/portals/support.h"

namespace umwelt::portals::test
{
namespace
{

class PermissionTest : public Machine
{
protected:
  std::uint64_t value = 5;
  std::uint64_t result = 0;
  std::uint64_t memory = 3;
  void accept(unsigned options, ptl_uid_t uid = PTL_UID_ANY)
  {
    b.append(&memory, 8, options | PTL_ME_EVENT_LINK_DISABLE | PTL_ME_USE_ONCE | PTL_ME_EVENT_CT_COMM,
             {.uid = uid, .counted = true});
  }
  ptl_handle_md_t md() { return a.md(&value, 8, PTL_MD_EVENT_SEND_DISABLE); }
  ptl_ni_fail_t outcome()
  {
    settle();
    const auto events = a.initiator_events();
    EXPECT_EQ(events.size(), 1U);
    return events.empty() ? ptl_ni_fail_t{255} : events[0].ni_fail_type;
  }
  void expect_untouched()
  {
    EXPECT_EQ(memory, 3U);
    EXPECT_TRUE(b.target_events().empty());
    EXPECT_EQ(b.count(b.target_ct).success + b.count(b.target_ct).failure, 0U);
    EXPECT_EQ(b.status(PTL_SR_DROP_COUNT), 0);
  }
};

TEST_F(PermissionTest, wrong_user)
{
  accept(PTL_ME_OP_PUT, 101);
  ASSERT_EQ(a.put(md(), 8, b, {.ack = PTL_ACK_REQ}), PTL_OK);
  EXPECT_EQ(outcome(), PTL_NI_PERM_VIOLATION);
  EXPECT_EQ(b.status(PTL_SR_PERMISSION_VIOLATIONS), 1);
  expect_untouched();
}

TEST_F(PermissionTest, right_user)
{
  accept(PTL_ME_OP_PUT, 100);
  ASSERT_EQ(a.put(md(), 8, b, {.ack = PTL_ACK_REQ}), PTL_OK);
  EXPECT_EQ(outcome(), PTL_NI_OK);
  EXPECT_EQ(memory, 5U);
}

TEST_F(PermissionTest, put_needs_op_put)
{
  accept(PTL_ME_OP_GET);
  ASSERT_EQ(a.put(md(), 8, b, {.ack = PTL_ACK_REQ}), PTL_OK);
  EXPECT_EQ(outcome(), PTL_NI_OP_VIOLATION);
  EXPECT_EQ(b.status(PTL_SR_OPERATION_VIOLATIONS), 1);
  expect_untouched();
}

TEST_F(PermissionTest, get_needs_op_get)
{
  accept(PTL_ME_OP_PUT);
  ASSERT_EQ(a.get(md(), 8, b), PTL_OK);
  EXPECT_EQ(outcome(), PTL_NI_OP_VIOLATION);
  EXPECT_EQ(b.status(PTL_SR_OPERATION_VIOLATIONS), 1);
  expect_untouched();
}

TEST_F(PermissionTest, atomic_needs_op_put)
{
  accept(PTL_ME_OP_GET);
  ASSERT_EQ(a.atomic(md(), 8, b, PTL_SUM, PTL_UINT64_T, {.ack = PTL_ACK_REQ}), PTL_OK);
  EXPECT_EQ(outcome(), PTL_NI_OP_VIOLATION);
  expect_untouched();
}

TEST_F(PermissionTest, fetching_atomic_needs_both)
{
  accept(PTL_ME_OP_PUT);
  ASSERT_EQ(a.fetch(a.md(&result, 8), md(), 8, b, PTL_SUM, PTL_UINT64_T), PTL_OK);
  EXPECT_EQ(outcome(), PTL_NI_OP_VIOLATION);
  expect_untouched();
}

TEST_F(PermissionTest, swap_needs_both)
{
  accept(PTL_ME_OP_GET);
  ASSERT_EQ(a.swap(a.md(&result, 8), md(), 8, b, nullptr, PTL_SWAP, PTL_UINT64_T), PTL_OK);
  EXPECT_EQ(outcome(), PTL_NI_OP_VIOLATION);
  expect_untouched();
}

// The entry that matches decides, even if a later one would allow the operation.
TEST_F(PermissionTest, violation_does_not_search_on)
{
  accept(PTL_ME_OP_GET);
  accept(PTL_ME_OP_PUT);
  ASSERT_EQ(a.put(md(), 8, b, {.ack = PTL_ACK_REQ}), PTL_OK);
  EXPECT_EQ(outcome(), PTL_NI_OP_VIOLATION);
  expect_untouched();
}

TEST_F(PermissionTest, violations_are_not_resource_exhaustion)
{
  ptl_pt_index_t index = 0;
  ASSERT_EQ(api::PtlPTAlloc(b.process, b.ni, PTL_PT_FLOWCTRL, b.target_eq, 4, &index), PTL_OK);
  b.pt = 4;
  accept(PTL_ME_OP_GET);
  ASSERT_EQ(a.put(md(), 8, b, {.ack = PTL_ACK_REQ, .pt = 4}), PTL_OK);
  EXPECT_EQ(outcome(), PTL_NI_OP_VIOLATION);
  expect_untouched(); // no PT_DISABLED either
}

} // namespace
} // namespace umwelt::portals::test
