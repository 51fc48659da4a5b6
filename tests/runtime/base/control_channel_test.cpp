// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/base/control_channel.h"

#include <atomic>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>

#include <gtest/gtest.h>
#include <unistd.h>

namespace umwelt
{
namespace
{

TEST(ControlChannel, AnswersWhatItIsAsked)
{
  ControlServer server;
  std::atomic<bool> over = false;
  std::thread run([&] {
    while (!over)
      server.serve([](const std::string& request) { return "ok " + request; });
  });
  EXPECT_EQ(ask_run(getpid(), "status", 10), "ok status");
  const std::string largest(ControlServer::longest - 3, 'x');
  EXPECT_EQ(ask_run(getpid(), largest, 10), "ok " + largest);
  over = true;
  run.join();
}

TEST(ControlChannel, WithoutAServerThereIsNoRun)
{
  EXPECT_THROW(ask_run(getpid(), "status", 1), std::runtime_error);
}

TEST(ControlChannel, OneThatDoesNotAnswerIsNotWaitedForForEver)
{
  const ControlServer silent;
  EXPECT_THROW(ask_run(getpid(), "status", 0), std::runtime_error);
}

TEST(ControlChannel, IsGoneWithItsServer)
{
  {
    const ControlServer server;
  }
  const ControlServer again; // the name is free
  EXPECT_THROW(ControlServer(), std::system_error);
}

} // namespace
} // namespace umwelt
