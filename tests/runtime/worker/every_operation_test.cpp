// SPDX-License-Identifier: LGPL-2.1-or-later
// Requests of every operation: values, objects and texts arrive, and results come back.
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "tests/runtime/worker/in_arena.h"
#include "tests/runtime/worker/operation_rows.h"

namespace umwelt::worker::test
{
namespace
{

constexpr int pattern = 0x5a;
constexpr int answer = 0x33;

template <class Type> std::vector<unsigned char> bytes_of(const Type& object)
{
  const auto* bytes = reinterpret_cast<const unsigned char*>(&object);
  return {bytes, reinterpret_cast<const unsigned char*>(&object + 1)};
}

// Null pointers stay null, values arrive, and nothing but the result comes back.
template <std::uint32_t operation> void carry_values(Slot& slot)
{
  using Args = typename Row<operation>::Args;
  Args original;
  std::memset(&original, pattern, sizeof original);
  Row<operation>::each([&](const std::string&, const std::string&, auto member) {
    using Type = std::remove_reference_t<decltype(original.*member)>;
    if constexpr (std::is_pointer_v<Type>)
      original.*member = nullptr;
    else if constexpr (std::is_enum_v<Type>)
      original.*member = static_cast<Type>(1); // one that there is
  });
  const Args before = original;
  {
    Arguments request(slot, operation, &original);
    ASSERT_TRUE(request.fit());
    ASSERT_TRUE(in_arena(slot, request.copy()));
    EXPECT_GE(slot.used, sizeof original);
    auto& copy = *static_cast<Args*>(request.copy());
    Row<operation>::each([&](const std::string&, const std::string& where, auto member) {
      EXPECT_EQ(bytes_of(copy.*member), bytes_of(before.*member)) << where;
      auto* bytes = reinterpret_cast<unsigned char*>(&(copy.*member));
      std::fill(bytes, reinterpret_cast<unsigned char*>(&(copy.*member) + 1), 0);
    });
    copy.*Row<operation>::result = answer;
    request.bring_back();
  }
  EXPECT_EQ(original.*Row<operation>::result, answer);
  Row<operation>::each([&](const std::string&, const std::string& where, auto member) {
    EXPECT_EQ(bytes_of(original.*member), bytes_of(before.*member)) << where;
  });
  EXPECT_EQ(slot.used, 0U);
}

// Objects and texts arrive, and objects that are not const come back. Each lies in memory of just its size.
template <std::uint32_t operation> void carry_objects(Slot& slot)
{
  using Args = typename Row<operation>::Args;
  Args original{};
  std::vector<std::vector<unsigned char>> objects;
  Row<operation>::each([&](const std::string& what, const std::string& where, auto member) {
    using Type = std::remove_reference_t<decltype(original.*member)>;
    if constexpr (kind_of<Type>() == Kind::text) {
      objects.emplace_back(where.begin(), where.end()).push_back('\0');
      original.*member = reinterpret_cast<const char*>(objects.back().data());
    } else if constexpr (kind_of<Type>() == Kind::object && !std::is_void_v<std::remove_pointer_t<Type>>) {
      if (!to_one_object.contains(what))
        return;
      objects.emplace_back(sizeof(std::remove_pointer_t<Type>), static_cast<unsigned char>(pattern));
      original.*member = reinterpret_cast<Type>(objects.back().data());
    }
  });
  const std::vector<std::vector<unsigned char>> before = objects;
  Arguments request(slot, operation, &original);
  ASSERT_TRUE(request.fit());
  auto& copy = *static_cast<Args*>(request.copy());
  std::size_t index = 0;
  Row<operation>::each([&](const std::string&, const std::string& where, auto member) {
    if constexpr (kind_of<std::remove_reference_t<decltype(original.*member)>>() >= Kind::text) {
      if (original.*member == nullptr)
        return;
      auto* arrived = static_cast<unsigned char*>(const_cast<void*>(static_cast<const void*>(copy.*member)));
      ASSERT_TRUE(in_arena(slot, arrived)) << where;
      const std::vector<unsigned char>& sent = before[index++];
      EXPECT_TRUE(std::equal(sent.begin(), sent.end(), arrived)) << where;
      std::fill_n(arrived, sent.size(), static_cast<unsigned char>(answer));
    }
  });
  request.bring_back();
  index = 0;
  Row<operation>::each([&](const std::string&, const std::string& where, auto member) {
    using Type = std::remove_reference_t<decltype(original.*member)>;
    if constexpr (kind_of<Type>() >= Kind::text) {
      if (original.*member == nullptr)
        return;
      const std::vector<unsigned char>& now = objects[index];
      if (std::is_const_v<std::remove_pointer_t<Type>>)
        EXPECT_EQ(now, before[index]) << where;
      else
        EXPECT_EQ(now, std::vector<unsigned char>(now.size(), answer)) << where;
      ++index;
    }
  });
}

struct Operation {
  const char* name;
  void (*carry_values)(Slot& slot);
  void (*carry_objects)(Slot& slot);
};

std::vector<Operation> operations()
{
  std::vector<Operation> all;
  for_all_operations([&all]<std::uint32_t operation>() {
    all.push_back({Row<operation>::name, carry_values<operation>, carry_objects<operation>});
  });
  return all;
}

class EveryOperation : public testing::TestWithParam<Operation>
{
protected:
  std::unique_ptr<Slot> slot = std::make_unique<Slot>();
};

TEST_P(EveryOperation, CarriesValues)
{
  GetParam().carry_values(*slot);
}

TEST_P(EveryOperation, CarriesObjects)
{
  GetParam().carry_objects(*slot);
}

INSTANTIATE_TEST_SUITE_P(Of, EveryOperation, testing::ValuesIn(operations()),
                         [](const testing::TestParamInfo<Operation>& row) { return row.param.name; });

} // namespace
} // namespace umwelt::worker::test
