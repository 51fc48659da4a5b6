// SPDX-License-Identifier: LGPL-2.1-or-later
// The small parts of the engine.
#include <gtest/gtest.h>

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "runtime/portals/data/buffer_pool.h"
#include "runtime/portals/data/memory.h"
#include "runtime/portals/matching/rank_tree.h"
#include "runtime/portals/objects/counter.h"
#include "runtime/portals/objects/event_queue.h"
#include "runtime/portals/objects/handle.h"
#include "runtime/portals/objects/slab.h"

namespace umwelt::portals
{
namespace
{

struct Thing {
  ptl_handle_any_t handle = PTL_INVALID_HANDLE;
};

TEST(Handle, encodes_and_decodes)
{
  const Handle handle{ObjectType::me, 3, 255, Handle::max_index};
  const Handle again = Handle::decode(handle.encode());
  EXPECT_EQ(again.type, ObjectType::me);
  EXPECT_EQ(again.interface, 3U);
  EXPECT_EQ(again.generation, 255U);
  EXPECT_EQ(again.index, Handle::max_index);
}

TEST(Slab, finds_by_handle)
{
  Slab<Thing> slab(ObjectType::md, 2);
  Thing* thing = slab.create();
  ASSERT_NE(thing, nullptr);
  EXPECT_EQ(slab.find(thing->handle), thing);
  EXPECT_EQ(slab.live(), 1U);
  Handle handle = Handle::decode(thing->handle);
  handle.interface = 1;
  EXPECT_EQ(slab.find(handle.encode()), nullptr);
  handle = Handle::decode(thing->handle);
  handle.type = ObjectType::eq;
  EXPECT_EQ(slab.find(handle.encode()), nullptr);
}

// A stale handle names nothing for as long as its generation does not repeat.
TEST(Slab, stale_handles)
{
  Slab<Thing> slab(ObjectType::md, 0);
  const ptl_handle_any_t stale = slab.create()->handle;
  slab.destroy(*slab.find(stale));
  for (int i = 0; i < 10000; ++i) {
    Thing* thing = slab.create();
    EXPECT_NE(thing->handle, stale);
    slab.destroy(*thing);
  }
  EXPECT_EQ(slab.find(stale), nullptr);
  EXPECT_EQ(slab.live(), 0U);
}

TEST(Slab, holds_as_many_as_there_are_indexes)
{
  Slab<Thing> slab(ObjectType::ct, 0);
  ptl_handle_any_t first = PTL_INVALID_HANDLE;
  for (std::uint32_t i = 0; i <= Handle::max_index; ++i) {
    Thing* thing = slab.create();
    ASSERT_NE(thing, nullptr);
    ASSERT_NE(thing->handle, PTL_CT_NONE);
    if (i == 0)
      first = thing->handle;
  }
  EXPECT_EQ(slab.create(), nullptr);
  slab.destroy(*slab.find(first));
  EXPECT_NE(slab.create(), nullptr);
}

TEST(Slab, visits_what_lives)
{
  Slab<Thing> slab(ObjectType::ct, 0);
  Thing* gone = slab.create();
  Thing* stays = slab.create();
  slab.destroy(*gone);
  std::vector<Thing*> seen;
  slab.for_each([&](Thing& thing) { seen.push_back(&thing); });
  EXPECT_EQ(seen, std::vector<Thing*>{stays});
}

ptl_event_t event(std::uint64_t tag)
{
  ptl_event_t result{};
  result.hdr_data = tag;
  return result;
}

TEST(EventQueue, event_is_visible_after_show)
{
  EventQueue queue;
  queue.set_count(4);
  queue.post(event(1));
  EXPECT_FALSE(queue.available());
  queue.show();
  ASSERT_TRUE(queue.available());
  ptl_event_t taken{};
  EXPECT_EQ(queue.take(taken), PTL_OK);
  EXPECT_EQ(taken.hdr_data, 1U);
  EXPECT_FALSE(queue.available());
}

// An event may be lost before it was ever visible.
TEST(EventQueue, loses_invisible_events)
{
  EventQueue queue;
  queue.set_count(2);
  for (std::uint64_t tag = 1; tag <= 5; ++tag)
    queue.post(event(tag));
  for (int i = 0; i < 3; ++i)
    queue.show(); // those of the lost ones
  EXPECT_FALSE(queue.available());
  queue.show();
  ptl_event_t taken{};
  ASSERT_TRUE(queue.available());
  EXPECT_EQ(queue.take(taken), PTL_EQ_DROPPED);
  EXPECT_EQ(taken.hdr_data, 4U);
  queue.show();
  EXPECT_EQ(queue.take(taken), PTL_OK);
  EXPECT_EQ(taken.hdr_data, 5U);
}

TEST(EventQueue, keeps_order_while_it_grows)
{
  EventQueue queue;
  queue.set_count(100000);
  ptl_event_t taken{};
  std::uint64_t next = 0;
  std::uint64_t expected = 0;
  for (int round = 1; round < 500; ++round) {
    for (int i = 0; i < round; ++i) {
      queue.post(event(next++));
      queue.show();
    }
    for (int i = 0; i < round / 2; ++i) {
      ASSERT_EQ(queue.take(taken), PTL_OK);
      ASSERT_EQ(taken.hdr_data, expected++);
    }
  }
}

TEST(EventQueue, room)
{
  EventQueue queue;
  queue.set_count(3);
  queue.post(event(1));
  queue.reserved = 1;
  EXPECT_TRUE(queue.has_room(1));
  EXPECT_FALSE(queue.has_room(2));
}

TEST(Counter, host_follows_the_nic)
{
  Counter counter;
  const CounterChange first = counter.nic_add({2, 0});
  const CounterChange second = counter.nic_set({10, 1});
  const CounterChange third = counter.nic_add({1, 0});
  EXPECT_EQ(counter.nic().success, 11U);
  EXPECT_EQ(counter.host().success, 0U);
  counter.show(first);
  EXPECT_EQ(counter.host().success, 2U);
  counter.show(second);
  counter.show(third);
  EXPECT_EQ(counter.host().success, 11U);
  EXPECT_EQ(counter.host().failure, 1U);
}

TEST(Counter, set_by_the_host_makes_older_changes_void)
{
  Counter counter;
  const CounterChange before = counter.nic_add({2, 0});
  counter.host_set({100, 0});
  const CounterChange after = counter.nic_add({1, 0});
  counter.show(before);
  EXPECT_EQ(counter.host().success, 100U);
  counter.show(after);
  EXPECT_EQ(counter.host().success, 101U);
}

// The program's increments survive a value that the NIC has set before and that becomes visible after them.
TEST(Counter, increment_between_set_and_sight)
{
  Counter counter;
  counter.host_add({1, 0});
  const CounterChange set = counter.nic_set({10, 0});
  counter.host_add({5, 0});
  counter.show(set);
  EXPECT_EQ(counter.host().success, 15U);
  EXPECT_EQ(counter.nic().success, 15U);
}

TEST(Counter, known_value)
{
  Counter counter;
  EXPECT_FALSE(counter.known());
  counter.read();
  EXPECT_TRUE(counter.known());
  counter.show(counter.nic_add({1, 0}));
  EXPECT_FALSE(counter.known());
}

TEST(RankTree, counts_what_stands_before)
{
  RankTree tree;
  tree.restart(3);
  std::vector<std::uint32_t> positions;
  for (int i = 0; i < 10; ++i)
    positions.push_back(tree.append());
  EXPECT_EQ(tree.before(positions[7]), 7U);
  tree.remove(positions[2]);
  tree.remove(positions[8]);
  EXPECT_EQ(tree.before(positions[7]), 6U);
  EXPECT_EQ(tree.before(positions[9]), 7U);
}

TEST(BufferPool, gives_back_what_it_got)
{
  BufferPool pool;
  Buffer buffer = pool.acquire(1000);
  const std::byte* address = buffer.get();
  pool.release(std::move(buffer), 1000);
  EXPECT_EQ(pool.acquire(600).get(), address); // the same power of two
}

TEST(BufferPool, keeps_little)
{
  BufferPool pool;
  constexpr std::size_t large = std::size_t{48} << 20;
  std::vector<Buffer> buffers;
  for (int i = 0; i < 3; ++i)
    buffers.push_back(pool.acquire(large));
  EXPECT_EQ(pool.in_use(), 3U);
  for (Buffer& buffer : buffers)
    pool.release(std::move(buffer), large);
  EXPECT_EQ(pool.in_use(), 0U);
  EXPECT_LE(pool.idle_bytes(), std::size_t{64} << 20);
}

TEST(Region, addresses)
{
  char memory[10];
  Region flat;
  ASSERT_TRUE(flat.bind(Memory(), memory, 10, 0));
  EXPECT_EQ(flat.address(3), memory + 3);
  ptl_iovec_t list[2] = {{memory + 5, 2}, {memory, 3}};
  Region pieces;
  ASSERT_TRUE(pieces.bind(Memory(), list, 2, PTL_IOVEC));
  EXPECT_EQ(pieces.length(), 5U);
  EXPECT_EQ(pieces.address(1), memory + 6);
  EXPECT_EQ(pieces.address(2), memory);
  EXPECT_EQ(pieces.address(5), memory + 3); // the end
}

// Reads and writes that are checked fail instead of faulting.
TEST(Memory, checked_access)
{
  const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* page = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  char buffer[8] = {};
  const Memory memory;
  EXPECT_FALSE(memory.read(buffer, page, 8, true));
  EXPECT_FALSE(memory.write(page, buffer, 8, true));
  char other[8] = "checked";
  EXPECT_TRUE(memory.read(buffer, other, 8, true));
  EXPECT_STREQ(buffer, "checked");
  munmap(page, size);
}

// As memmove(3): apart, and a message to oneself whose source and target overlap, with the target before or after the
// source.
TEST(Memory, copies_of_any_size_and_place)
{
  constexpr std::size_t longest = 1'050'000;
  const Memory memory;
  for (const std::size_t size : {0, 1, 1983, 1984, 1985, 4096, 65536, 1 << 20, (1 << 20) + 1, 1'040'000})
    for (const std::size_t shift : {std::size_t{0}, std::size_t{1}, std::size_t{1984}, std::size_t{9000}, longest}) {
      std::vector<unsigned char> bytes(2 * longest);
      for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<unsigned char>(i * 2654435761U >> 24);
      for (const bool forward : {true, false}) {
        std::vector<unsigned char> expected = bytes;
        const std::size_t from = forward ? 0 : shift;
        const std::size_t to = forward ? shift : 0;
        std::memmove(expected.data() + to, expected.data() + from, size);
        EXPECT_TRUE(memory.read(bytes.data() + to, bytes.data() + from, size));
        EXPECT_TRUE(bytes == expected) << size << " bytes from " << from << " to " << to;
      }
    }
}

// A rank in another process is reached through the kernel; here, this process under its own number.
TEST(Memory, other_process)
{
  const Memory memory(getpid());
  char source[100000];
  std::memset(source, 7, sizeof source);
  char target[100000] = {};
  EXPECT_FALSE(memory.local());
  EXPECT_TRUE(memory.read(target, source, sizeof source));
  EXPECT_EQ(std::memcmp(source, target, sizeof source), 0);
  std::memset(source, 9, sizeof source);
  EXPECT_TRUE(memory.write(target, source, sizeof source));
  EXPECT_EQ(target[sizeof target - 1], 9);
  EXPECT_FALSE(memory.read(target, nullptr, 1));
}

TEST(Memory, between_two_other_processes)
{
  const Memory memory(getpid());
  std::vector<char> source(50000, 5);
  std::vector<char> target(50000, 0);
  Region from;
  Region to;
  ASSERT_TRUE(from.bind(memory, source.data(), source.size(), 0));
  ASSERT_TRUE(to.bind(memory, target.data(), target.size(), 0));
  EXPECT_TRUE(copy({&memory, &from, 1}, {&memory, &to, 0}, 49999));
  EXPECT_EQ(std::count(target.begin(), target.end(), 5), 49999);
}

} // namespace
} // namespace umwelt::portals
