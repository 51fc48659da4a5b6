// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/tune/openmpi_rules.h"

#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace umwelt::tune
{
namespace
{

// Reads the file as Open MPI does (coll_tuned_dynamic_file.c), and looks rules up as it does
// (coll_tuned_dynamic_rules.c).
class Reader
{
public:
  explicit Reader(const std::string& text)
  {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
      numbers_ << line.substr(0, line.find('#')) << '\n';
    for (long collectives = next(); collectives > 0; --collectives) {
      Collective& collective = collectives_.emplace_back(Collective{next(), {}});
      for (long counts = next(); counts > 0; --counts) {
        const long ranks = next();
        Communicator& communicator = collective.communicators.emplace_back(Communicator{ranks, {}});
        for (long sizes = next(); sizes > 0; --sizes) {
          communicator.rules.push_back({next(), next(), next(), next()});
          if (communicator.rules.size() == 1 && communicator.rules[0].size != 0)
            throw std::runtime_error("the first rule must be for size 0");
        }
      }
    }
    long more = 0;
    if (numbers_ >> more)
      throw std::runtime_error("more numbers than are read");
  }

  struct Rule {
    long size;
    long algorithm;
    long fanout;
    long segment;
    bool operator==(const Rule&) const = default;
  };

  [[nodiscard]] Rule look_up(long id, long ranks, long bytes) const
  {
    for (const Collective& collective : collectives_) {
      if (collective.id != id || collective.communicators.empty())
        continue;
      const Communicator* communicator = &collective.communicators.front();
      for (const Communicator& one : collective.communicators) {
        if (one.ranks > ranks)
          break;
        communicator = &one;
      }
      Rule best = communicator->rules.front();
      for (const Rule& rule : communicator->rules) {
        if (rule.size > bytes)
          break;
        best = rule;
      }
      return best;
    }
    return {0, 0, 0, 0};
  }
  [[nodiscard]] long algorithm(long id, long ranks, long bytes) const { return look_up(id, ranks, bytes).algorithm; }

private:
  struct Communicator {
    long ranks;
    std::vector<Rule> rules;
  };
  struct Collective {
    long id;
    std::vector<Communicator> communicators;
  };

  long next()
  {
    long number = -1;
    if (!(numbers_ >> number) || number < 0)
      throw std::runtime_error("a number is missing");
    return number;
  }

  std::stringstream numbers_;
  std::vector<Collective> collectives_;
};

constexpr long alltoall = 3;
constexpr long barrier = 6;
constexpr long bcast = 7;
constexpr long scan = 14;

Series series(const std::string& function, unsigned ranks, Choice choice, std::map<std::uint64_t, std::int64_t> times)
{
  return {function, ranks, std::move(choice), std::move(times), {}};
}

Group bcast_on(unsigned ranks)
{
  return {"bcast",
          ranks,
          {series("bcast", ranks, {}, {{8, 30}, {64, 30}, {4096, 90}}),
           series("bcast", ranks, {1, "basic_linear", 0, 0}, {{8, 10}, {64, 10}, {4096, 100}}),
           series("bcast", ranks, {2, "chain", 1024, 4}, {{4096, 50}})}};
}

TEST(OpenMpiRules, ChooseTheBestFromEachSizeOn)
{
  const Reader reader(openmpi_rules(std::vector{bcast_on(16)}));
  EXPECT_EQ(reader.algorithm(bcast, 16, 0), 1);
  EXPECT_EQ(reader.algorithm(bcast, 16, 8), 1);
  EXPECT_EQ(reader.algorithm(bcast, 16, 4095), 1);
  EXPECT_EQ(reader.look_up(bcast, 16, 4096), (Reader::Rule{4096, 2, 4, 1024}));
  EXPECT_EQ(reader.algorithm(bcast, 16, 1 << 30), 2);
}

TEST(OpenMpiRules, NeighboursThatAreEqualAreOneRule)
{
  EXPECT_THAT(openmpi_rules(std::vector{bcast_on(16)}), testing::HasSubstr("\n  16 2\n"));
}

TEST(OpenMpiRules, FewerRanksThanWereMeasuredKeepTheOwnDecision)
{
  const Reader reader(openmpi_rules(std::vector{bcast_on(16), bcast_on(4)}));
  EXPECT_EQ(reader.algorithm(bcast, 3, 8), 0);
  EXPECT_EQ(reader.algorithm(bcast, 4, 8), 1);
  EXPECT_EQ(reader.algorithm(bcast, 15, 8), 1);
  EXPECT_EQ(reader.algorithm(bcast, 17, 8), 1);
}

TEST(OpenMpiRules, WhatIsNotInThemStaysAsItIs)
{
  EXPECT_EQ(Reader(openmpi_rules(std::vector{bcast_on(16)})).algorithm(alltoall, 16, 8), 0);
}

TEST(OpenMpiRules, SizesOfBlocksAreThoseOfAllRanks)
{
  const Group group("alltoall", 4,
                    {series("alltoall", 4, {1, "linear", 0, 0}, {{8, 10}, {64, 20}}),
                     series("alltoall", 4, {2, "pairwise", 0, 0}, {{8, 20}, {64, 10}})});
  const Reader reader(openmpi_rules(std::vector{group}));
  EXPECT_EQ(reader.algorithm(alltoall, 4, 64 * 4 - 1), 1);
  EXPECT_EQ(reader.algorithm(alltoall, 4, 64 * 4), 2);
}

TEST(OpenMpiRules, AlgorithmsForTwoProcessesAreForTwo)
{
  const Group two("alltoall", 2, {series("alltoall", 2, {5, "two_proc", 0, 0}, {{8, 10}})});
  const Group four("alltoall", 4, {series("alltoall", 4, {2, "pairwise", 0, 0}, {{8, 10}})});
  const Reader reader(openmpi_rules(std::vector{two, four}));
  EXPECT_EQ(reader.algorithm(alltoall, 2, 16), 5);
  EXPECT_EQ(reader.algorithm(alltoall, 3, 16), 0);
  EXPECT_EQ(reader.algorithm(alltoall, 4, 16), 2);
  const Group three("alltoall", 3, {series("alltoall", 3, {2, "pairwise", 0, 0}, {{8, 10}})});
  EXPECT_EQ(Reader(openmpi_rules(std::vector{two, three})).algorithm(alltoall, 3, 16), 2);
}

TEST(OpenMpiRules, WhatIsLookedUpWithoutItsSizeHasOneRule)
{
  const Group scans("scan", 4,
                    {series("scan", 4, {1, "linear", 0, 0}, {{8, 10}, {64, 1000}}),
                     series("scan", 4, {2, "recursive_doubling", 0, 0}, {{8, 20}, {64, 20}})});
  const Reader reader(openmpi_rules(std::vector{scans}));
  EXPECT_EQ(reader.algorithm(scan, 4, 0), 2);
  EXPECT_EQ(reader.algorithm(scan, 4, 1 << 20), 2);
  const Group barriers("barrier", 4, {series("barrier", 4, {6, "tree", 0, 0}, {{0, 10}})});
  EXPECT_EQ(Reader(openmpi_rules(std::vector{barriers})).algorithm(barrier, 4, 0), 6);
}

TEST(OpenMpiRules, OfNothingThereAreNone)
{
  const Group nothing("bcast", 4, {Series{"bcast", 4, {1, "basic_linear", 0, 0}, {}, {{8, "deadlock"}}}});
  EXPECT_EQ(Reader(openmpi_rules(std::vector{nothing})).algorithm(bcast, 4, 8), 0);
}

} // namespace
} // namespace umwelt::tune
