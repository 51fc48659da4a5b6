// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/plan/needed_calls.h"

#include <gmock/gmock.h>

namespace umwelt::plan
{
namespace
{

using testing::AllOf;
using testing::HasSubstr;

// tests/runtime/launch/sandbox.sh has them refused.
TEST(NeededCalls, AreAllowedHere)
{
  EXPECT_THAT(refused_calls(), testing::IsEmpty());
}

TEST(NeededCalls, AllThatAreRefusedAreNamedWithWhatToDo)
{
  EXPECT_THAT(refused_calls_text({"memfd_create(2), memory: no", "eventfd(2), output: no"}),
              AllOf(HasSubstr("memfd_create(2), memory: no\n  eventfd(2), output: no\n"), HasSubstr("seccomp")));
}

} // namespace
} // namespace umwelt::plan
