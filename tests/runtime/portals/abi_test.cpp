// SPDX-License-Identifier: LGPL-2.1-or-later
// The binary interface: sizes, offsets and values of the public reference implementation, which programs are compiled
// with.
#include <gtest/gtest.h>

#include <cstddef>

#include "preload/abi/portals4.h"
#include "tests/runtime/portals/abi_c.h"

namespace
{

TEST(Abi, sizes_in_c)
{
  const umw_abi_sizes sizes = umw_abi_in_c();
  EXPECT_EQ(sizes.process, 8U);
  EXPECT_EQ(sizes.iovec, 16U);
  EXPECT_EQ(sizes.ct_event, 16U);
  EXPECT_EQ(sizes.md, 32U);
  EXPECT_EQ(sizes.le, 32U);
  EXPECT_EQ(sizes.me, 64U);
  EXPECT_EQ(sizes.limits, 96U);
  EXPECT_EQ(sizes.event, 80U);
}

TEST(Abi, descriptors_and_entries)
{
  EXPECT_EQ(offsetof(ptl_md_t, length), 8U);
  EXPECT_EQ(offsetof(ptl_md_t, options), 16U);
  EXPECT_EQ(offsetof(ptl_md_t, eq_handle), 20U);
  EXPECT_EQ(offsetof(ptl_md_t, ct_handle), 24U);
  EXPECT_EQ(offsetof(ptl_le_t, ct_handle), 16U);
  EXPECT_EQ(offsetof(ptl_le_t, uid), 20U);
  EXPECT_EQ(offsetof(ptl_le_t, options), 24U);
  EXPECT_EQ(offsetof(ptl_me_t, match_id), 28U);
  EXPECT_EQ(offsetof(ptl_me_t, match_bits), 40U);
  EXPECT_EQ(offsetof(ptl_me_t, ignore_bits), 48U);
  EXPECT_EQ(offsetof(ptl_me_t, min_free), 56U);
}

TEST(Abi, limits)
{
  EXPECT_EQ(offsetof(ptl_ni_limits_t, max_triggered_ops), 32U);
  EXPECT_EQ(offsetof(ptl_ni_limits_t, max_msg_size), 40U);
  EXPECT_EQ(offsetof(ptl_ni_limits_t, features), 88U);
}

TEST(Abi, events)
{
  EXPECT_EQ(offsetof(ptl_event_t, user_ptr), 8U);
  EXPECT_EQ(offsetof(ptl_event_t, hdr_data), 16U);
  EXPECT_EQ(offsetof(ptl_event_t, match_bits), 24U);
  EXPECT_EQ(offsetof(ptl_event_t, rlength), 32U);
  EXPECT_EQ(offsetof(ptl_event_t, mlength), 40U);
  EXPECT_EQ(offsetof(ptl_event_t, remote_offset), 48U);
  EXPECT_EQ(offsetof(ptl_event_t, initiator), 56U);
  EXPECT_EQ(offsetof(ptl_event_t, uid), 64U);
  EXPECT_EQ(offsetof(ptl_event_t, pt_index), 68U);
  EXPECT_EQ(offsetof(ptl_event_t, type), 72U);
  EXPECT_EQ(offsetof(ptl_event_t, ptl_list), 73U);
  EXPECT_EQ(offsetof(ptl_event_t, ni_fail_type), 74U);
  EXPECT_EQ(offsetof(ptl_event_t, atomic_operation), 75U);
  EXPECT_EQ(offsetof(ptl_event_t, atomic_type), 76U);
}

TEST(Abi, constants)
{
  EXPECT_EQ(PTL_EQ_NONE, 0x3fffffffU);
  EXPECT_EQ(PTL_CT_NONE, 0x5fffffffU);
  EXPECT_EQ(PTL_INVALID_HANDLE, 0xffffffffU);
  EXPECT_EQ(PTL_NID_ANY, 0xffffU);
  EXPECT_EQ(PTL_PID_ANY, 0xffffU);
  EXPECT_EQ(PTL_PID_MAX, 1024U);
  EXPECT_EQ(PTL_ABORTED, 15);
  EXPECT_EQ(PTL_ME_EVENT_CT_BYTES, 0x4000);
  EXPECT_EQ(PTL_MD_EVENT_CT_BYTES, 0x4000);
  EXPECT_EQ(PTL_ME_MANAGE_LOCAL, 0x8000);
  EXPECT_EQ(PTL_ME_LOCAL_INC_UH_RLENGTH, 0x40000);
}

} // namespace
