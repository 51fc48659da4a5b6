// SPDX-License-Identifier: LGPL-2.1-or-later
// More messages than there is room for, before anybody receives: all of them arrive, in their order, and so do writes
// that tell of themselves.
#include "world.h"

#include <unistd.h>

enum { MESSAGES = 3000, LENGTH = 4000, WRITES = 20000 };

static unsigned char out[LENGTH], in[LENGTH], window[64];

static void send_all(void)
{
  int under_way = 0;
  struct fi_cq_tagged_entry entry;
  for (int i = 0; i < MESSAGES; ++i) {
    uint64_t number = (uint64_t)i;
    memcpy(out, &number, sizeof number);
    AGAIN(fi_tsend(endpoint, i % 3 == 0 ? (void*)&number : out, i % 3 == 0 ? sizeof number : LENGTH, NULL, peers[0],
                   (uint64_t)rank, NULL));
    ++under_way;
    while (under_way > 0) { // the buffer is used again
      const ssize_t got = fi_cq_read(sends, &entry, 1);
      if (got == 1)
        --under_way;
      else
        CHECK(got == -FI_EAGAIN);
    }
  }
}

static void take_all(void)
{
  for (int from = 1; from < size; ++from) {
    for (uint64_t i = 0; i < MESSAGES; ++i) {
      struct fi_context context;
      AGAIN(fi_trecv(endpoint, in, sizeof in, NULL, peers[from], (uint64_t)from, 0, &context));
      next(receives);
      uint64_t number = 0;
      memcpy(&number, in, sizeof number);
      CHECK(number == i);
    }
    printf("[0] %d from %d in order\n", MESSAGES, from);
  }
}

// Until all are here; libfabric goes on meanwhile, but nothing is received.
static void wait_for_all(void)
{
  MPI_Request request;
  int done = 0;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  while (MPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done)
    fi_cq_read(receives, NULL, 0);
}

int main(int argc, char** argv)
{
  open_world(&argc, &argv, FI_MSG | FI_TAGGED | FI_RMA | FI_DIRECTED_RECV, FI_WAIT_NONE);
  enable_world();
  if (rank != 0)
    send_all();
  wait_for_all();
  if (rank == 0)
    take_all();
  struct fid_mr* region = NULL;
  OK(fi_mr_reg(domain, window, sizeof window, FI_REMOTE_WRITE, 0, 3, 0, &region, NULL));
  uint64_t key = fi_mr_key(region);
  uint64_t base = info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uint64_t)(uintptr_t)window : 0;
  MPI_Bcast(&key, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  MPI_Bcast(&base, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  if (rank == 1)
    for (unsigned i = 0; i < WRITES; ++i)
      AGAIN(fi_writedata(endpoint, out, 8, NULL, i, peers[0], base, key, NULL));
  if (rank == 1)
    for (unsigned i = 0; i < WRITES; ++i)
      next(sends);
  if (rank == 0) {
    usleep(50000); // the queue of events is full by then
    uint64_t sum = 0;
    for (int i = 0; i < WRITES; ++i)
      sum += next(receives).data;
    printf("[0] %d writes told, sum %llu\n", WRITES, (unsigned long long)sum);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  OK(fi_close(&region->fid));
  close_world();
}
