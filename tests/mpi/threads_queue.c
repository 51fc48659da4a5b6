/* SPDX-License-Identifier: LGPL-2.1-or-later
 * MPI_THREAD_FUNNELED with lock-free queues: workers hand their messages to the main thread through a ring that many
 * write to, and get what arrives through a ring each. All of them spin. */
#include "check.h"

#include <pthread.h>
#include <stdatomic.h>

enum { workers = 3, messages_per_rank = 20, at_once = 4, places = 16 };

struct message {
  int rank; /* to, then from */
  int worker;
  long value;
};

/* Each place says whose turn it is (Vyukov's bounded queue). */
struct ring {
  struct place {
    atomic_size_t turn;
    struct message message;
  } places[places];
  atomic_size_t tail;
  size_t head; /* the one reader's */
};

static struct ring outgoing, incoming[workers];
static long sums[workers], expected_sum;
static int out_of_order[workers];

static void set_up(struct ring* ring)
{
  for (size_t i = 0; i < places; ++i)
    atomic_init(&ring->places[i].turn, i);
}

static void push(struct ring* ring, struct message message)
{
  const size_t mine = atomic_fetch_add(&ring->tail, 1);
  struct place* place = &ring->places[mine % places];
  while (atomic_load_explicit(&place->turn, memory_order_acquire) != mine)
    __builtin_ia32_pause();
  place->message = message;
  atomic_store_explicit(&place->turn, mine + 1, memory_order_release);
}

static int try_pop(struct ring* ring, struct message* message)
{
  struct place* place = &ring->places[ring->head % places];
  if (atomic_load_explicit(&place->turn, memory_order_acquire) != ring->head + 1)
    return 0;
  *message = place->message;
  atomic_store_explicit(&place->turn, ring->head + places, memory_order_release);
  ++ring->head;
  return 1;
}

static long value_of(int rank, int worker, int number)
{
  return rank * 1000000L + worker * 10000L + number;
}

/* Sends to all ranks in turn and receives as many, from each rank in its order. Few at a time: the main thread must
 * never find a ring full whose reader waits for it. */
static void* work(void* argument)
{
  const int me = *(const int*)argument;
  int* next = calloc((size_t)world_size, sizeof *next);
  for (int first = 0; first < messages_per_rank * world_size; first += at_once) {
    for (int i = first; i < first + at_once; ++i)
      push(&outgoing, (struct message){(world_rank + i) % world_size, me, value_of(world_rank, me, i / world_size)});
    for (int i = 0; i < at_once; ++i) {
      struct message message;
      while (!try_pop(&incoming[me], &message))
        __builtin_ia32_pause();
      out_of_order[me] += message.value != value_of(message.rank, me, next[message.rank]++);
      sums[me] += message.value;
    }
  }
  free(next);
  return NULL;
}

int main(int argc, char** argv)
{
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  CHECK(provided >= MPI_THREAD_FUNNELED);
  set_up(&outgoing);
  for (int i = 0; i < workers; ++i)
    set_up(&incoming[i]);
  const int total = workers * messages_per_rank * world_size;
  MPI_Request* requests = malloc((size_t)total * sizeof(MPI_Request));
  struct message* sent = malloc((size_t)total * sizeof *sent);
  pthread_t ids[workers];
  int numbers[workers];
  for (int i = 0; i < workers; ++i) {
    numbers[i] = i;
    CHECK_EQ(pthread_create(&ids[i], NULL, work, &numbers[i]), 0);
  }
  for (int out = 0, in = 0; out < total || in < total;) {
    if (out < total && try_pop(&outgoing, &sent[out])) {
      MPI_Isend(&sent[out].value, 1, MPI_LONG, sent[out].rank, sent[out].worker, MPI_COMM_WORLD, &requests[out]);
      ++out;
    }
    int arrived = 0;
    MPI_Status status;
    if (in < total)
      MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &arrived, &status);
    if (arrived) {
      struct message message = {status.MPI_SOURCE, status.MPI_TAG, 0};
      MPI_Recv(&message.value, 1, MPI_LONG, message.rank, message.worker, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      push(&incoming[message.worker], message);
      ++in;
    }
  }
  MPI_Waitall(total, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < workers; ++i) {
    pthread_join(ids[i], NULL);
    expected_sum = 0;
    for (int rank = 0; rank < world_size; ++rank)
      for (int number = 0; number < messages_per_rank; ++number)
        expected_sum += value_of(rank, i, number);
    CHECK_EQ(sums[i], expected_sum);
    CHECK_EQ(out_of_order[i], 0);
  }
  free(requests);
  free(sent);
  return finish();
}
