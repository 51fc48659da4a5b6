// SPDX-License-Identifier: LGPL-2.1-or-later
#include "library.h"

#include <cstdio>

int library_counter = 100;
__thread int library_thread = 1000;

static int constructed = 0;
static int frames = 0;
static int rank = -1;

namespace
{
struct Frame {
  ~Frame() { ++frames; }
};
} // namespace

LibraryError::~LibraryError() = default;

__attribute__((constructor)) static void construct()
{
  ++constructed;
}

__attribute__((destructor)) static void destroy()
{
  std::printf("[%d] destructor function of the library\n", rank);
  std::fflush(stdout);
}

int library_constructed()
{
  return constructed;
}
int library_destroyed_frames()
{
  return frames;
}
void library_set_rank(int given)
{
  rank = given;
}
int library_bump()
{
  return ++library_counter + ++library_thread;
}

void library_call(int depth, void (*callback)(int))
{
  const Frame frame;
  if (depth == 0) {
    throw LibraryError("thrown in the library", 42);
  }
  callback(depth - 1);
}
