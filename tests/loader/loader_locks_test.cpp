// SPDX-License-Identifier: LGPL-2.1-or-later
#include "loader/loader_locks.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <gtest/gtest.h>

using umwelt::loader::LoaderLocks;

TEST(LoaderLocks, AreFound)
{
  EXPECT_TRUE(LoaderLocks().found());
}

TEST(LoaderLocks, AreHeldWhileObjectsAreWalkedThrough)
{
  struct Seen {
    const LoaderLocks locks;
    bool held = false;
    bool by_another = true;
  } seen;
  EXPECT_FALSE(seen.locks.held_by(gettid()));
  dl_iterate_phdr(
      [](dl_phdr_info*, std::size_t, void* argument) {
        auto* s = static_cast<Seen*>(argument);
        s->held = s->locks.held_by(gettid());
        s->by_another = s->locks.held_by(gettid() + 1);
        return 1;
      },
      &seen);
  EXPECT_TRUE(seen.held);
  EXPECT_FALSE(seen.by_another);
  EXPECT_FALSE(seen.locks.held_by(gettid()));
}
