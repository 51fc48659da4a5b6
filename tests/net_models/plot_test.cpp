// SPDX-License-Identifier: LGPL-2.1-or-later
#include "net_models/calibration/plot.h"

#include <cstdlib>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace umwelt::net
{
namespace
{

using testing::HasSubstr;

const Figure figure{"put \"waitack\"", {{0, 1}, {8, 2}, {64, 4}}, {{"fit", {{0, 1}, {8, 2.2}, {64, 4}}}}};

TEST(Plot, TheScriptHoldsTheData)
{
  const std::string script = gnuplot_script(figure);
  EXPECT_THAT(script, HasSubstr("$measured << EOD\n8 2 0.000\n64 4 0.000\nEOD\n"));
  EXPECT_THAT(script, HasSubstr("$predicted0 << EOD\n8 2.2 10.000\n64 4 0.000\nEOD\n"));
  EXPECT_THAT(script, HasSubstr("set title \"put \\\"waitack\\\"\""));
}

TEST(Plot, TheSameInputGivesTheSameFile)
{
  const std::string once = draw(figure);
  EXPECT_THAT(once, testing::AllOf(HasSubstr("<svg"), HasSubstr("measured"), HasSubstr("% off")));
  EXPECT_EQ(once, draw(figure));
}

TEST(Plot, WithoutGnuplotItSaysWhatToInstall)
{
  const std::string path = std::getenv("PATH");
  setenv("PATH", "/no/such/directory", 1);
  std::string message;
  try {
    draw(figure);
  } catch (const std::runtime_error& error) {
    message = error.what();
  }
  setenv("PATH", path.c_str(), 1);
  EXPECT_THAT(message, HasSubstr("gnuplot-nox"));
}

} // namespace
} // namespace umwelt::net
