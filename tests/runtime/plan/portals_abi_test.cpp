// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/plan/portals_abi.h"

#include <gmock/gmock.h>

#include "runtime/base/usage_error.h"

namespace umwelt::plan
{
namespace
{

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

PortalsObject object(std::string path, std::string library, std::vector<std::string> calls = {}, bool has_note = false)
{
  calls.insert(calls.end(), {"PtlInit", "PtlPut"});
  return {std::move(path), std::move(calls), std::move(library), has_note};
}

std::string refusal(const std::vector<PortalsObject>& objects)
{
  try {
    (void)choose_portals_abi(objects, std::nullopt);
  } catch (const loader::Refusal& refused) {
    return refused.what();
  }
  return "no refusal";
}

TEST(PortalsAbi, IsFoundInWhatTheProgramTells)
{
  struct Case {
    PortalsObject program;
    PortalsAbi abi;
  };
  for (const Case& each : std::vector<Case>{
           {object("a", "libportals.so.4", {}, true), PortalsAbi::four_three},
           {object("a", "libportals.so.1", {}, true), PortalsAbi::four_three},
           {object("a", "libportals.so.4", {"PtlAbort"}), PortalsAbi::four_three},
           {object("a", "libportals.so.1"), PortalsAbi::bxi},
           {object("a", "libportals.so"), PortalsAbi::bxi},
           {object("a", "libportals.so.4", {"PtlPutNB"}), PortalsAbi::bxi},
           {object("a", "", {"PtlActivateHookAdd"}), PortalsAbi::bxi},
           {object("a", "libportals.so.4", {"PtlNIAtomicSync"}), PortalsAbi::bxi},
           {object("a", "libportals.so.4", {"PtlNIAtomicSync"}, true), PortalsAbi::four_three},
       }) {
    const PortalsChoice choice = choose_portals_abi(std::vector{each.program}, std::nullopt);
    EXPECT_EQ(choice.abi, each.abi) << each.program.library;
    EXPECT_THAT(choice.note, IsEmpty());
  }
}

TEST(PortalsAbi, OfAProgramThatDoesNotCallPortalsIsTheShims)
{
  EXPECT_EQ(choose_portals_abi({}, std::nullopt).abi, PortalsAbi::four_three);
  EXPECT_EQ(choose_portals_abi({}, PortalsAbi::bxi).abi, PortalsAbi::bxi); // it opens what does
}

TEST(PortalsAbi, ThatIsOpenIsTakenFor43AndSaidSo)
{
  const std::vector objects{object("/a/app", "libportals.so.4")};
  const PortalsChoice choice = choose_portals_abi(objects, std::nullopt);
  EXPECT_EQ(choice.abi, PortalsAbi::four_three);
  EXPECT_THAT(choice.note, AllOf(HasSubstr("/a/app"), HasSubstr("--portals-abi 4.2")));
  for (const PortalsAbi wanted : {PortalsAbi::four_two, PortalsAbi::four_three, PortalsAbi::bxi}) {
    EXPECT_EQ(choose_portals_abi(objects, wanted).abi, wanted);
    EXPECT_THAT(choose_portals_abi(objects, wanted).note, IsEmpty());
  }
}

TEST(PortalsAbi, ThatIsOpenIsTheOneOfTheOthers)
{
  const PortalsChoice choice = choose_portals_abi(
      std::vector{object("app", "libportals.so.4"), object("lib", "libportals.so.4", {}, true)}, std::nullopt);
  EXPECT_EQ(choice.abi, PortalsAbi::four_three);
  EXPECT_THAT(choice.note, IsEmpty());
}

TEST(PortalsAbi, TwoOfThemAreRefused)
{
  EXPECT_THAT(refusal({object("/a/app", "libportals.so.1"), object("/b/libmpi.so", "libportals.so.4", {}, true)}),
              AllOf(HasSubstr("/b/libmpi.so: expected the Portals ABI of /a/app (bxi: linked against libportals.so.1)"),
                    HasSubstr("got 4.3 (compiled with Umwelt's portals4.h)"), HasSubstr("Next step")));
  EXPECT_THAT(refusal({object("/b/libmpi.so", "libportals.so.4"), object("/a/app", "libportals.so.1")}),
              HasSubstr("/b/libmpi.so: expected the Portals ABI of /a/app (bxi"));
}

TEST(PortalsAbi, FunctionsOfTwoInOneObjectAreRefused)
{
  EXPECT_THAT(refusal({object("app", "libportals.so.4", {"PtlAbort", "PtlPutNB"})}),
              HasSubstr("got PtlPutNB of BXI beside PtlAbort of 4.3"));
  EXPECT_THAT(refusal({object("app", "libportals.so.4", {"PtlPutNB"}, true)}),
              HasSubstr("got PtlPutNB of BXI beside Umwelt's own portals4.h"));
}

TEST(PortalsAbi, OthersAreRefused)
{
  EXPECT_THAT(refusal({object("app", "libportals.so.4", {"PtlGetJid"})}),
              HasSubstr("got PtlGetJid, a function of Portals 4.0"));
  EXPECT_THAT(refusal({object("app", "libportals.so.3", {"PtlMsgPut"})}), HasSubstr("of BXI version 3"));
}

TEST(PortalsAbi, ThatTheUserNamesCountsUnlessItIsAnotherForCertain)
{
  const auto choose = [](const PortalsObject& program, PortalsAbi wanted) {
    return choose_portals_abi(std::vector{program}, wanted).abi;
  };
  EXPECT_EQ(choose(object("app", "libportals.so.1"), PortalsAbi::four_two), PortalsAbi::four_two);
  EXPECT_THROW(choose(object("app", "libportals.so.4", {}, true), PortalsAbi::four_two), UsageError);
  EXPECT_THROW(choose(object("app", "libportals.so.1", {"PtlPutNB"}), PortalsAbi::four_three), UsageError);
}

TEST(PortalsAbi, IsRead)
{
  EXPECT_EQ(parse_portals_abi("--portals-abi", "auto"), std::nullopt);
  for (const PortalsAbi abi : {PortalsAbi::four_three, PortalsAbi::four_two, PortalsAbi::bxi})
    EXPECT_EQ(parse_portals_abi("--portals-abi", name_of(abi)), abi);
  try {
    (void)parse_portals_abi("--portals-abi", "4.1");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("expected auto, 4.3, 4.2 or bxi"), HasSubstr("4.1")));
  }
}

} // namespace
} // namespace umwelt::plan
