// SPDX-License-Identifier: LGPL-2.1-or-later
// Scatter/gather lists (Portals 4.3, 3.10 and 3.12): a list behaves as the contiguous region its pieces make.
#include <numeric>
#include <random>

#include "tests/runtime/portals/support.h"

namespace umwelt::portals::test
{
namespace
{

class IovecTest : public Machine
{
protected:
  char one[4] = {'a', 'b', 'c', 0};
  char two[8] = {'d', 'e', 'f', 'g', 0, 0, 0, 0};
  char flat[16] = {};
  ptl_iovec_t pieces[3] = {{one, 3}, {nullptr, 0}, {two, 4}};
};

TEST_F(IovecTest, gather)
{
  b.append(flat, 16, PTL_ME_OP_PUT);
  ASSERT_EQ(a.put(a.md(pieces, 3, PTL_IOVEC), 7, b), PTL_OK);
  settle();
  EXPECT_STREQ(flat, "abcdefg");
}

TEST_F(IovecTest, gather_with_offset)
{
  b.append(flat, 16, PTL_ME_OP_PUT);
  ASSERT_EQ(a.put(a.md(pieces, 3, PTL_IOVEC), 4, b, {.local_offset = 2}), PTL_OK);
  settle();
  EXPECT_STREQ(flat, "cdef");
}

TEST_F(IovecTest, scatter)
{
  char source[8] = "1234567";
  b.append(pieces, 3, PTL_ME_OP_PUT | PTL_IOVEC | PTL_ME_EVENT_LINK_DISABLE);
  ASSERT_EQ(a.put(a.md(source, 8), 5, b, {.remote_offset = 1}), PTL_OK);
  settle();
  EXPECT_EQ(std::string(one, 3) + std::string(two, 4), "a12345g");
  EXPECT_EQ(b.target_events().at(0).start, one + 1);
}

TEST_F(IovecTest, scatter_truncates)
{
  char source[16] = "123456789";
  b.append(pieces, 3, PTL_ME_OP_PUT | PTL_IOVEC | PTL_ME_EVENT_LINK_DISABLE);
  ASSERT_EQ(a.put(a.md(source, 16), 9, b), PTL_OK);
  settle();
  EXPECT_EQ(b.target_events().at(0).mlength, 7U);
  EXPECT_EQ(two[4], 0);
}

TEST_F(IovecTest, get_into_a_list)
{
  std::strcpy(flat, "1234567");
  b.append(flat, 16, PTL_ME_OP_GET);
  ASSERT_EQ(a.get(a.md(pieces, 3, PTL_IOVEC), 7, b), PTL_OK);
  settle();
  EXPECT_EQ(std::string(one, 3) + std::string(two, 4), "1234567");
}

TEST_F(IovecTest, atomic_on_a_list)
{
  std::uint32_t low = 1;
  std::uint32_t high = 0;
  ptl_iovec_t halves[2] = {{&low, 4}, {&high, 4}};
  std::uint64_t value = 0x500000002;
  std::uint64_t before = 0;
  b.append(halves, 2, PTL_ME_OP_PUT | PTL_ME_OP_GET | PTL_IOVEC);
  ASSERT_EQ(a.fetch(a.md(&before, 8), a.md(&value, 8), 8, b, PTL_SUM, PTL_UINT64_T), PTL_OK);
  settle();
  EXPECT_EQ(low, 3U);
  EXPECT_EQ(high, 5U);
  EXPECT_EQ(before, 1U);
}

TEST_F(IovecTest, list_is_copied)
{
  b.append(flat, 16, PTL_ME_OP_PUT);
  const ptl_handle_md_t md = a.md(pieces, 3, PTL_IOVEC);
  pieces[0] = {nullptr, 1000};
  ASSERT_EQ(a.put(md, 7, b), PTL_OK);
  settle();
  EXPECT_STREQ(flat, "abcdefg");
}

TEST_F(IovecTest, empty_list)
{
  b.append(nullptr, 0, PTL_ME_OP_PUT | PTL_IOVEC | PTL_ME_EVENT_LINK_DISABLE);
  const ptl_handle_md_t md = a.md(nullptr, 0, PTL_IOVEC);
  EXPECT_EQ(a.put(md, 1, b), PTL_ARG_INVALID);
  EXPECT_EQ(a.put(md, 0, b), PTL_OK);
  settle();
  EXPECT_EQ(b.target_events().at(0).mlength, 0U);
}

TEST_F(IovecTest, lengths_that_overflow)
{
  pieces[0].iov_len = pieces[2].iov_len = PTL_SIZE_MAX;
  const ptl_md_t description{pieces, 3, PTL_IOVEC, PTL_EQ_NONE, PTL_CT_NONE};
  ptl_handle_md_t md = PTL_INVALID_HANDLE;
  EXPECT_EQ(api::PtlMDBind(a.process, a.ni, &description, &md), PTL_ARG_INVALID);
  b.append(pieces, 3, PTL_ME_OP_PUT | PTL_IOVEC, {.expect = PTL_ARG_INVALID});
}

TEST_F(IovecTest, at_most_max_iovecs)
{
  ptl_ni_limits_t limits{};
  limits.max_iovecs = 2;
  limits.max_mds = 2;
  ptl_handle_ni_t ni = PTL_INVALID_HANDLE;
  ASSERT_EQ(api::PtlNIInit(a.process, 0, PTL_NI_MATCHING | PTL_NI_PHYSICAL, PTL_PID_ANY, &limits, nullptr, &ni),
            PTL_OK);
  ptl_md_t description{pieces, 3, PTL_IOVEC, PTL_EQ_NONE, PTL_CT_NONE};
  ptl_handle_md_t md = PTL_INVALID_HANDLE;
  EXPECT_EQ(api::PtlMDBind(a.process, ni, &description, &md), PTL_ARG_INVALID);
  description.length = 2;
  EXPECT_EQ(api::PtlMDBind(a.process, ni, &description, &md), PTL_OK);
}

// Any split of both sides moves the same bytes.
TEST_F(IovecTest, random_splits)
{
  std::mt19937 random(1);
  constexpr std::size_t size = 1000;
  std::vector<unsigned char> source(size);
  std::iota(source.begin(), source.end(), static_cast<unsigned char>(7));
  const auto split = [&](std::vector<unsigned char>& memory) {
    std::vector<ptl_iovec_t> list;
    for (std::size_t at = 0; at < size;) {
      const std::size_t part = std::min<std::size_t>(random() % 90, size - at);
      list.push_back({memory.data() + at, part});
      at += part;
    }
    return list;
  };
  for (int round = 0; round < 50; ++round) {
    std::vector<unsigned char> target(size, 0);
    auto from = split(source);
    auto to = split(target);
    const ptl_handle_me_t me = b.append(to.data(), to.size(), PTL_ME_OP_PUT | PTL_IOVEC | PTL_ME_EVENT_LINK_DISABLE);
    const std::size_t local = random() % size;
    const std::size_t remote = random() % size;
    const std::size_t length = random() % (size - local);
    ASSERT_EQ(a.put(a.silent_md(from.data(), from.size(), PTL_IOVEC), length, b,
                    {.remote_offset = remote, .local_offset = local}),
              PTL_OK);
    settle();
    std::vector<unsigned char> expected(size, 0);
    std::copy_n(source.begin() + static_cast<std::ptrdiff_t>(local), std::min(length, size - remote),
                expected.begin() + static_cast<std::ptrdiff_t>(remote));
    EXPECT_EQ(target, expected);
    EXPECT_EQ(b.unlink(me), PTL_OK);
  }
}

} // namespace
} // namespace umwelt::portals::test
