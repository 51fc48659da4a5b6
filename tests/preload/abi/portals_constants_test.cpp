// SPDX-License-Identifier: LGPL-2.1-or-later
// The constants of Portals 4 in three ABIs: in each, no number of a group means two things, so that all can be
// converted back.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

namespace
{

struct Row {
  std::string name;
  long four_three;
  long four_two;
  long bxi;
};

using Groups = std::map<std::string, std::vector<Row>>;

const Groups& values()
{
  static const Groups groups = [] {
    Groups g;
#define UMW_PTL_RETURN(name, four_three, four_two, bxi) g["return codes"].push_back({#name, four_three, four_two, bxi});
#define UMW_PTL_REGISTER(name, four_three, four_two, bxi) g["registers"].push_back({#name, four_three, four_two, bxi});
#define UMW_PTL_LIST(name, four_three, four_two, bxi) g["lists"].push_back({#name, four_three, four_two, bxi});
#define UMW_PTL_SEARCH(name, four_three, four_two, bxi) g["searches"].push_back({#name, four_three, four_two, bxi});
#define UMW_PTL_EVENT(name, four_three, four_two, bxi) g["events"].push_back({#name, four_three, four_two, bxi});
#define UMW_PTL_FAIL_TYPE(name, four_three, four_two, bxi)                                                             \
  g["fail types"].push_back({#name, four_three, four_two, bxi});
#define UMW_PTL_CT_TYPE(name, four_three, four_two, bxi) g["counters"].push_back({#name, four_three, four_two, bxi});
#define UMW_PTL_ACK(name, four_three, four_two, bxi)                                                                   \
  g["acknowledgements"].push_back({#name, four_three, four_two, bxi});
#define UMW_PTL_OP(name, four_three, four_two, bxi) g["operations"].push_back({#name, four_three, four_two, bxi});
#define UMW_PTL_DATATYPE(name, four_three, four_two, bxi) g["datatypes"].push_back({#name, four_three, four_two, bxi});
#include "preload/abi/portals_constants.def"
    return g;
  }();
  return groups;
}

const Groups& bits()
{
  static const Groups groups = [] {
    Groups g;
#define UMW_PTL_NI_OPTION(name, four_three, four_two, bxi)                                                             \
  g["interfaces"].push_back({#name, four_three, four_two, bxi});
#define UMW_PTL_FEATURE(name, four_three, four_two, bxi) g["features"].push_back({#name, four_three, four_two, bxi});
#define UMW_PTL_PT_OPTION(name, four_three, four_two, bxi)                                                             \
  g["portal table"].push_back({#name, four_three, four_two, bxi});
#define UMW_PTL_IOVEC(name, four_three, four_two, bxi)                                                                 \
  g["descriptors"].push_back({#name, four_three, four_two, bxi});                                                      \
  g["entries"].push_back({#name, four_three, four_two, bxi});
#define UMW_PTL_MD_OPTION(name, four_three, four_two, bxi)                                                             \
  g["descriptors"].push_back({#name, four_three, four_two, bxi});
#define UMW_PTL_ENTRY_OPTION(name, four_three, four_two, bxi)                                                          \
  g["entries"].push_back({#name, four_three, four_two, bxi});
#define UMW_PTL_ME_OPTION(name, four_three, four_two, bxi) g["entries"].push_back({#name, four_three, four_two, bxi});
#include "preload/abi/portals_constants.def"
    return g;
  }();
  return groups;
}

constexpr long absent = -1;

void no_number_twice(const Groups& groups, long Row::*abi)
{
  for (const auto& [group, rows] : groups) {
    std::set<long> seen;
    for (const Row& row : rows)
      EXPECT_TRUE(row.*abi == absent || seen.insert(row.*abi).second) << group << ": " << row.name << " " << row.*abi;
  }
}

TEST(PortalsConstants, NoNumberMeansTwoThings)
{
  for (long Row::*abi : {&Row::four_three, &Row::four_two, &Row::bxi}) {
    no_number_twice(values(), abi);
    no_number_twice(bits(), abi);
  }
}

TEST(PortalsConstants, OptionsAreBits)
{
  for (const auto& [group, rows] : bits())
    for (const Row& row : rows)
      for (const long bit : {row.four_three, row.four_two, row.bxi})
        EXPECT_TRUE(bit == absent || (bit > 0 && (bit & (bit - 1)) == 0)) << group << ": " << row.name << " " << bit;
}

// What has no number in 4.3 cannot be converted: only BXI has such, and only what Umwelt never says.
TEST(PortalsConstants, WhatProgramsMaySayExistsIn43)
{
  for (const auto& [group, rows] : bits())
    for (const Row& row : rows)
      EXPECT_TRUE(row.four_three != absent || group == "features") << row.name;
  for (const auto& [group, rows] : values())
    for (const Row& row : rows)
      EXPECT_TRUE(row.four_three != absent || group == "return codes" || group == "fail types") << row.name;
}

} // namespace
