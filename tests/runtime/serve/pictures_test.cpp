// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/serve/pictures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace umwelt::serve
{
namespace
{

using testing::HasSubstr;
using testing::Not;

TEST(Pictures, BeforeTheRunHasToldAnythingItStarts)
{
  Pictures pictures("n0");
  EXPECT_THAT(pictures.state(), HasSubstr("\"now\":{\"state\":\"starting\"}"));
  EXPECT_THAT(pictures.page(), HasSubstr("starting"));
}

TEST(Pictures, EveryScriptThatRunsHasTheNonce)
{
  Pictures pictures("n0");
  EXPECT_THAT(pictures.page(), HasSubstr("<script nonce=\"n0\">"));
  EXPECT_THAT(pictures.page(), Not(HasSubstr("<script>")));
}

TEST(Pictures, AStateTakesThePlaceOfTheOneBefore)
{
  Pictures pictures("n0");
  EXPECT_TRUE(pictures.take(R"({"now": {"state": "running"}, "report": {"programs": ["./<b>app"], "nodes": 2}})"));
  EXPECT_THAT(pictures.state(), HasSubstr("\"name\":\"./<b>app\""));
  EXPECT_THAT(pictures.page(), HasSubstr("./\\u003cb>app"));
  EXPECT_TRUE(pictures.take(R"({"now": {"state": "ended"}, "report": {}})"));
  EXPECT_THAT(pictures.state(), HasSubstr("\"ended\""));
  EXPECT_THAT(pictures.state(), HasSubstr("\"name\":\"run\""));
}

TEST(Pictures, WhatIsNoneChangesNothing)
{
  Pictures pictures("n0");
  for (const char* text : {"", "{", "[]", "{\"now\": {}}", "7"})
    EXPECT_FALSE(pictures.take(text)) << text;
  EXPECT_THAT(pictures.state(), HasSubstr("starting"));
}

} // namespace
} // namespace umwelt::serve
