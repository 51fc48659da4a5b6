// SPDX-License-Identifier: LGPL-2.1-or-later
// Initialisation, interfaces, maps and identifiers (Portals 4.3, 3.5, 3.6, 3.8, 3.9, 3.17, 3.18).
#include <climits>

#include "tests/runtime/portals/support.h"

namespace umwelt::portals::test
{
namespace
{

constexpr unsigned matching_physical = PTL_NI_MATCHING | PTL_NI_PHYSICAL;

// A process that has done nothing yet, and another one on the same node.
class InterfaceTest : public ::testing::Test
{
protected:
  sim::Timeline timeline;
  TestHost host{timeline};
  Fabric fabric{timeline, host, 2};
  TestModel model{timeline, fabric};
  Process process{fabric, 0, 0, 100};
  Process neighbour{fabric, 0, 1, 100};
  ptl_handle_ni_t ni = PTL_INVALID_HANDLE;

  InterfaceTest() { fabric.set_model(model); }
  int open(unsigned options = matching_physical, ptl_pid_t pid = PTL_PID_ANY)
  {
    return api::PtlNIInit(process, PTL_IFACE_DEFAULT, options, pid, nullptr, nullptr, &ni);
  }
  ptl_ni_limits_t granted(const ptl_ni_limits_t& desired)
  {
    ptl_ni_limits_t actual{};
    EXPECT_EQ(api::PtlNIInit(process, PTL_IFACE_DEFAULT, matching_physical, PTL_PID_ANY, &desired, &actual, &ni),
              PTL_OK);
    return actual;
  }
};

class InitialisedTest : public InterfaceTest
{
protected:
  InitialisedTest()
  {
    EXPECT_EQ(api::PtlInit(process), PTL_OK);
    EXPECT_EQ(api::PtlInit(neighbour), PTL_OK);
  }
};

// 3.5: every other function needs PtlInit first.
TEST_F(InterfaceTest, calls_before_init_are_refused)
{
  ptl_ct_event_t count{};
  ptl_event_t event{};
  ptl_process_t id{};
  unsigned which = 0;
  const ptl_handle_any_t none = PTL_INVALID_HANDLE;
  const ptl_size_t test = 1;
  EXPECT_EQ(open(), PTL_NO_INIT);
  EXPECT_EQ(api::PtlNIFini(process, none), PTL_NO_INIT);
  EXPECT_EQ(api::PtlGetId(process, none, &id), PTL_NO_INIT);
  EXPECT_EQ(api::PtlEQGet(process, none, &event), PTL_NO_INIT);
  EXPECT_EQ(api::PtlEQWait(process, none, &event), PTL_NO_INIT);
  EXPECT_EQ(api::PtlEQPoll(process, &none, 1, 0, &event, &which), PTL_NO_INIT);
  EXPECT_EQ(api::PtlCTWait(process, none, 1, &count), PTL_NO_INIT);
  EXPECT_EQ(api::PtlCTPoll(process, &none, &test, 1, 0, &count, &which), PTL_NO_INIT);
  EXPECT_EQ(api::PtlMDRelease(process, none), PTL_NO_INIT);
  EXPECT_EQ(api::PtlMEUnlink(process, none), PTL_NO_INIT);
  EXPECT_EQ(api::PtlPut(process, none, 0, 0, PTL_NO_ACK_REQ, id, 0, 0, 0, nullptr, 0), PTL_NO_INIT);
  EXPECT_EQ(api::PtlAtomicSync(process), PTL_NO_INIT);
  EXPECT_EQ(api::PtlStartBundle(process, none), PTL_NO_INIT);
}

// 3.5: PtlInit counts references.
TEST_F(InterfaceTest, every_init_needs_a_fini)
{
  EXPECT_EQ(api::PtlInit(process), PTL_OK);
  EXPECT_EQ(api::PtlInit(process), PTL_OK);
  api::PtlFini(process);
  EXPECT_EQ(open(), PTL_OK);
  api::PtlFini(process);
  EXPECT_EQ(open(), PTL_NO_INIT);
  api::PtlFini(process); // one too many does nothing
  EXPECT_EQ(api::PtlInit(process), PTL_OK);
}

// 3.5: the last PtlFini frees all resources.
TEST_F(InitialisedTest, fini_closes_interfaces)
{
  ASSERT_EQ(open(), PTL_OK);
  const ptl_handle_ni_t before = ni;
  api::PtlFini(process);
  ASSERT_EQ(api::PtlInit(process), PTL_OK);
  EXPECT_EQ(api::PtlNIFini(process, before), PTL_ARG_INVALID);
  EXPECT_EQ(open(), PTL_OK);
}

// 3.6: either matching or not, either logical or physical.
TEST_F(InitialisedTest, options_exclude_each_other)
{
  EXPECT_EQ(open(0), PTL_ARG_INVALID);
  EXPECT_EQ(open(PTL_NI_MATCHING), PTL_ARG_INVALID);
  EXPECT_EQ(open(PTL_NI_LOGICAL), PTL_ARG_INVALID);
  EXPECT_EQ(open(PTL_NI_MATCHING | PTL_NI_NO_MATCHING | PTL_NI_LOGICAL), PTL_ARG_INVALID);
  EXPECT_EQ(open(PTL_NI_MATCHING | PTL_NI_LOGICAL | PTL_NI_PHYSICAL), PTL_ARG_INVALID);
  EXPECT_EQ(open(matching_physical | 1U << 4), PTL_ARG_INVALID);
}

TEST_F(InitialisedTest, interface_number)
{
  ptl_handle_ni_t zero = PTL_INVALID_HANDLE;
  EXPECT_EQ(api::PtlNIInit(process, 0, matching_physical, PTL_PID_ANY, nullptr, nullptr, &zero), PTL_OK);
  EXPECT_EQ(open(), PTL_OK);
  EXPECT_EQ(ni, zero); // the default interface
  EXPECT_EQ(api::PtlNIInit(process, 1, matching_physical, PTL_PID_ANY, nullptr, nullptr, &zero), PTL_ARG_INVALID);
  EXPECT_EQ(api::PtlNIInit(process, 0, matching_physical, PTL_PID_ANY, nullptr, nullptr, nullptr), PTL_ARG_INVALID);
}

// 3.6: later calls return the existing interface and ignore the limits.
TEST_F(InitialisedTest, opening_again_gives_the_same_interface)
{
  ptl_ni_limits_t desired{};
  desired.max_eqs = 3;
  const ptl_ni_limits_t first = granted(desired);
  const ptl_handle_ni_t handle = ni;
  desired.max_eqs = 5;
  const ptl_ni_limits_t second = granted(desired);
  EXPECT_EQ(ni, handle);
  EXPECT_EQ(first.max_eqs, 3);
  EXPECT_EQ(second.max_eqs, 3);
}

// 3.6: PtlNIInit and PtlNIFini count references.
TEST_F(InitialisedTest, interface_lives_until_its_last_fini)
{
  ASSERT_EQ(open(), PTL_OK);
  ASSERT_EQ(open(), PTL_OK);
  EXPECT_EQ(api::PtlNIFini(process, ni), PTL_OK);
  ptl_process_t id{};
  EXPECT_EQ(api::PtlGetId(process, ni, &id), PTL_OK);
  EXPECT_EQ(api::PtlNIFini(process, ni), PTL_OK);
  EXPECT_EQ(api::PtlNIFini(process, ni), PTL_ARG_INVALID);
}

TEST_F(InitialisedTest, stale_interface_handle_is_refused)
{
  ASSERT_EQ(open(), PTL_OK);
  const ptl_handle_ni_t stale = ni;
  ASSERT_EQ(api::PtlNIFini(process, ni), PTL_OK);
  ASSERT_EQ(open(), PTL_OK);
  EXPECT_NE(ni, stale);
  EXPECT_EQ(api::PtlNIFini(process, stale), PTL_ARG_INVALID);
}

TEST_F(InitialisedTest, handles_of_a_closed_interface_are_stale)
{
  ptl_handle_eq_t before = PTL_EQ_NONE;
  ptl_handle_eq_t after = PTL_EQ_NONE;
  ASSERT_EQ(open(), PTL_OK);
  ASSERT_EQ(api::PtlEQAlloc(process, ni, 1, &before), PTL_OK);
  ASSERT_EQ(api::PtlNIFini(process, ni), PTL_OK);
  ASSERT_EQ(open(), PTL_OK);
  ASSERT_EQ(api::PtlEQAlloc(process, ni, 1, &after), PTL_OK);
  EXPECT_NE(before, after);
  EXPECT_EQ(api::PtlEQFree(process, before), PTL_ARG_INVALID);
}

// 3.6: all four kinds at once; they share node and process identifier.
TEST_F(InitialisedTest, four_kinds_of_interface)
{
  std::vector<ptl_handle_ni_t> handles;
  ptl_process_t first{};
  for (const unsigned matching : {PTL_NI_MATCHING, PTL_NI_NO_MATCHING})
    for (const unsigned addressing : {PTL_NI_LOGICAL, PTL_NI_PHYSICAL}) {
      ASSERT_EQ(open(matching | addressing), PTL_OK);
      for (const ptl_handle_ni_t other : handles)
        EXPECT_NE(other, ni);
      handles.push_back(ni);
      ptl_process_t id{};
      EXPECT_EQ(api::PtlGetPhysId(process, ni, &id), PTL_OK);
      if (handles.size() == 1)
        first = id;
      EXPECT_EQ(id.phys.nid, first.phys.nid);
      EXPECT_EQ(id.phys.pid, first.phys.pid);
    }
}

// 3.6: a process may ask for a well-known process identifier.
TEST_F(InitialisedTest, requested_pid)
{
  EXPECT_EQ(open(matching_physical, 17), PTL_OK);
  EXPECT_EQ(process.pid(), 17U);
  ptl_handle_ni_t other = PTL_INVALID_HANDLE;
  EXPECT_EQ(api::PtlNIInit(neighbour, 0, matching_physical, 17, nullptr, nullptr, &other), PTL_PID_IN_USE);
  EXPECT_EQ(api::PtlNIInit(neighbour, 0, matching_physical, PTL_PID_MAX + 1, nullptr, nullptr, &other),
            PTL_ARG_INVALID);
  EXPECT_EQ(api::PtlNIInit(neighbour, 0, matching_physical, 18, nullptr, nullptr, &other), PTL_OK);
}

TEST_F(InitialisedTest, another_pid_for_a_second_interface_is_refused)
{
  ASSERT_EQ(open(matching_physical, 17), PTL_OK);
  EXPECT_EQ(open(PTL_NI_MATCHING | PTL_NI_LOGICAL, 18), PTL_ARG_INVALID);
  EXPECT_EQ(open(PTL_NI_MATCHING | PTL_NI_LOGICAL, 17), PTL_OK);
}

TEST_F(InitialisedTest, neighbours_get_different_pids)
{
  ASSERT_EQ(open(), PTL_OK);
  ptl_handle_ni_t other = PTL_INVALID_HANDLE;
  ASSERT_EQ(api::PtlNIInit(neighbour, 0, matching_physical, PTL_PID_ANY, nullptr, nullptr, &other), PTL_OK);
  EXPECT_NE(process.pid(), neighbour.pid());
  EXPECT_EQ(process.nid(), neighbour.nid());
}

TEST(Nid, wildcard_is_never_a_node)
{
  EXPECT_EQ(Process::nid_of(0), 1U);
  EXPECT_EQ(Process::nid_of(PTL_NID_ANY - 2), PTL_NID_ANY - 1);
  EXPECT_EQ(Process::nid_of(PTL_NID_ANY - 1), PTL_NID_ANY + 1);
}

TEST(Nid, beyond_the_wildcard_addresses_lead_to_their_node)
{
  sim::Timeline timeline;
  TestHost host{timeline};
  const Fabric fabric{timeline, host, 70000};
  for (const net::NodeIndex node : {0U, 65533U, 65534U, 65535U, 69999U}) {
    net::NodeIndex found = 0;
    EXPECT_TRUE(fabric.node_of(Process::nid_of(node), found));
    EXPECT_EQ(found, node);
  }
  net::NodeIndex found = 0;
  EXPECT_FALSE(fabric.node_of(0, found));
  EXPECT_FALSE(fabric.node_of(PTL_NID_ANY, found));
  EXPECT_FALSE(fabric.node_of(Process::nid_of(70000), found));
}

// 3.6: limits are granted as asked for.
TEST_F(InitialisedTest, limits_as_desired)
{
  ptl_ni_limits_t desired{};
  desired.max_entries = 11;
  desired.max_unexpected_headers = 12;
  desired.max_mds = 13;
  desired.max_cts = 14;
  desired.max_eqs = 15;
  desired.max_pt_index = 16;
  desired.max_iovecs = 17;
  desired.max_list_size = 18;
  desired.max_triggered_ops = 19;
  desired.max_msg_size = 20;
  desired.max_atomic_size = 21;
  desired.max_fetch_atomic_size = 22;
  desired.max_volatile_size = 23;
  desired.features = PTL_TOTAL_DATA_ORDERING;
  const ptl_ni_limits_t actual = granted(desired);
  EXPECT_EQ(actual.max_entries, 11);
  EXPECT_EQ(actual.max_unexpected_headers, 12);
  EXPECT_EQ(actual.max_mds, 13);
  EXPECT_EQ(actual.max_cts, 14);
  EXPECT_EQ(actual.max_eqs, 15);
  EXPECT_EQ(actual.max_pt_index, 16);
  EXPECT_EQ(actual.max_iovecs, 17);
  EXPECT_EQ(actual.max_list_size, 18);
  EXPECT_EQ(actual.max_triggered_ops, 19);
  EXPECT_EQ(actual.max_msg_size, 20U);
  EXPECT_EQ(actual.max_atomic_size, 21U);
  EXPECT_EQ(actual.max_fetch_atomic_size, 22U);
  EXPECT_EQ(actual.max_volatile_size, 23U);
  EXPECT_EQ(actual.features, static_cast<unsigned>(PTL_TOTAL_DATA_ORDERING));
}

// Programs ask for LONG_MAX, which is -1 in an int, to get as much as possible.
TEST_F(InitialisedTest, limits_as_large_as_possible)
{
  ptl_ni_limits_t desired{};
  desired.max_entries = static_cast<int>(LONG_MAX);
  desired.max_pt_index = INT_MAX;
  desired.max_msg_size = PTL_SIZE_MAX;
  desired.max_atomic_size = PTL_SIZE_MAX;
  desired.max_fetch_atomic_size = PTL_SIZE_MAX;
  desired.max_volatile_size = PTL_SIZE_MAX;
  desired.features = ~0U;
  const ptl_ni_limits_t actual = granted(desired);
  EXPECT_GE(actual.max_entries, 100000);
  EXPECT_GE(actual.max_pt_index, 63);
  EXPECT_GE(actual.max_msg_size, ptl_size_t{1} << 32);
  EXPECT_GE(actual.max_atomic_size, 64U);
  EXPECT_GE(actual.max_fetch_atomic_size, 32U); // Sandia OpenSHMEM needs these two
  EXPECT_GE(actual.max_volatile_size, 32U);
  EXPECT_EQ(actual.features,
            static_cast<unsigned>(PTL_TARGET_BIND_INACCESSIBLE | PTL_TOTAL_DATA_ORDERING | PTL_COHERENT_ATOMICS));
}

// 3.6: an interface provides at least these ordered sizes.
TEST_F(InitialisedTest, promised_minima)
{
  const ptl_ni_limits_t actual = granted(ptl_ni_limits_t{});
  EXPECT_GE(actual.max_waw_ordered_size, 64U);
  EXPECT_GE(actual.max_war_ordered_size, 8U);
}

// The reference's test programs know neither limit and use what they are about.
TEST_F(InitialisedTest, limits_left_at_zero_by_old_programs)
{
  ptl_ni_limits_t desired{};
  desired.max_atomic_size = 64;
  const ptl_ni_limits_t actual = granted(desired);
  EXPECT_EQ(actual.max_fetch_atomic_size, 64U);
  EXPECT_GT(actual.max_triggered_ops, 0);
}

TEST_F(InitialisedTest, default_limits)
{
  ptl_ni_limits_t actual{};
  ASSERT_EQ(api::PtlNIInit(process, 0, matching_physical, PTL_PID_ANY, nullptr, &actual, &ni), PTL_OK);
  EXPECT_GE(actual.max_pt_index, 63);
  EXPECT_GT(actual.max_entries, 0);
  EXPECT_GT(actual.max_triggered_ops, 0);
}

// 3.6: PtlNIStatus.
TEST_F(InitialisedTest, status_registers)
{
  ASSERT_EQ(open(), PTL_OK);
  ptl_sr_value_t value = -1;
  for (const ptl_sr_index_t index : {PTL_SR_DROP_COUNT, PTL_SR_PERMISSION_VIOLATIONS, PTL_SR_OPERATION_VIOLATIONS}) {
    EXPECT_EQ(api::PtlNIStatus(process, ni, index, &value), PTL_OK);
    EXPECT_EQ(value, 0);
  }
  EXPECT_EQ(api::PtlNIStatus(process, ni, static_cast<ptl_sr_index_t>(PTL_SR_LAST), &value), PTL_ARG_INVALID);
  EXPECT_EQ(api::PtlNIStatus(process, ni, PTL_SR_DROP_COUNT, nullptr), PTL_ARG_INVALID);
}

// 3.9: before PtlSetMap a logical interface has no rank.
TEST_F(InitialisedTest, rank_before_the_map)
{
  ASSERT_EQ(open(PTL_NI_MATCHING | PTL_NI_LOGICAL), PTL_OK);
  ptl_process_t id{};
  EXPECT_EQ(api::PtlGetId(process, ni, &id), PTL_OK);
  EXPECT_EQ(id.rank, PTL_RANK_ANY);
  EXPECT_EQ(api::PtlGetMap(process, ni, 0, nullptr, nullptr), PTL_NO_SPACE);
}

using IdentityTest = Machine;

// 3.9: rank on a logical interface.
TEST_F(IdentityTest, logical_identifier_is_the_rank)
{
  EXPECT_EQ(a.id().rank, 0U);
  EXPECT_EQ(b.id().rank, 1U);
}

using PhysicalIdentityTest = PhysicalMachine;

// 3.9: node and process on a physical interface.
TEST_F(PhysicalIdentityTest, physical_identifier)
{
  EXPECT_EQ(b.id().phys.nid, b.process.nid());
  EXPECT_EQ(b.id().phys.pid, b.process.pid());
  const ptl_process_t map[1]{b.id()};
  EXPECT_EQ(api::PtlSetMap(b.process, b.ni, 1, map), PTL_ARG_INVALID); // has no map
  EXPECT_EQ(api::PtlGetMap(b.process, b.ni, 0, nullptr, nullptr), PTL_ARG_INVALID);
}

TEST_F(IdentityTest, physical_identifier_of_a_logical_interface)
{
  ptl_process_t id{};
  ASSERT_EQ(api::PtlGetPhysId(a.process, a.ni, &id), PTL_OK);
  EXPECT_EQ(id.phys.nid, a.process.nid());
  EXPECT_EQ(id.phys.pid, a.process.pid());
}

// 3.8
TEST_F(IdentityTest, user_identifier)
{
  ptl_uid_t uid = 0;
  EXPECT_EQ(api::PtlGetUid(b.process, b.ni, &uid), PTL_OK);
  EXPECT_EQ(uid, 200U);
  EXPECT_EQ(api::PtlGetUid(b.process, b.ni, nullptr), PTL_ARG_INVALID);
}

// 3.6: PtlGetMap copies what fits and tells the whole size.
TEST_F(IdentityTest, reading_the_map)
{
  ptl_process_t map[3]{};
  map[1].phys = {77, 77};
  ptl_size_t size = 0;
  EXPECT_EQ(api::PtlGetMap(a.process, a.ni, 1, map, &size), PTL_OK);
  EXPECT_EQ(size, 2U);
  EXPECT_EQ(map[0].phys.nid, a.process.nid());
  EXPECT_EQ(map[1].phys.nid, 77U);
  EXPECT_EQ(api::PtlGetMap(a.process, a.ni, 3, map, nullptr), PTL_OK);
  EXPECT_EQ(map[1].phys.nid, b.process.nid());
}

// 3.6: a later PtlSetMap overwrites the map.
TEST_F(IdentityTest, map_is_replaced)
{
  ptl_process_t map[2]{};
  map[0].phys = {b.process.nid(), b.process.pid()};
  map[1].phys = {a.process.nid(), a.process.pid()};
  EXPECT_EQ(api::PtlSetMap(a.process, a.ni, 2, map), PTL_OK);
  EXPECT_EQ(a.id().rank, 1U);
}

TEST_F(IdentityTest, map_must_hold_the_process_itself)
{
  ptl_process_t map[1]{};
  map[0].phys = {b.process.nid(), b.process.pid()};
  EXPECT_EQ(api::PtlSetMap(a.process, a.ni, 1, map), PTL_ARG_INVALID);
  EXPECT_EQ(api::PtlSetMap(a.process, a.ni, 0, map), PTL_ARG_INVALID);
  EXPECT_EQ(api::PtlSetMap(a.process, a.ni, 1, nullptr), PTL_ARG_INVALID);
  EXPECT_EQ(a.id().rank, 0U);
}

// 3.6: the interface of every kind of object.
TEST_F(IdentityTest, interface_of_an_object)
{
  char memory[8];
  const ptl_handle_md_t md = a.md(memory, sizeof memory);
  const ptl_handle_me_t me = a.append(memory, sizeof memory, 0);
  for (const ptl_handle_any_t object : {a.ni, a.target_eq, a.target_ct, md, me}) {
    ptl_handle_ni_t found = PTL_INVALID_HANDLE;
    EXPECT_EQ(api::PtlNIHandle(a.process, object, &found), PTL_OK);
    EXPECT_EQ(found, a.ni);
  }
  ptl_handle_ni_t found = PTL_INVALID_HANDLE;
  for (const ptl_handle_any_t nothing : {PTL_EQ_NONE, PTL_CT_NONE, PTL_INVALID_HANDLE, ptl_handle_any_t{0}})
    EXPECT_EQ(api::PtlNIHandle(a.process, nothing, &found), PTL_ARG_INVALID);
}

// Programs exchange handle values: the same calls give the same handles on all ranks.
TEST_F(IdentityTest, handles_do_not_depend_on_the_rank)
{
  EXPECT_EQ(a.ni, b.ni);
  EXPECT_EQ(a.initiator_eq, b.initiator_eq);
  EXPECT_EQ(a.initiator_ct, b.initiator_ct);
}

// 3.18
TEST_F(IdentityTest, handle_comparison)
{
  EXPECT_NE(api::PtlHandleIsEqual(a.process, a.ni, a.ni), 0);
  EXPECT_EQ(api::PtlHandleIsEqual(a.process, a.ni, PTL_INVALID_HANDLE), 0);
  EXPECT_NE(api::PtlHandleIsEqual(a.process, PTL_EQ_NONE, PTL_EQ_NONE), 0);
}

// 3.17
TEST_F(IdentityTest, bundles)
{
  EXPECT_EQ(api::PtlStartBundle(a.process, a.ni), PTL_OK);
  EXPECT_EQ(api::PtlEndBundle(a.process, a.ni), PTL_OK);
  EXPECT_EQ(api::PtlStartBundle(a.process, a.target_eq), PTL_ARG_INVALID);
  EXPECT_EQ(api::PtlEndBundle(a.process, PTL_INVALID_HANDLE), PTL_ARG_INVALID);
}

// 3.15
TEST_F(IdentityTest, atomic_synchronisation)
{
  EXPECT_EQ(api::PtlAtomicSync(a.process), PTL_OK);
  EXPECT_EQ(api::PtlNIAtomicSync(a.process, a.ni), PTL_OK);
  EXPECT_EQ(host.idle_calls, 2) << "a loop over memory may call nothing else";
  EXPECT_EQ(api::PtlNIAtomicSync(a.process, a.target_eq), PTL_ARG_INVALID);
  EXPECT_EQ(host.idle_calls, 2);
}

} // namespace
} // namespace umwelt::portals::test
