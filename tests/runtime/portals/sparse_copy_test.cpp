// SPDX-License-Identifier: LGPL-2.1-or-later
// Copies that leave absent pages absent: the bytes of memcpy always, and no page more than it takes where the kernel
// tells (Linux 6.11).
#include "runtime/portals/data/sparse_copy.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "runtime/portals/data/memory.h"
#include "runtime/portals/data/written_pages.h"
#include "tests/runtime/base/zero_page.h"

namespace umwelt::portals
{

namespace
{

constexpr std::size_t page = WrittenPages::page;

class Mapping
{
public:
  explicit Mapping(std::size_t pages, int flags = MAP_PRIVATE | MAP_ANONYMOUS, int file = -1)
      : size_(pages * page),
        start_(static_cast<unsigned char*>(mmap(nullptr, size_, PROT_READ | PROT_WRITE, flags, file, 0)))
  {
    madvise(start_, size_, MADV_NOHUGEPAGE);
  }
  ~Mapping() { munmap(start_, size_); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  [[nodiscard]] unsigned char* data() const { return start_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  // Holds something of its own: the zero page, which reading brings, does not count.
  [[nodiscard]] bool present(std::size_t number) const
  {
    static const WrittenPages written;
    const auto begin = reinterpret_cast<std::uintptr_t>(start_ + number * page);
    std::vector<WrittenPages::Piece> pieces;
    return !written.find(begin, begin + page, pieces) || !pieces.empty();
  }
  [[nodiscard]] std::size_t present_pages() const
  {
    std::size_t count = 0;
    for (std::size_t i = 0; i < size_ / page; ++i)
      count += present(i) ? 1 : 0;
    return count;
  }

private:
  std::size_t size_;
  unsigned char* start_;
};

// After many that found nothing absent, only one of 16 copies is looked at.
bool copy(void* to, const void* from, std::size_t size)
{
  for (int i = 0; i <= 16; ++i)
    if (copy_sparsely(to, from, size))
      return true;
  std::memcpy(to, from, size);
  return false;
}

bool usable()
{
  return WrittenPages().usable();
}

// Of what the kernel has to tell.
class SparseCopyTest : public testing::Test
{
protected:
  void SetUp() override
  {
    if (!usable())
      GTEST_SKIP() << "needs PAGEMAP_SCAN and PROCMAP_QUERY (Linux 6.11)";
  }

  const Mapping from{1000};
  const Mapping to{1000};
};

TEST_F(SparseCopyTest, never_written_stays_absent)
{
  ASSERT_TRUE(copy(to.data(), from.data(), to.size()));
  EXPECT_EQ(from.present_pages(), 0U);
  EXPECT_EQ(to.present_pages(), 0U);
}

TEST_F(SparseCopyTest, only_what_is_there)
{
  from.data()[100 * page + 5] = 7;
  from.data()[900 * page] = 9;
  ASSERT_TRUE(copy(to.data() + 10, from.data() + 10, 950 * page));
  EXPECT_EQ(to.present_pages(), 2U);
  EXPECT_EQ(to.data()[100 * page + 5], 7);
  EXPECT_EQ(to.data()[900 * page], 9);
}

TEST_F(SparseCopyTest, old_contents_are_given_back)
{
  const Mapping wider(1002);
  std::memset(wider.data(), 1, wider.size());
  ASSERT_TRUE(copy(wider.data() + page / 2, from.data(), from.size()));
  EXPECT_EQ(wider.data()[page / 2 - 1], 1);
  EXPECT_EQ(wider.data()[page / 2], 0);
  EXPECT_EQ(wider.data()[page / 2 + from.size() - 1], 0);
  EXPECT_EQ(wider.data()[page / 2 + from.size()], 1);
  EXPECT_LE(wider.present_pages(), 3U);
}

TEST_F(SparseCopyTest, pages_only_read_count_as_absent)
{
  if (!kernel_shares_a_zero_page())
    GTEST_SKIP() << "this kernel has no zero page";
  const volatile unsigned char* read = from.data();
  for (std::size_t i = 0; i < 500; ++i)
    ASSERT_EQ(read[i * page], 0);
  ASSERT_TRUE(copy(to.data(), from.data(), to.size()));
  EXPECT_EQ(to.present_pages(), 0U);
}

TEST(SparseCopy, what_is_all_there_is_left_to_memcpy)
{
  const Mapping from(1000);
  const Mapping to(1000);
  std::memset(from.data(), 3, from.size());
  for (int i = 0; i < 100; ++i)
    EXPECT_FALSE(copy_sparsely(to.data(), from.data(), from.size()));
}

// What messages are copied by.
TEST_F(SparseCopyTest, regions_are_copied_sparsely)
{
  const Memory memory;
  Region source;
  Region target;
  ASSERT_TRUE(source.bind(memory, from.data(), from.size(), 0));
  ASSERT_TRUE(target.bind(memory, to.data(), to.size(), 0));
  from.data()[500 * page] = 1;
  ASSERT_TRUE(copy(to.data(), from.data(), to.size())); // whatever was copied before: the next one is looked at
  ASSERT_TRUE(portals::copy({&memory, &source, 0}, {&memory, &target, 0}, to.size()));
  EXPECT_EQ(to.present_pages(), 1U);
  EXPECT_EQ(to.data()[500 * page], 1);
}

TEST(SparseCopy, absent_pages_of_files_are_not_zeros)
{
  const int file = memfd_create("sparse-copy-test", MFD_CLOEXEC);
  ASSERT_EQ(ftruncate(file, 100 * page), 0);
  const std::vector<char> bytes(100 * page, 'x');
  ASSERT_EQ(write(file, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  for (const int flags : {MAP_PRIVATE, MAP_SHARED}) {
    const Mapping from(100, flags, file);
    const Mapping to(100);
    copy(to.data(), from.data(), to.size());
    EXPECT_EQ(std::memcmp(to.data(), bytes.data(), bytes.size()), 0);
    const Mapping zeros(100);
    const Mapping target(100, flags, file);
    copy(target.data(), zeros.data(), zeros.size()); // what is given back would be the file again
    EXPECT_EQ(std::count(target.data(), target.data() + target.size(), 0), static_cast<std::ptrdiff_t>(target.size()));
    ASSERT_EQ(pwrite(file, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  }
  close(file);
}

// Random pages written, random ranges copied to and fro; a second set of mappings goes by memcpy.
TEST(SparseCopy, random_traffic_is_memcpy)
{
  constexpr std::size_t pages = 200;
  std::mt19937 random(20261125);
  const auto below = [&random](std::size_t limit) {
    return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random);
  };
  const Mapping sparse[3] = {Mapping(pages), Mapping(pages), Mapping(pages)};
  const Mapping plain[3] = {Mapping(pages), Mapping(pages), Mapping(pages)};
  std::size_t sparse_copies = 0;
  for (int round = 0; round < 500; ++round) {
    const std::size_t which = below(3);
    if (round % 10 == 0) { // as a process that begins anew
      madvise(sparse[which].data(), sparse[which].size(), MADV_DONTNEED);
      madvise(plain[which].data(), plain[which].size(), MADV_DONTNEED);
    }
    for (std::size_t i = below(6); i > 0; --i) {
      const std::size_t at = below(pages * page - 1);
      const std::size_t count = std::min(below(3 * page), pages * page - at);
      const int value = static_cast<int>(below(256));
      std::memset(sparse[which].data() + at, value, count);
      std::memset(plain[which].data() + at, value, count);
    }
    const std::size_t other = (which + 1 + below(2)) % 3;
    const std::size_t size = 1 + below(pages * page);
    const std::size_t from = below(pages * page - size + 1);
    const std::size_t to = below(pages * page - size + 1);
    std::vector<bool> may_exist(pages);
    for (std::size_t i = 0; i < pages; ++i)
      may_exist[i] = sparse[other].present(i);
    if (copy_sparsely(sparse[other].data() + to, sparse[which].data() + from, size)) {
      ++sparse_copies;
      for (std::size_t i = from / page; i <= (from + size - 1) / page; ++i) {
        if (!sparse[which].present(i))
          continue;
        const std::size_t begin = std::max(i * page, from) - from + to;
        const std::size_t end = std::min((i + 1) * page, from + size) - from + to;
        may_exist[begin / page] = true;
        may_exist[(end - 1) / page] = true;
      }
      for (std::size_t i = 0; i < pages; ++i)
        ASSERT_TRUE(!sparse[other].present(i) || may_exist[i]) << "page " << i << " of round " << round;
    } else
      std::memcpy(sparse[other].data() + to, sparse[which].data() + from, size);
    std::memcpy(plain[other].data() + to, plain[which].data() + from, size);
    // Only what is there is read: reading makes pages exist.
    for (std::size_t i = 0; i < pages; ++i) {
      const unsigned char* expected = plain[other].data() + i * page;
      ASSERT_TRUE(sparse[other].present(i) ? std::memcmp(sparse[other].data() + i * page, expected, page) == 0
                                           : std::all_of(expected, expected + page, [](int byte) { return byte == 0; }))
          << "page " << i << " of round " << round;
    }
  }
  if (usable()) {
    EXPECT_GT(sparse_copies, 50U);
  }
}

} // namespace

} // namespace umwelt::portals
