// SPDX-License-Identifier: LGPL-2.1-or-later
// Requests of every operation: values, objects and texts arrive, and results come back.
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/runtime/worker/in_arena.h"
#include "tests/runtime/worker/operation_rows.h"

namespace umwelt::worker::test
{
namespace
{

constexpr unsigned char pattern = 0x5a;
constexpr unsigned char answer = 0x33;

using Bytes = std::vector<unsigned char>;

// The arguments of an operation.
class Request
{
public:
  explicit Request(const Operation& operation, unsigned char fill = 0)
      : words_((operation.size + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t))
  {
    std::memset(words_.data(), fill, operation.size);
  }
  void* get() { return words_.data(); }

private:
  std::vector<std::uint64_t> words_;
};

unsigned char* at(void* arguments, std::size_t offset)
{
  return static_cast<unsigned char*>(arguments) + offset;
}

Bytes bytes_of(void* arguments, const Member& member)
{
  return {at(arguments, member.offset), at(arguments, member.offset + member.size)};
}

unsigned char* pointer_in(void* arguments, const Member& member)
{
  unsigned char* pointer = nullptr;
  std::memcpy(&pointer, at(arguments, member.offset), sizeof pointer);
  return pointer;
}

void point(void* arguments, const Member& member, const unsigned char* pointer)
{
  std::memcpy(at(arguments, member.offset), &pointer, sizeof pointer);
}

class EveryOperation : public testing::TestWithParam<Operation>
{
protected:
  const Operation& operation = GetParam();
  std::unique_ptr<Slot> slot = std::make_unique<Slot>();
};

// Null pointers stay null, values arrive, and nothing but the result comes back.
TEST_P(EveryOperation, CarriesValues)
{
  Request original(operation, pattern);
  for (const Member& member : operation.members) {
    if (member.kind != Kind::value)
      point(original.get(), member, nullptr);
    if (member.is_enum) { // one that there is
      std::memset(at(original.get(), member.offset), 0, member.size);
      *at(original.get(), member.offset) = 1;
    }
  }
  Request before = original;
  {
    Arguments request(*slot, operation.number, original.get());
    ASSERT_TRUE(request.fit());
    ASSERT_TRUE(in_arena(*slot, request.copy()));
    EXPECT_GE(slot->used, operation.size);
    for (const Member& member : operation.members) {
      EXPECT_EQ(bytes_of(request.copy(), member), bytes_of(before.get(), member)) << operation.place(member);
      std::memset(at(request.copy(), member.offset), 0, member.size);
    }
    std::memset(at(request.copy(), operation.result), answer, operation.result_size);
    request.bring_back();
  }
  EXPECT_EQ(Bytes(at(original.get(), operation.result), at(original.get(), operation.result + operation.result_size)),
            Bytes(operation.result_size, answer));
  for (const Member& member : operation.members)
    EXPECT_EQ(bytes_of(original.get(), member), bytes_of(before.get(), member)) << operation.place(member);
  EXPECT_EQ(slot->used, 0U);
}

// Objects and texts arrive, and objects that are not const come back. Each lies in memory of just its size.
TEST_P(EveryOperation, CarriesObjects)
{
  Request original(operation);
  std::vector<Member> carried;
  std::vector<Bytes> objects;
  for (const Member& member : operation.members) {
    const std::string place = operation.place(member);
    if (member.kind == Kind::text)
      objects.emplace_back(place.begin(), place.end()).push_back('\0');
    else if (member.pointee != 0 && to_one_object.contains(member.what))
      objects.emplace_back(member.pointee, pattern);
    else
      continue;
    carried.push_back(member);
    point(original.get(), member, objects.back().data());
  }
  const std::vector<Bytes> before = objects;
  Arguments request(*slot, operation.number, original.get());
  ASSERT_TRUE(request.fit());
  for (std::size_t i = 0; i < carried.size(); ++i) {
    unsigned char* arrived = pointer_in(request.copy(), carried[i]);
    ASSERT_TRUE(in_arena(*slot, arrived)) << operation.place(carried[i]);
    EXPECT_TRUE(std::equal(before[i].begin(), before[i].end(), arrived)) << operation.place(carried[i]);
    std::fill_n(arrived, before[i].size(), answer);
  }
  request.bring_back();
  for (std::size_t i = 0; i < carried.size(); ++i)
    EXPECT_EQ(objects[i], carried[i].is_const ? before[i] : Bytes(before[i].size(), answer))
        << operation.place(carried[i]);
}

INSTANTIATE_TEST_SUITE_P(Of, EveryOperation, testing::ValuesIn(operations()),
                         [](const testing::TestParamInfo<Operation>& row) { return std::string(row.param.name); });

} // namespace
} // namespace umwelt::worker::test
