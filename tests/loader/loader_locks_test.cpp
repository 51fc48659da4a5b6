// SPDX-License-Identifier: LGPL-2.1-or-later
#include "loader/loader_locks.h"

#include <utility>

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

TEST(LoaderLocks, AMutexIsHeldBeforeItHasAnOwner)
{
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  EXPECT_FALSE(umwelt::loader::may_be_held_by(mutex, gettid()));
  pthread_mutex_lock(&mutex);
  EXPECT_TRUE(umwelt::loader::may_be_held_by(mutex, gettid()));
  EXPECT_FALSE(umwelt::loader::may_be_held_by(mutex, gettid() + 1));
  const int owner = std::exchange(mutex.__data.__owner, 0);
  EXPECT_TRUE(umwelt::loader::may_be_held_by(mutex, gettid()));
  mutex.__data.__owner = owner;
  pthread_mutex_unlock(&mutex);
  EXPECT_FALSE(umwelt::loader::may_be_held_by(mutex, gettid()));
}
