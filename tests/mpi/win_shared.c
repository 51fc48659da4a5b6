/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Windows of memory that ranks of a node share: loads and stores, MPI_Win_sync, MPI_Win_shared_query, flags that are
 * looked at without any call, atomics. What is printed does not depend on how many ranks a node has. win_shared all of
 * it win_shared apart  a shared window over ranks of several nodes is refused (not for native use: this machine is one
 * node) */
#include "check.h"

enum { items = 100, turns = 50 };
static MPI_Comm node;
static int local, locals;

/* Every rank of the job knows by its name whether another is on its node. */
static void who_is_there(void)
{
  char own[MPI_MAX_PROCESSOR_NAME] = "";
  int length, here = 0;
  MPI_Get_processor_name(own, &length);
  char* names = malloc((size_t)world_size * MPI_MAX_PROCESSOR_NAME);
  MPI_Allgather(own, MPI_MAX_PROCESSOR_NAME, MPI_CHAR, names, MPI_MAX_PROCESSOR_NAME, MPI_CHAR, MPI_COMM_WORLD);
  for (int i = 0; i < world_size; ++i)
    here += strcmp(names + i * MPI_MAX_PROCESSOR_NAME, own) == 0;
  free(names);
  CHECK_EQ(here, locals);
}

static void contents(MPI_Info info)
{
  int* own;
  MPI_Win window;
  MPI_Win_allocate_shared(items * sizeof(int), sizeof(int), info, node, &own, &window);
  MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
  for (int i = 0; i < items; ++i)
    own[i] = 1000 * local + i;
  MPI_Win_sync(window);
  MPI_Barrier(node);
  MPI_Win_sync(window);
  int wrong = 0;
  MPI_Aint bytes;
  int unit, *theirs;
  for (int other = 0; other < locals; ++other) {
    MPI_Win_shared_query(window, other, &bytes, &unit, &theirs);
    wrong += bytes < items * (MPI_Aint)sizeof(int) || unit != sizeof(int); /* more, if rounded up to pages */
    for (int i = 0; i < items; ++i)
      wrong += theirs[i] != 1000 * other + i;
  }
  CHECK_EQ(wrong, 0);
  MPI_Win_shared_query(window, MPI_PROC_NULL, &bytes, &unit, &theirs);
  CHECK_EQ(theirs[1], 1);
  MPI_Barrier(node);
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
}

/* A token goes round; who waits for it looks at memory only. */
static void flags(void)
{
  volatile int* flag;
  MPI_Win window;
  MPI_Aint bytes;
  int unit;
  MPI_Win_allocate_shared(local == 0 ? 64 : 0, 1, MPI_INFO_NULL, node, (void*)&flag, &window);
  MPI_Win_shared_query(window, 0, &bytes, &unit, (void*)&flag);
  if (local == 0)
    *flag = 0;
  MPI_Barrier(node);
  MPI_Win_lock_all(0, window);
  for (int turn = 0; turn < turns; ++turn) {
    while (*flag != turn * locals + local)
      MPI_Win_sync(window);
    *flag = *flag + 1;
    MPI_Win_sync(window);
  }
  MPI_Barrier(node);
  CHECK_EQ(*flag, turns * locals);
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
}

static void atomics(void)
{
  long *counter, one = 1, before = -1;
  MPI_Win window;
  MPI_Win_allocate_shared(sizeof(long), sizeof(long), MPI_INFO_NULL, node, &counter, &window);
  *counter = 0;
  MPI_Win_fence(0, window);
  for (int turn = 0; turn < turns; ++turn) {
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
    MPI_Fetch_and_op(&one, &before, MPI_LONG, 0, 0, MPI_SUM, window);
    MPI_Win_unlock(0, window);
  }
  for (int turn = 0; turn < turns; ++turn) {
    long now = 0;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
    MPI_Get(&now, 1, MPI_LONG, 0, 0, 1, MPI_LONG, window);
    MPI_Win_flush(0, window);
    ++now;
    MPI_Put(&now, 1, MPI_LONG, 0, 0, 1, MPI_LONG, window);
    MPI_Win_unlock(0, window);
  }
  MPI_Win_fence(0, window);
  CHECK_EQ(*counter, local == 0 ? 2L * turns * locals : 0);
  MPI_Win_free(&window);
}

/* It needs memory that all can reach. */
static void refusal(void)
{
  int* memory;
  MPI_Win window;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  CHECK(MPI_Win_allocate_shared(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window) != MPI_SUCCESS);
  CHECK(locals < world_size);
}

int main(int argc, char** argv)
{
  begin(&argc, &argv);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_rank(node, &local);
  MPI_Comm_size(node, &locals);
  who_is_there();
  if (argc > 1) {
    refusal();
  } else {
    MPI_Info apart;
    MPI_Info_create(&apart);
    MPI_Info_set(apart, "alloc_shared_noncontig", "true");
    contents(MPI_INFO_NULL);
    contents(apart);
    MPI_Info_free(&apart);
    flags();
    atomics();
  }
  MPI_Comm_free(&node);
  return finish();
}
