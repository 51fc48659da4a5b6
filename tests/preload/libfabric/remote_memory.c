// SPDX-License-Identifier: LGPL-2.1-or-later
// Memory of others: written, read, changed atomically; with keys and lengths that are wrong; and counted.
#include "world.h"

enum { WINDOW = 1 << 16 };
static unsigned char window[WINDOW], scratch[2 * WINDOW];
static struct fid_cntr *writes, *reads;
static uint64_t *keys, *bases;

static int right(void)
{
  return (rank + 1) % size;
}

static void expose(struct fid_mr** region)
{
  OK(fi_mr_reg(domain, window, WINDOW, FI_REMOTE_READ | FI_REMOTE_WRITE, 0, (uint64_t)rank + 7, 0, region, NULL));
  const uint64_t key = fi_mr_key(*region);
  const uint64_t base = info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uint64_t)(uintptr_t)window : 0;
  keys = malloc((size_t)size * sizeof *keys);
  bases = malloc((size_t)size * sizeof *bases);
  MPI_Allgather(&key, 1, MPI_UINT64_T, keys, 1, MPI_UINT64_T, MPI_COMM_WORLD);
  MPI_Allgather(&base, 1, MPI_UINT64_T, bases, 1, MPI_UINT64_T, MPI_COMM_WORLD);
}

static void written_and_read(void)
{
  struct fi_context context;
  const int to = right();
  fill(scratch, 40000, (unsigned)rank);
  AGAIN(fi_write(endpoint, scratch, 40000, NULL, peers[to], bases[to] + 100, keys[to], &context));
  const struct fi_cq_tagged_entry written = next(sends);
  printf("[%d] written: %d %d %d\n", rank, (written.flags & FI_RMA) != 0, (written.flags & FI_WRITE) != 0,
         written.op_context == &context);
  memset(scratch + WINDOW, 0, WINDOW);
  AGAIN(fi_read(endpoint, scratch + WINDOW, 40000, NULL, peers[to], bases[to] + 100, keys[to], &context));
  const struct fi_cq_tagged_entry got = next(sends);
  printf("[%d] read: %d %d, right: %d\n", rank, (got.flags & FI_RMA) != 0, (got.flags & FI_READ) != 0,
         is_filled(scratch + WINDOW, 40000, (unsigned)rank));
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(is_filled(window + 100, 40000, (unsigned)((rank + size - 1) % size)));
  MPI_Barrier(MPI_COMM_WORLD);
}

static void in_lists(void)
{
  struct fi_context context;
  const int to = right();
  const struct iovec local[] = {{scratch, 300}, {scratch + 300, 500}, {scratch + 800, 200}};
  const struct fi_rma_iov remote[] = {{bases[to], 450, keys[to]}, {bases[to] + 1000, 550, keys[to]}};
  const struct fi_msg_rma message = {
      .msg_iov = local, .iov_count = 3, .addr = peers[to], .rma_iov = remote, .rma_iov_count = 2, .context = &context};
  fill(scratch, 1000, (unsigned)rank);
  AGAIN(fi_writemsg(endpoint, &message, FI_DELIVERY_COMPLETE | FI_COMPLETION));
  next(sends);
  MPI_Barrier(MPI_COMM_WORLD);
  memcpy(scratch, window, 450);
  memcpy(scratch + 450, window + 1000, 550);
  printf("[%d] lists: %d\n", rank, is_filled(scratch, 1000, (unsigned)((rank + size - 1) % size)));
  MPI_Barrier(MPI_COMM_WORLD);
  memset(scratch, 0, 1000);
  AGAIN(fi_readmsg(endpoint, &message, FI_COMPLETION));
  next(sends);
  CHECK(is_filled(scratch, 1000, (unsigned)rank));
  MPI_Barrier(MPI_COMM_WORLD);
}

static void with_data(void)
{
  struct fi_context context;
  const int to = right();
  AGAIN(fi_writedata(endpoint, scratch, 64, NULL, 1000 + (unsigned)rank, peers[to], bases[to], keys[to], &context));
  const struct fi_cq_tagged_entry told = next(receives);
  printf("[%d] told: %llu, %d %d\n", rank, (unsigned long long)told.data, (told.flags & FI_REMOTE_CQ_DATA) != 0,
         (told.flags & FI_REMOTE_WRITE) != 0);
  next(sends);
  MPI_Barrier(MPI_COMM_WORLD);
}

