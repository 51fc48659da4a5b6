// SPDX-License-Identifier: LGPL-2.1-or-later
// Four threads of each rank send to the next and receive from the one before, and all poll under one lock, which each
// gives up between two looks for a moment only, as threads in MPICH do. What a thread sends next waits for that lock,
// too: with --cpu none, those that want it have to get it, or nobody gets on but by the little time that is let pass
// after each 10,000 calls.
#include "world.h"

enum { THREADS = 4, ROUNDS = 40 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool sent[THREADS], received[THREADS];

// With the lock held: what has come is noted for the thread that it is for.
static void look(struct fid_cq* queue, bool* noted)
{
  struct fi_cq_tagged_entry entry;
  const ssize_t got = fi_cq_read(queue, &entry, 1);
  CHECK(got == 1 || got == -FI_EAGAIN);
  if (got == 1)
    noted[(intptr_t)((struct fi_context*)entry.op_context)->internal[0]] = true;
}

static void wait_for(bool* noted, int me)
{
  while (!noted[me]) {
    look(receives, received);
    look(sends, sent);
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
  }
  noted[me] = false;
}

static void send_one(struct fi_context* context, long* value, int me)
{
  ssize_t code;
  context->internal[0] = (void*)(intptr_t)me;
  while ((code = fi_tsend(endpoint, value, sizeof *value, NULL, peers[(rank + 1) % size], (uint64_t)me, context)) ==
         -FI_EAGAIN)
    look(sends, sent);
  OK(code);
  wait_for(sent, me);
}

static void receive_one(struct fi_context* context, long* value, int me)
{
  context->internal[0] = (void*)(intptr_t)me;
  OK(fi_trecv(endpoint, value, sizeof *value, NULL, FI_ADDR_UNSPEC, (uint64_t)me, 0, context));
  wait_for(received, me);
}

static void* exchange(void* argument)
{
  const int me = (int)(intptr_t)argument;
  struct fi_context context = {0};
  pthread_mutex_lock(&lock);
  for (int round = 0; round < ROUNDS; ++round) {
    long mine = rank * 100000 + me * 1000 + round, other = 0;
    if (rank == 0)
      send_one(&context, &mine, me);
    receive_one(&context, &other, me);
    if (rank != 0)
      send_one(&context, &mine, me);
    CHECK(other == (rank + size - 1) % size * 100000 + me * 1000 + round);
  }
  pthread_mutex_unlock(&lock);
  return NULL;
}

int main(int argc, char** argv)
{
  open_world(&argc, &argv, FI_TAGGED, FI_WAIT_NONE);
  enable_world();
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  pthread_t threads[THREADS];
  for (intptr_t i = 0; i < THREADS; ++i)
    CHECK(pthread_create(&threads[i], NULL, exchange, (void*)i) == 0);
  for (int i = 0; i < THREADS; ++i)
    CHECK(pthread_join(threads[i], NULL) == 0);
  const double seconds = MPI_Wtime() - begin;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0)
    printf("all messages, %s\n", seconds < 0.02 ? "in time" : "late");
  close_world();
  return 0;
}
