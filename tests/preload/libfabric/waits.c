// SPDX-License-Identifier: LGPL-2.1-or-later
// Waiting: in fi_cq_sread, with a limit, ended by another thread; at a file descriptor; at a set of queues and
// counters.
#include "world.h"

#include <rdma/fi_eq.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void* end_wait(void* argument)
{
  usleep(20000);
  OK(fi_cq_signal(argument));
  return NULL;
}

static void in_a_call(void)
{
  struct fi_cq_tagged_entry entry;
  const double before = now();
  const ssize_t none = fi_cq_sread(receives, &entry, 1, NULL, 50);
  const double waited = now() - before;
  printf("[%d] nothing comes: %s, long enough: %d\n", rank, fi_strerror((int)-none), waited >= 0.049);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, end_wait, receives) == 0);
  const ssize_t ended = fi_cq_sread(receives, &entry, 1, NULL, -1);
  printf("[%d] ended: %d\n", rank, ended < 0); // -FI_EAGAIN or -FI_ECANCELED: providers differ
  CHECK(pthread_join(thread, NULL) == 0);
}

static void from_the_left(struct fid_cq* queue, bool by_descriptor)
{
  int number = 0;
  const int own = rank;
  struct fi_context from, to;
  AGAIN(fi_recv(endpoint, &number, sizeof number, NULL, FI_ADDR_UNSPEC, &from));
  MPI_Barrier(MPI_COMM_WORLD);
  usleep((useconds_t)(rank + 1) * 2000);
  AGAIN(fi_send(endpoint, &own, sizeof own, NULL, peers[(rank + 1) % size], &to));
  struct fi_cq_tagged_entry entry;
  ssize_t got = 0;
  if (by_descriptor) {
    int descriptor = -1;
    OK(fi_control(&queue->fid, FI_GETWAIT, &descriptor));
    struct fid* fids[] = {&queue->fid};
    while ((got = fi_cq_read(queue, &entry, 1)) == -FI_EAGAIN)
      if (fi_trywait(fabric, fids, 1) == 0) {
        struct pollfd wanted = {.fd = descriptor, .events = POLLIN};
        CHECK(poll(&wanted, 1, -1) == 1);
      }
  } else {
    got = fi_cq_sread(queue, &entry, 1, NULL, -1);
  }
  CHECK(got == 1 && entry.op_context == &from);
  printf("[%d] from %d\n", rank, number);
  next(sends);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void written_events(void)
{
  struct fi_eq_attr attr = {.flags = FI_WRITE, .wait_obj = FI_WAIT_UNSPEC};
  struct fid_eq* queue = NULL;
  OK(fi_eq_open(fabric, &attr, &queue, NULL));
  struct fi_eq_entry entry = {.data = 5}, got = {0};
  uint32_t event = 0;
  const ssize_t nothing = fi_eq_read(queue, &event, &got, sizeof got, 0);
  CHECK(fi_eq_write(queue, FI_NOTIFY, &entry, sizeof entry, 0) == sizeof entry);
  const ssize_t peeked = fi_eq_read(queue, &event, &got, sizeof got, FI_PEEK);
  const ssize_t read = fi_eq_sread(queue, &event, &got, sizeof got, -1, 0);
  printf("[%d] events: %s, %zd %zd, event %u, %llu\n", rank, fi_strerror((int)-nothing), peeked, read, event,
         (unsigned long long)got.data);
  OK(fi_close(&queue->fid));
}

int main(int argc, char** argv)
{
  const bool by_descriptor = argc > 1;
  open_world(&argc, &argv, FI_MSG | FI_TAGGED, by_descriptor ? FI_WAIT_FD : FI_WAIT_UNSPEC);
  enable_world();
  from_the_left(receives, by_descriptor);
  if (!by_descriptor)
    in_a_call();
  from_the_left(receives, by_descriptor);
  written_events();
  close_world();
}