// Everybody adds to rank 0's; who swaps last is nobody's business, but all values come out.
static void atomically(void)
{
  struct fi_context context;
  int64_t* const cells = (int64_t*)window;
  if (rank == 0)
    memset(window, 0, 256);
  MPI_Barrier(MPI_COMM_WORLD);
  const int64_t add = rank + 1;
  for (int i = 0; i < 10; ++i) {
    AGAIN(fi_atomic(endpoint, &add, 1, NULL, peers[0], bases[0], keys[0], FI_INT64, FI_SUM, &context));
    next(sends);
  }
  int64_t before = -1;
  const int64_t one = 1;
  AGAIN(fi_fetch_atomic(endpoint, &one, 1, NULL, &before, NULL, peers[0], bases[0] + 8, keys[0], FI_INT64, FI_SUM,
                        &context));
  const struct fi_cq_tagged_entry fetched = next(sends);
  CHECK((fetched.flags & FI_ATOMIC) != 0 && before >= 0 && before < size);
  int64_t sum = 0;
  MPI_Reduce(&before, &sum, 1, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  const double values[] = {rank + 0.5, -rank - 0.5, rank * 2.0};
  AGAIN(fi_atomic(endpoint, values, 3, NULL, peers[0], bases[0] + 64, keys[0], FI_DOUBLE, FI_MAX, &context));
  next(sends);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0)
    printf("[0] sums: %lld, %lld, fetched %lld, largest %g %g %g\n", (long long)cells[0], (long long)cells[1],
           (long long)sum, ((double*)window)[8], ((double*)window)[9], ((double*)window)[10]);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == size - 1) {
    const int32_t wanted = 5, other = 6, value = 9;
    int32_t was = -1, read = -1;
    AGAIN(
        fi_atomic(endpoint, &wanted, 1, NULL, peers[0], bases[0] + 128, keys[0], FI_INT32, FI_ATOMIC_WRITE, &context));
    next(sends);
    AGAIN(fi_compare_atomic(endpoint, &value, 1, NULL, &other, NULL, &was, NULL, peers[0], bases[0] + 128, keys[0],
                            FI_INT32, FI_CSWAP, &context));
    next(sends);
    const int32_t first = was;
    AGAIN(fi_compare_atomic(endpoint, &value, 1, NULL, &wanted, NULL, &was, NULL, peers[0], bases[0] + 128, keys[0],
                            FI_INT32, FI_CSWAP, &context));
    next(sends);
    AGAIN(fi_fetch_atomic(endpoint, NULL, 1, NULL, &read, NULL, peers[0], bases[0] + 128, keys[0], FI_INT32,
                          FI_ATOMIC_READ, &context));
    next(sends);
    printf("[%d] compared: %d, %d, then %d\n", rank, first, was, read);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static void counted(void)
{
  const int to = right();
  const uint64_t written = fi_cntr_read(writes), got = fi_cntr_read(reads);
  struct fi_context context;
  for (int i = 0; i < 5; ++i)
    AGAIN(fi_inject_write(endpoint, scratch, 32, peers[to], bases[to] + 32 * (unsigned)i, keys[to]));
  AGAIN(fi_read(endpoint, scratch, 32, NULL, peers[to], bases[to], keys[to], &context));
  OK(fi_cntr_wait(writes, written + 5, -1));
  OK(fi_cntr_wait(reads, got + 1, -1));
  next(sends);
  printf("[%d] counted: %llu, %llu, errors %llu\n", rank, (unsigned long long)(fi_cntr_read(writes) - written),
         (unsigned long long)(fi_cntr_read(reads) - got), (unsigned long long)fi_cntr_readerr(writes));
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv)
{
  open_world(&argc, &argv, FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC, FI_WAIT_NONE);
  struct fi_cntr_attr attr = {.wait_obj = FI_WAIT_UNSPEC};
  OK(fi_cntr_open(domain, &attr, &writes, NULL));
  OK(fi_cntr_open(domain, &attr, &reads, NULL));
  OK(fi_ep_bind(endpoint, &writes->fid, FI_WRITE));
  OK(fi_ep_bind(endpoint, &reads->fid, FI_READ));
  enable_world();
  struct fid_mr* region = NULL;
  expose(&region);
  written_and_read();
  in_lists();
  with_data();
  atomically();
  counted();
  if (argc > 1) { // what other providers take for the end of the connection
    struct fi_context context;
    const int to = right();
    AGAIN(fi_write(endpoint, scratch, 64, NULL, peers[to], bases[to], 12345, &context));
    const struct fi_cq_err_entry unknown = next_failure(sends);
    AGAIN(fi_write(endpoint, scratch, 64, NULL, peers[to], bases[to] + WINDOW - 32, keys[to], &context));
    const struct fi_cq_err_entry beyond = next_failure(sends);
    AGAIN(fi_read(endpoint, scratch, 64, NULL, peers[to], bases[to] + WINDOW, keys[to], &context));
    const struct fi_cq_err_entry outside = next_failure(sends);
    char text[80];
    printf("[%d] no such key: %s, %s\n", rank, fi_strerror(unknown.err),
           fi_cq_strerror(sends, unknown.prov_errno, NULL, text, sizeof text));
    printf("[%d] beyond the end: %s, %s\n", rank, fi_strerror(beyond.err), fi_strerror(outside.err));
    printf("[%d] errors counted: %llu, %llu\n", rank, (unsigned long long)fi_cntr_readerr(writes),
           (unsigned long long)fi_cntr_readerr(reads));
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  OK(fi_close(&region->fid));
  OK(fi_close(&endpoint->fid));
  OK(fi_close(&writes->fid));
  OK(fi_close(&reads->fid));
  endpoint = new_endpoint(sends, receives);
  close_world();
}
