// SPDX-License-Identifier: LGPL-2.1-or-later
// What a request carries behind each pointer of its arguments is said somewhere, for every operation there is.
#include <set>
#include <string>
#include <type_traits>

#include <gtest/gtest.h>

#include "tests/runtime/worker/operation_rows.h"

namespace umwelt::worker::test
{
namespace
{

// Rows of extents.def name arguments that exist and are pointers.
#define UMW_EXTENT(call, argument, elements, back)                                                                     \
  static_assert(std::is_pointer_v<decltype(umw_args_##call::argument)>);
#define UMW_OPAQUE(call, argument) UMW_EXTENT(call, argument, , )
#include "runtime/worker/extents.def"
#undef UMW_EXTENT
#undef UMW_OPAQUE

#define UMW_EXTENT(call, argument, elements, back) std::string(#call) + "." + #argument,
#define UMW_OPAQUE(call, argument) std::string(#call) + "." + #argument,
const std::set<std::string> in_extents{
#include "runtime/worker/extents.def"
};
#undef UMW_EXTENT
#undef UMW_OPAQUE

// Addresses that mean something to the rank alone, in whatever call.
const std::set<std::string> opaque{
    "const void* context",     // of umw_die, which is answered in the rank's process
    "const void* information", // likewise
    "void* argument",          // of a new thread
    "void* user_ptr",          // Portals 4.3, 3.13: comes back in events
};

TEST(Extents, OfEveryPointerAreKnown)
{
  for (const Operation& operation : operations())
    for (const Member& member : operation.members) {
      const auto known =
          in_extents.count(operation.place(member)) + to_one_object.count(member.what) + opaque.count(member.what);
      if (member.kind == Kind::object) {
        EXPECT_EQ(known, 1U) << operation.place(member) << " (" << member.what
                             << "): one object of its type, opaque, or a row of runtime/worker/extents.def";
      }
    }
}

TEST(Extents, ListsNameNothingThatIsGone)
{
  std::set<std::string> there;
  for (const Operation& operation : operations())
    for (const Member& member : operation.members)
      there.insert(member.what);
  for (const auto* list : {&to_one_object, &opaque})
    for (const std::string& what : *list)
      EXPECT_TRUE(there.contains(what)) << what;
}

TEST(Extents, AreLookedAtForEveryOperation)
{
  EXPECT_EQ(operations().size(), static_cast<std::size_t>(UMW_OP_COUNT));
}

} // namespace
} // namespace umwelt::worker::test
