// SPDX-License-Identifier: LGPL-2.1-or-later
// Atomic operations (Portals 4.3, 3.15): every operation with every datatype against a second, simpler opinion.
#include <complex>
#include <tuple>
#include <type_traits>

#include "tests/runtime/portals/support.h"

namespace umwelt::portals::test
{
namespace
{

constexpr std::size_t most_items = 3;
constexpr std::size_t largest_item = 32;

// What the target shall hold afterwards. `values` are the target's items, then the initiator's, then the operand.
template <class T> T expected(ptl_op_t operation, T target, T source, T operand)
{
  constexpr bool is_integer = std::is_integral_v<T>;
  if (operation == PTL_SUM)
    return static_cast<T>(target + source); // chosen not to overflow
  if (operation == PTL_PROD)
    return static_cast<T>(target * source);
  if (operation == PTL_SWAP)
    return source;
  if (operation == PTL_CSWAP)
    return operand == target ? source : target;
  if (operation == PTL_CSWAP_NE)
    return operand == target ? target : source;
  if constexpr (requires { target < source; }) {
    if (operation == PTL_MIN)
      return std::min(target, source);
    if (operation == PTL_MAX)
      return std::max(target, source);
    if (operation == PTL_CSWAP_LE)
      return operand <= target ? source : target;
    if (operation == PTL_CSWAP_LT)
      return operand < target ? source : target;
    if (operation == PTL_CSWAP_GE)
      return operand >= target ? source : target;
    if (operation == PTL_CSWAP_GT)
      return operand > target ? source : target;
  }
  if constexpr (is_integer) {
    if (operation == PTL_LOR)
      return target || source;
    if (operation == PTL_LAND)
      return target && source;
    if (operation == PTL_LXOR)
      return !target != !source;
    if (operation == PTL_BOR)
      return target | source;
    if (operation == PTL_BAND)
      return target & source;
    if (operation == PTL_BXOR)
      return target ^ source;
    if (operation == PTL_MSWAP) {
      T result = 0;
      for (unsigned bit = 0; bit < 8 * sizeof(T); ++bit) {
        const T mask = static_cast<T>(static_cast<std::make_unsigned_t<T>>(1) << bit);
        result = static_cast<T>(result | ((operand & mask) ? (source & mask) : (target & mask)));
      }
      return result;
    }
  }
  return target;
}

enum class Class { integer, floating, complex };

struct Datatype {
  Class kind;
  std::size_t size;
};

Datatype describe(ptl_datatype_t type)
{
  switch (type) {
  case PTL_INT8_T:
  case PTL_UINT8_T:
    return {Class::integer, 1};
  case PTL_INT16_T:
  case PTL_UINT16_T:
    return {Class::integer, 2};
  case PTL_INT32_T:
  case PTL_UINT32_T:
    return {Class::integer, 4};
  case PTL_INT64_T:
  case PTL_UINT64_T:
    return {Class::integer, 8};
  case PTL_FLOAT:
    return {Class::floating, 4};
  case PTL_DOUBLE:
    return {Class::floating, 8};
  case PTL_LONG_DOUBLE:
    return {Class::floating, 16};
  case PTL_FLOAT_COMPLEX:
    return {Class::complex, 8};
  case PTL_DOUBLE_COMPLEX:
    return {Class::complex, 16};
  default:
    return {Class::complex, 32};
  }
}

bool is_swap(ptl_op_t operation)
{
  return operation >= PTL_SWAP;
}

// The tables of the specification.
bool allowed(ptl_op_t operation, ptl_datatype_t type)
{
  switch (describe(type).kind) {
  case Class::integer:
    return true;
  case Class::floating:
    return operation <= PTL_PROD || (is_swap(operation) && operation != PTL_MSWAP);
  case Class::complex:
    break;
  }
  return operation == PTL_SUM || operation == PTL_PROD || operation == PTL_SWAP || operation == PTL_CSWAP ||
         operation == PTL_CSWAP_NE;
}

std::size_t items_of(ptl_op_t operation)
{
  return operation > PTL_SWAP ? 1 : most_items;
}

struct Buffer {
  alignas(16) unsigned char bytes[most_items * largest_item + 16] = {};
};

// Fills the buffers with values of the datatype and computes the outcome.
template <class T>
void prepare(ptl_op_t operation, bool equal, Buffer& target, Buffer& source, Buffer& operand, Buffer& after)
{
  const T targets[most_items] = {T(3), T(0), T(6)};
  const T sources[most_items] = {T(5), T(7), T(0)};
  const T third = equal ? T(3) : T(2);
  std::memcpy(operand.bytes, &third, sizeof(T));
  for (std::size_t i = 0; i < most_items; ++i) {
    std::memcpy(target.bytes + i * sizeof(T), &targets[i], sizeof(T));
    std::memcpy(source.bytes + i * sizeof(T), &sources[i], sizeof(T));
    const T result = i < items_of(operation) ? expected<T>(operation, targets[i], sources[i], third) : targets[i];
    std::memcpy(after.bytes + i * sizeof(T), &result, sizeof(T));
  }
}

void prepare(ptl_datatype_t type, ptl_op_t operation, bool equal, Buffer& target, Buffer& source, Buffer& operand,
             Buffer& after)
{
  const auto with = [&](auto zero) { prepare<decltype(zero)>(operation, equal, target, source, operand, after); };
  switch (type) {
  case PTL_INT8_T:
    return with(std::int8_t{});
  case PTL_UINT8_T:
    return with(std::uint8_t{});
  case PTL_INT16_T:
    return with(std::int16_t{});
  case PTL_UINT16_T:
    return with(std::uint16_t{});
  case PTL_INT32_T:
    return with(std::int32_t{});
  case PTL_UINT32_T:
    return with(std::uint32_t{});
  case PTL_INT64_T:
    return with(std::int64_t{});
  case PTL_UINT64_T:
    return with(std::uint64_t{});
  case PTL_FLOAT:
    return with(float{});
  case PTL_DOUBLE:
    return with(double{});
  case PTL_LONG_DOUBLE:
    return with(static_cast<long double>(0));
  case PTL_FLOAT_COMPLEX:
    return with(std::complex<float>{});
  case PTL_DOUBLE_COMPLEX:
    return with(std::complex<double>{});
  default:
    return with(std::complex<long double>{});
  }
}

// Compares by value: a long double has bytes without meaning.
bool equal_items(ptl_datatype_t type, const Buffer& one, const Buffer& other)
{
  const auto with = [&](auto zero) {
    using T = decltype(zero);
    T a[most_items];
    T b[most_items];
    std::memcpy(a, one.bytes, sizeof a);
    std::memcpy(b, other.bytes, sizeof b);
    return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
  };
  if (type == PTL_LONG_DOUBLE)
    return with(static_cast<long double>(0));
  if (type == PTL_LONG_DOUBLE_COMPLEX)
    return with(std::complex<long double>{});
  return std::memcmp(one.bytes, other.bytes, most_items * describe(type).size) == 0;
}

class EveryAtomic : public Machine, public ::testing::WithParamInterface<std::tuple<int, int>>
{
protected:
  const ptl_op_t operation = static_cast<ptl_op_t>(std::get<0>(GetParam()));
  const ptl_datatype_t type = static_cast<ptl_datatype_t>(std::get<1>(GetParam()));
  const ptl_size_t length = items_of(operation) * describe(type).size;
  Buffer target;
  Buffer source;
  Buffer operand;
  Buffer before;
  Buffer after;
  Buffer result;

