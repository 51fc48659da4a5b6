// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/serve/request_checks.h"

#include <gtest/gtest.h>

namespace umwelt::serve
{
namespace
{

constexpr const char* token = "0123456789abcdef0123456789abcdef";

TEST(RequestChecks, TextsAreTheSameOrNot)
{
  EXPECT_TRUE(same_text("abc", "abc"));
  for (const char* other : {"", "ab", "abcd", "abd", "xbc", "abcabc"})
    EXPECT_FALSE(same_text("abc", other)) << other;
  EXPECT_FALSE(same_text("", "a"));
}

TEST(RequestChecks, HostsThatNobodyElseCanPointHereAreTrusted)
{
  for (const char* host : {"127.0.0.1", "127.0.0.1:8080", "localhost:1", "LOCALHOST", "[::1]:80", "[::1]", "node7:80",
                           "Node7", "10.1.2.3:4"})
    EXPECT_TRUE(is_trusted_host(host, "node7")) << host;
  for (const char* host : {"", "evil.example", "evil.example:8080", "127.0.0.1.evil.example", "127.0.0.1:", "[::1",
                           "[::1]x:80", "127.0.0.1:80x", "localhost@evil", "[evil]:80", "node8", ":80"})
    EXPECT_FALSE(is_trusted_host(host, "node7")) << host;
  EXPECT_FALSE(is_trusted_host("", ""));
}

TEST(RequestChecks, OriginIsThatOfThePage)
{
  EXPECT_TRUE(is_same_origin("", "127.0.0.1:80"));
  EXPECT_TRUE(is_same_origin("http://127.0.0.1:80", "127.0.0.1:80"));
  for (const char* origin : {"null", "http://evil.example", "https://127.0.0.1:80", "http://127.0.0.1:81"})
    EXPECT_FALSE(is_same_origin(origin, "127.0.0.1:80")) << origin;
}

TEST(RequestChecks, ThereIsNothingWithoutTheToken)
{
  const std::string known = std::string("/") + token;
  EXPECT_EQ(resource_at(known + "/", token), Resource::page);
  EXPECT_EQ(resource_at(known + "/state.json", token), Resource::state);
  EXPECT_EQ(resource_at(known + "/stop", token), Resource::stop);
  for (const std::string& path :
       {std::string(), std::string("/"), known, known + "/x", known + "/../state.json", known + "x/",
        "/" + std::string(32, '0') + "/", std::string("/state.json"), std::string("/../../etc/passwd"), known + "//"})
    EXPECT_EQ(resource_at(path, token), Resource::none) << path;
  EXPECT_EQ(resource_at("//", ""), Resource::none);
}

} // namespace
} // namespace umwelt::serve
