// SPDX-License-Identifier: LGPL-2.1-or-later
#include "platforms/xml_profiles.h"

#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace umwelt::platform
{
namespace
{

TEST(XmlProfiles, WithoutThemTheTextIsTheSame)
{
  for (const std::string text : {"", "hello", "<link id='a' state_file='", "<link id='a'/><link id=b", "<!-- <",
                                 "<platform><link id=\"a\" bandwidth_file=\"f\"/><host id=\"b\" state_file=\"f\"/>"}) {
    EXPECT_EQ(take_link_profiles(text).text, text);
    EXPECT_TRUE(take_link_profiles(text).profiles.empty());
  }
}

TEST(XmlProfiles, StateFilesAreTakenOut)
{
  const XmlText taken =
      take_link_profiles("<link id='x &amp; y'\n  state_file = \"f.txt\" latency='1us'/>\n<link id='z'/>");
  EXPECT_EQ(taken.text, "<link id='x &amp; y'\n                       latency='1us'/>\n<link id='z'/>");
  ASSERT_EQ(taken.profiles.size(), 1U);
  EXPECT_EQ(taken.profiles[0].link, "x & y");
  EXPECT_EQ(taken.profiles[0].file, "f.txt");
}

TEST(XmlProfiles, OfCommentsAndDeclarationsNothing)
{
  const std::string text = "<?xml version='1.0'?><!DOCTYPE platform [<!ENTITY e '<link state_file=\"f\"/>'>]>"
                           "<!-- <link id='a' state_file='f'/> --><![CDATA[<link id='a' state_file='f'/>]]>";
  EXPECT_TRUE(take_link_profiles(text).profiles.empty());
}

TEST(XmlProfiles, TracesThatAreConnected)
{
  const XmlText taken = take_link_profiles("<trace id='t' periodicity='2.5'>\n0 1\n<![CDATA[1 0]]>\n</trace>"
                                           "<trace id='u' periodicity='0' file='u.txt'></trace>"
                                           "<trace_connect kind='LINK_AVAIL' trace='t' element='a'/>"
                                           "<trace_connect kind='LINK_AVAIL' trace='u' element='b'></trace_connect>"
                                           "<trace_connect kind='LATENCY' trace='u' element='c'/>");
  ASSERT_EQ(taken.profiles.size(), 2U);
  EXPECT_EQ(taken.profiles[0].link, "a");
  EXPECT_EQ(taken.profiles[0].text, "\n0 1\n1 0\n");
  EXPECT_EQ(taken.profiles[0].periodicity, 2.5);
  EXPECT_EQ(taken.profiles[1].link, "b");
  EXPECT_EQ(taken.profiles[1].file, "u.txt");
  EXPECT_LT(taken.profiles[1].periodicity, 0);
  EXPECT_EQ(taken.text.find("LINK_AVAIL"), std::string::npos);
  EXPECT_THAT(taken.text, testing::EndsWith("<trace_connect kind='LATENCY' trace='u' element='c'/>"));
  EXPECT_THROW(take_link_profiles("<trace_connect kind='LINK_AVAIL' trace='t' element='a'/>"), std::invalid_argument);
}

} // namespace
} // namespace umwelt::platform
