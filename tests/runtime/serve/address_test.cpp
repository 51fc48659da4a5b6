// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/serve/address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/base/usage_error.h"

namespace umwelt::serve
{
namespace
{

using testing::HasSubstr;

std::string error_of(const char* text)
{
  try {
    parse_address("--serve", text);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "none";
}

TEST(ServeAddress, WithoutOneIsAFreePortOfThisMachineAlone)
{
  EXPECT_EQ(parse_address("--serve", "").host, "127.0.0.1");
  EXPECT_EQ(parse_address("--serve", "").port, 0);
}

TEST(ServeAddress, HasHostAndPort)
{
  EXPECT_EQ(parse_address("--serve", "10.0.0.7:8080").host, "10.0.0.7");
  EXPECT_EQ(parse_address("--serve", "10.0.0.7:8080").port, 8080);
  EXPECT_EQ(parse_address("--serve", "[::1]:0").host, "::1");
  EXPECT_EQ(parse_address("--serve", "localhost:1").host, "127.0.0.1");
}

TEST(ServeAddress, BadOnesAreRefused)
{
  EXPECT_THAT(error_of("8080"), HasSubstr("expected ADDR:PORT, got '8080'"));
  EXPECT_THAT(error_of("127.0.0.1:70000"), HasSubstr("a port"));
  EXPECT_THAT(error_of("node7:80"), HasSubstr("expected an address as numbers, got 'node7'"));
}

TEST(ServeAddress, APortThatIsTakenIsRefused)
{
  Address first = parse_address("--serve", "");
  const Descriptor taken = listen_at(first);
  EXPECT_NE(first.port, 0);
  Address second = first;
  EXPECT_THROW(listen_at(second), UsageError);
}

TEST(ServeAddress, UrlHasTheToken)
{
  EXPECT_EQ(url_of({"127.0.0.1", 81}, "abc"), "http://127.0.0.1:81/abc/");
  EXPECT_EQ(url_of({"::1", 81}, "abc"), "http://[::1]:81/abc/");
}

} // namespace
} // namespace umwelt::serve
