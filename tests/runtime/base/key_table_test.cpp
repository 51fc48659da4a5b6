// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/base/key_table.h"

#include <memory>
#include <random>
#include <unordered_map>
#include <vector>

#include <gtest/gtest.h>

namespace
{

TEST(KeyTableTest, FindsWhatAHashTableFinds)
{
  umwelt::sim::KeyTable<const int> table;
  std::unordered_map<std::uint64_t, const int*> expected;
  std::vector<std::unique_ptr<int>> values;
  EXPECT_EQ(table.find(1), nullptr);
  std::mt19937_64 random(1);
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t key = 1 + random() % 30'000;
    const auto known = expected.find(key);
    ASSERT_EQ(table.find(key), known == expected.end() ? nullptr : known->second);
    if (known != expected.end())
      continue;
    values.push_back(std::make_unique<int>(i));
    table.keep(key, values.back().get());
    expected[key] = values.back().get();
  }
  for (const auto& [key, value] : expected)
    EXPECT_EQ(table.find(key), value);
}

} // namespace
