// SPDX-License-Identifier: LGPL-2.1-or-later
// Functions of a library that this process has loaded are entered by way of the test.
#include "runtime/entries/entries.h"

#include <algorithm>
#include <cstring>

#include <dlfcn.h>
#include <gmock/gmock.h>

#include "runtime/entries/function_symbols.h"

namespace umwelt::entries
{

namespace
{

const Entries* entries = nullptr;
std::vector<unsigned> entered;

} // namespace

extern "C" __attribute__((used)) std::uintptr_t test_entered(std::uintptr_t called_from)
{
  const Entries::Entry* const entry = entries->find(called_from);
  entered.push_back(entry->wanted);
  return entry->original;
}

// The functions of the test have two arguments in general registers and one in a vector register.
extern "C" __attribute__((naked)) void test_entry()
{
  asm("pop %r11\n\t"
      "push %rdi\n\t"
      "push %rsi\n\t"
      "sub $24, %rsp\n\t"
      "movups %xmm0, (%rsp)\n\t"
      "mov %r11, %rdi\n\t"
      "call test_entered\n\t"
      "movups (%rsp), %xmm0\n\t"
      "add $24, %rsp\n\t"
      "pop %rsi\n\t"
      "pop %rdi\n\t"
      "jmp *%rax");
}

namespace
{

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class EntriesTest : public testing::Test
{
protected:
  EntriesTest() : library_(dlopen(SUBJECT, RTLD_NOW | RTLD_LOCAL))
  {
    EXPECT_NE(library_, nullptr) << dlerror();
    const auto entry = reinterpret_cast<std::uintptr_t>(&test_entry);
    asm volatile("mov %0, %%fs:%c1" : : "r"(entry), "i"(entry_slot));
    entered.clear();
  }
  ~EntriesTest() override { dlclose(library_); } // with its patches: the next test has it anew

  static std::vector<loader::LoadedObject> objects()
  {
    std::vector<loader::LoadedObject> result;
    for (const link_map* object = _r_debug.r_map; object != nullptr; object = object->l_next)
      result.push_back(
          {object, object == _r_debug.r_map ? "/proc/self/exe" : object->l_name, object == _r_debug.r_map});
    return result;
  }
  std::vector<std::string> take_over(std::vector<Wanted> wanted)
  {
    entries_.emplace(std::move(wanted));
    entries = &*entries_;
    return entries_->take_over(_r_debug, objects());
  }
  template <class Function> Function* function(const char* name)
  {
    return reinterpret_cast<Function*>(dlsym(library_, name));
  }

  void* const library_;
  std::optional<Entries> entries_;
};

TEST_F(EntriesTest, AFunctionIsEnteredAndDoesWhatItDid)
{
  EXPECT_THAT(take_over({{"subject_adds", "", {}}}), IsEmpty());
  EXPECT_EQ(function<int(int, int)>("subject_adds")(6, 7), 49);
  EXPECT_EQ(function<int(int, int)>("subject_adds")(1, 2), 9);
  EXPECT_THAT(entered, ElementsAre(0, 0));
  EXPECT_TRUE(entries_->is_there(0));
}

TEST_F(EntriesTest, EachIsToldApart)
{
  EXPECT_THAT(take_over({{"subject_one", "", {}}, {"nobody_has_this", "", {}}, {"subject_reads", "", {}}}), IsEmpty());
  EXPECT_EQ(function<int()>("subject_reads")(), 8);
  EXPECT_EQ(function<int()>("subject_one")(), 1);
  EXPECT_EQ(function<int(int, int)>("subject_adds")(1, 1), 8); // nobody wants it
  EXPECT_THAT(entered, ElementsAre(2, 0));
  EXPECT_TRUE(entries_->is_there(0));
  EXPECT_FALSE(entries_->is_there(1));
}

TEST_F(EntriesTest, StaticFunctionsHaveSymbolsToo)
{
  EXPECT_THAT(take_over({{"hidden", "libentries_subject.so", {}}}), IsEmpty());
  EXPECT_EQ(function<double(double, int)>("subject_calls_hidden")(1.5, 4), 14);
  EXPECT_THAT(entered, ElementsAre(0));
}

TEST_F(EntriesTest, AnAddressDoesWithoutASymbol)
{
  const auto symbols = find_functions(SUBJECT, {"subject_adds"});
  ASSERT_EQ(symbols.size(), 1U);
  EXPECT_FALSE(symbols[0].chosen_late);
  EXPECT_GT(symbols[0].bytes, 8U);
  EXPECT_THAT(take_over({{"", "libentries_subject.so", symbols[0].address}}), IsEmpty());
  EXPECT_EQ(function<int(int, int)>("subject_adds")(6, 7), 49);
  EXPECT_THAT(entered, ElementsAre(0));
}

TEST_F(EntriesTest, WhatCannotBePatchedIsSaidAndLeftAlone)
{
  const auto wrong =
      take_over({{"subject_nothing", "", {}}, {"subject_loops", "", {}}, {"", "libentries_subject.so", 0x10}});
  ASSERT_EQ(wrong.size(), 3U);
  EXPECT_THAT(wrong, testing::UnorderedElementsAre(
                         testing::AllOf(HasSubstr("subject_nothing of "), HasSubstr("its entry ends after 1 bytes")),
                         testing::AllOf(HasSubstr("subject_loops of "), HasSubstr("is gone back to")),
                         testing::AllOf(HasSubstr("libentries_subject.so+0x10 of "), HasSubstr("lies in no code"))));
  for (unsigned i = 0; i < 3; ++i)
    EXPECT_FALSE(entries_->is_there(i)) << i;
  function<void()>("subject_nothing")();
  EXPECT_EQ(function<int(int)>("subject_behind_nothing")(4), 7);
  EXPECT_EQ(function<int(int)>("subject_loops")(4), 8);
  EXPECT_THAT(entered, IsEmpty());
}

TEST_F(EntriesTest, BranchesInTheEntryLeadWhereTheyLed)
{
  EXPECT_THAT(take_over({{"subject_branches", "", {}}}), IsEmpty());
  EXPECT_EQ(function<int(int)>("subject_branches")(0), 0);
  EXPECT_EQ(function<int(int)>("subject_branches")(1), 5);
  EXPECT_THAT(entered, ElementsAre(0, 0));
}

TEST_F(EntriesTest, AnObjectCanBeNamed)
{
  EXPECT_THAT(take_over({{"subject_adds", "libelsewhere.so", {}}}), IsEmpty());
  EXPECT_EQ(function<int(int, int)>("subject_adds")(6, 7), 49);
  EXPECT_THAT(entered, IsEmpty());
  EXPECT_FALSE(entries_->is_there(0));
}

TEST_F(EntriesTest, ATakeOverAgainFindsNothingNew)
{
  EXPECT_THAT(take_over({{"subject_adds", "", {}}, {"subject_loops", "", {}}}), testing::SizeIs(1));
  EXPECT_THAT(entries_->take_over(_r_debug, objects()), IsEmpty());
  EXPECT_EQ(function<int(int, int)>("subject_adds")(6, 7), 49);
  EXPECT_THAT(entered, ElementsAre(0));
  EXPECT_THAT(entries_->take_descriptors(), testing::SizeIs(1));
  EXPECT_THAT(entries_->take_descriptors(), IsEmpty());
}

TEST_F(EntriesTest, FunctionsThatTheLinkerChoosesAreRefused)
{
  const auto wrong = take_over({{"strlen", "libc.so.6", {}}});
  ASSERT_EQ(wrong.size(), 1U);
  EXPECT_THAT(wrong[0], HasSubstr("IFUNC"));
}

TEST_F(EntriesTest, StaticFunctionsOfOneNameAreRefusedAndToldByAddress)
{
  const auto wrong = take_over({{"twice", "", {}}});
  ASSERT_EQ(wrong.size(), 1U);
  EXPECT_THAT(wrong[0], testing::AllOf(HasSubstr("twice: expected one function of that name in "),
                                       HasSubstr("got several, at 0x"), HasSubstr("at: libentries_subject.so+0x")));
  const auto symbols = find_functions(SUBJECT, {"twice"});
  ASSERT_EQ(symbols.size(), 2U);
  EXPECT_TRUE(symbols[0].is_static);
}

TEST_F(EntriesTest, NamesAreKnownForSuggestions)
{
  take_over({{"subject_adds", "", {}}});
  EXPECT_THAT(entries_->known_names(), testing::IsSupersetOf({"subject_adds", "hidden", "subject_nothing"}));
}

TEST(FunctionSymbolsTest, AllOfThemByAddress)
{
  const auto all = all_functions(SUBJECT);
  EXPECT_TRUE(std::ranges::is_sorted(all, {}, &FunctionSymbol::address));
  EXPECT_EQ(std::ranges::adjacent_find(all, {}, &FunctionSymbol::address), all.end());
  for (const char* name : {"subject_adds", "hidden", "twice"})
    EXPECT_NE(std::ranges::find(all, name, &FunctionSymbol::name), all.end()) << name;
  const auto adds = find_functions(SUBJECT, {"subject_adds"});
  const auto found = std::ranges::find(all, "subject_adds", &FunctionSymbol::name);
  EXPECT_EQ(found->address, adds.at(0).address);
  EXPECT_EQ(found->bytes, adds.at(0).bytes);
}

TEST(FunctionSymbolsTest, WhatIsNoObjectHasNone)
{
  EXPECT_THAT(find_functions("/nowhere", {"main"}), IsEmpty());
  EXPECT_THAT(find_functions("/etc/passwd", {"main"}), IsEmpty());
  EXPECT_THAT(function_names("/etc/passwd"), IsEmpty());
  EXPECT_THAT(all_functions("/etc/passwd"), IsEmpty());
}

} // namespace
} // namespace umwelt::entries