  void run(bool equal)
  {
    prepare(type, operation, equal, target, source, operand, after);
    before = target;
    b.append(target.bytes, sizeof target.bytes, PTL_ME_OP_PUT | PTL_ME_OP_GET | PTL_ME_EVENT_LINK_DISABLE);
    const ptl_handle_md_t put_md = a.silent_md(source.bytes, sizeof source.bytes);
    const ptl_handle_md_t get_md = a.silent_md(result.bytes, sizeof result.bytes);
    const int answer = is_swap(operation) ? a.swap(get_md, put_md, length, b, operand.bytes, operation, type)
                                          : a.fetch(get_md, put_md, length, b, operation, type);
    ASSERT_EQ(answer, allowed(operation, type) ? PTL_OK : PTL_ARG_INVALID);
    settle();
    if (answer != PTL_OK)
      after = before;
    EXPECT_TRUE(equal_items(type, target, after));
    if (answer == PTL_OK) {
      EXPECT_EQ(std::memcmp(result.bytes, before.bytes, length), 0);
      const auto events = b.target_events();
      ASSERT_EQ(types(events), (std::vector<int>{PTL_EVENT_FETCH_ATOMIC}));
      EXPECT_EQ(events[0].atomic_operation, operation);
      EXPECT_EQ(events[0].atomic_type, type);
    }
  }
};

TEST_P(EveryAtomic, fetching)
{
  run(true);
}

// The operand of conditional swaps is not what the target holds.
TEST_P(EveryAtomic, fetching_with_another_operand)
{
  run(false);
}

TEST_P(EveryAtomic, without_result)
{
  prepare(type, operation, true, target, source, operand, after);
  before = target;
  b.append(target.bytes, sizeof target.bytes, PTL_ME_OP_PUT | PTL_ME_EVENT_LINK_DISABLE);
  const int answer = a.atomic(a.silent_md(source.bytes, sizeof source.bytes), length, b, operation, type);
  const bool valid = !is_swap(operation) && allowed(operation, type); // swaps belong to PtlSwap
  ASSERT_EQ(answer, valid ? PTL_OK : PTL_ARG_INVALID);
  settle();
  EXPECT_TRUE(equal_items(type, target, valid ? after : before));
  EXPECT_EQ(types(b.target_events()), valid ? std::vector<int>{PTL_EVENT_ATOMIC} : std::vector<int>{});
}

INSTANTIATE_TEST_SUITE_P(Table, EveryAtomic,
                         ::testing::Combine(::testing::Range(0, PTL_OP_LAST), ::testing::Range(0, PTL_DATATYPE_LAST)));

class AtomicTest : public Machine
{
protected:
  std::uint64_t source[80] = {};
  std::uint64_t target[80] = {};
  std::uint64_t result[80] = {};
  ptl_handle_md_t put_md = a.md(source, sizeof source);
  ptl_handle_md_t get_md = a.md(result, sizeof result);
  void accept() { b.append(target, sizeof target, PTL_ME_OP_PUT | PTL_ME_OP_GET | PTL_ME_EVENT_LINK_DISABLE); }
};

// Events of PtlAtomic are those of PtlPut.
TEST_F(AtomicTest, events_of_the_initiator)
{
  accept();
  ASSERT_EQ(a.atomic(put_md, 8, b, PTL_SUM, PTL_UINT64_T, {.ack = PTL_ACK_REQ}), PTL_OK);
  settle();
  EXPECT_EQ(types(a.initiator_events()), (std::vector<int>{PTL_EVENT_SEND, PTL_EVENT_ACK}));
}

// Fetching atomics post SEND where the data comes from and REPLY where it goes.
TEST_F(AtomicTest, events_of_a_fetching_atomic)
{
  accept();
  const ptl_handle_eq_t replies = a.eq();
  const ptl_md_t description{result, sizeof result, PTL_MD_EVENT_CT_REPLY, replies, a.target_ct};
  ASSERT_EQ(api::PtlMDBind(a.process, a.ni, &description, &get_md), PTL_OK);
  ASSERT_EQ(a.fetch(get_md, put_md, 16, b, PTL_SUM, PTL_UINT64_T, {.user_ptr = this}), PTL_OK);
  settle();
  EXPECT_EQ(types(a.initiator_events()), (std::vector<int>{PTL_EVENT_SEND}));
  const auto events = a.events(replies);
  ASSERT_EQ(types(events), (std::vector<int>{PTL_EVENT_REPLY}));
  EXPECT_EQ(events[0].mlength, 16U);
  EXPECT_EQ(events[0].user_ptr, this);
  EXPECT_EQ(a.count(a.target_ct).success, 1U);
}

// SEND comes first even if the NIC reads the source last.
TEST_F(AtomicTest, send_before_reply)
{
  accept();
  model.source_read = TestModel::SourceRead::after_delivery;
  ASSERT_EQ(a.fetch(get_md, put_md, 160, b, PTL_SUM, PTL_UINT64_T), PTL_OK);
  settle();
  EXPECT_EQ(types(a.initiator_events()), (std::vector<int>{PTL_EVENT_SEND, PTL_EVENT_REPLY}));
}

TEST_F(AtomicTest, invalid_operations_and_types)
{
  EXPECT_EQ(a.atomic(put_md, 8, b, PTL_OP_LAST, PTL_UINT64_T), PTL_ARG_INVALID);
  EXPECT_EQ(a.atomic(put_md, 8, b, PTL_SUM, PTL_DATATYPE_LAST), PTL_ARG_INVALID);
  EXPECT_EQ(a.swap(get_md, put_md, 8, b, source, PTL_SUM, PTL_UINT64_T), PTL_ARG_INVALID);
  EXPECT_EQ(a.swap(get_md, put_md, 8, b, source, 255, 255), PTL_ARG_INVALID);
  EXPECT_EQ(a.fetch(get_md, PTL_INVALID_HANDLE, 8, b, PTL_SUM, PTL_UINT64_T), PTL_ARG_INVALID);
  EXPECT_EQ(a.fetch(PTL_INVALID_HANDLE, put_md, 8, b, PTL_SUM, PTL_UINT64_T), PTL_ARG_INVALID);
}

TEST_F(AtomicTest, max_atomic_size)
{
  accept();
  EXPECT_EQ(a.atomic(put_md, 512, b, PTL_SUM, PTL_UINT64_T), PTL_OK);
  EXPECT_EQ(a.atomic(put_md, 520, b, PTL_SUM, PTL_UINT64_T), PTL_ARG_INVALID);
  EXPECT_EQ(a.fetch(get_md, put_md, 520, b, PTL_SUM, PTL_UINT64_T), PTL_ARG_INVALID);
  EXPECT_EQ(a.swap(get_md, put_md, 520, b, nullptr, PTL_SWAP, PTL_UINT64_T), PTL_ARG_INVALID);
}

// Conditional and masked swaps take one item and an operand.
TEST_F(AtomicTest, one_item)
{
  for (ptl_op_t operation = PTL_CSWAP; operation <= PTL_MSWAP; ++operation) {
    EXPECT_EQ(a.swap(get_md, put_md, 16, b, source, operation, PTL_UINT64_T), PTL_ARG_INVALID);
    EXPECT_EQ(a.swap(get_md, put_md, 8, b, nullptr, operation, PTL_UINT64_T), PTL_ARG_INVALID);
  }
  EXPECT_EQ(a.swap(get_md, put_md, 16, b, nullptr, PTL_SWAP, PTL_UINT64_T), PTL_OK); // needs none
}

TEST_F(AtomicTest, descriptors_of_two_interfaces)
{
  ptl_handle_ni_t other = PTL_INVALID_HANDLE;
  ASSERT_EQ(api::PtlNIInit(a.process, 0, PTL_NI_NO_MATCHING | PTL_NI_LOGICAL, PTL_PID_ANY, nullptr, nullptr, &other),
            PTL_OK);
  const ptl_md_t description{result, sizeof result, 0, PTL_EQ_NONE, PTL_CT_NONE};
  ASSERT_EQ(api::PtlMDBind(a.process, other, &description, &get_md), PTL_OK);
  EXPECT_EQ(a.fetch(get_md, put_md, 8, b, PTL_SUM, PTL_UINT64_T), PTL_ARG_INVALID);
}

TEST_F(AtomicTest, truncated)
{
  accept();
  source[0] = source[1] = 4;
  ASSERT_EQ(a.fetch(get_md, put_md, 16, b, PTL_SUM, PTL_UINT64_T, {.remote_offset = sizeof target - 8}), PTL_OK);
  settle();
  EXPECT_EQ(target[79], 4U);
  EXPECT_EQ(a.initiator_events().at(1).mlength, 8U);
  EXPECT_EQ(b.target_events().at(0).mlength, 8U);
}

TEST_F(AtomicTest, bytes_that_make_no_item_are_left_alone)
{
  accept();
  source[0] = source[1] = ~std::uint64_t{0};
  ASSERT_EQ(a.atomic(put_md, 15, b, PTL_BOR, PTL_UINT64_T), PTL_OK);
  settle();
  EXPECT_EQ(target[0], ~std::uint64_t{0});
  EXPECT_EQ(target[1], 0U);
}

TEST_F(AtomicTest, integers_wrap)
{
  accept();
  source[0] = 2;
  target[0] = ~std::uint64_t{0};
  ASSERT_EQ(a.atomic(put_md, 8, b, PTL_SUM, PTL_INT64_T), PTL_OK);
  settle();
  EXPECT_EQ(target[0], 1U);
}

TEST_F(AtomicTest, signed_and_unsigned_order)
{
  accept();
  source[0] = 1;
  target[0] = ~std::uint64_t{0};
  ASSERT_EQ(a.atomic(put_md, 8, b, PTL_MIN, PTL_INT64_T), PTL_OK);
  settle();
  EXPECT_EQ(target[0], ~std::uint64_t{0});
  ASSERT_EQ(a.atomic(put_md, 8, b, PTL_MIN, PTL_UINT64_T), PTL_OK);
  settle();
  EXPECT_EQ(target[0], 1U);
}

TEST_F(AtomicTest, unaligned_target)
{
  accept();
  source[0] = 0x0102030405060708;
  ASSERT_EQ(a.atomic(put_md, 8, b, PTL_SUM, PTL_UINT64_T, {.remote_offset = 3}), PTL_OK);
  settle();
  std::uint64_t value = 0;
  std::memcpy(&value, reinterpret_cast<char*>(target) + 3, 8);
  EXPECT_EQ(value, source[0]);
}

// Operations of several initiators at the same time: none is lost, and each sees another value.
TEST_F(AtomicTest, concurrent_increments)
{
  accept();
  source[0] = 1;
  const ptl_handle_md_t b_put = b.silent_md(source, 8);
  std::uint64_t seen[40] = {};
  for (unsigned i = 0; i < 20; ++i) {
    ASSERT_EQ(a.fetch(a.silent_md(&seen[2 * i], 8), put_md, 8, b, PTL_SUM, PTL_UINT64_T), PTL_OK);
    ASSERT_EQ(b.fetch(b.silent_md(&seen[2 * i + 1], 8), b_put, 8, b, PTL_SUM, PTL_UINT64_T), PTL_OK);
  }
  settle();
  EXPECT_EQ(target[0], 40U);
  std::sort(std::begin(seen), std::end(seen));
  for (unsigned i = 0; i < 40; ++i)
    EXPECT_EQ(seen[i], i);
}

// The same memory may send and receive.
TEST_F(AtomicTest, result_over_the_source)
{
  accept();
  source[0] = 9;
  target[0] = 4;
  ASSERT_EQ(a.swap(put_md, put_md, 8, b, nullptr, PTL_SWAP, PTL_UINT64_T), PTL_OK);
  settle();
  EXPECT_EQ(source[0], 4U);
  EXPECT_EQ(target[0], 9U);
}

// The operand travels with the request.
TEST_F(AtomicTest, payload_of_a_swap)
{
  ASSERT_EQ(a.swap(get_md, put_md, 8, b, source, PTL_CSWAP, PTL_UINT64_T), PTL_OK);
  ASSERT_EQ(a.swap(get_md, put_md, 8, b, source, PTL_SWAP, PTL_UINT64_T), PTL_OK);
  EXPECT_EQ(model.started.at(0).payload, 16U);
  EXPECT_EQ(model.started.at(1).payload, 8U);
  EXPECT_EQ(model.started.at(0).kind, net::TransferKind::fetch_atomic);
}

} // namespace
} // namespace umwelt::portals::test
