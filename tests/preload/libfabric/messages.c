// SPDX-License-Identifier: LGPL-2.1-or-later
// Messages in all forms, before and after there is a receive, short and long, from the left neighbour of each rank.
#include "world.h"

static unsigned char out[1 << 20], in[1 << 20];
static const size_t lengths[] = {0, 1, 200, 4096, 16384, 16385, 100000, 1 << 20};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

static int right(void)
{
  return (rank + 1) % size;
}

static int left(void)
{
  return (rank + size - 1) % size;
}

static void say(const char* what, const struct fi_cq_tagged_entry* entry, const void* expected)
{
  printf("[%d] %s: %zu bytes, tag %llx, data %llx,%s%s%s right context: %d\n", rank, what, entry->len,
         entry->flags & FI_TAGGED ? (unsigned long long)entry->tag : 0,
         entry->flags & FI_REMOTE_CQ_DATA ? (unsigned long long)entry->data : 0,
         entry->flags & FI_TAGGED ? " tagged" : "", entry->flags & FI_TAGGED ? "" : " message",
         entry->flags & FI_REMOTE_CQ_DATA ? " with data" : "", entry->op_context == expected);
}

static void each_length(bool tagged, bool early)
{
  for (int i = 0; i < LENGTHS; ++i) {
    struct fi_context to, from;
    fill(out, lengths[i], (unsigned)(rank + i));
    memset(in, 0, lengths[i]);
    if (early)
      AGAIN(tagged ? fi_trecv(endpoint, in, sizeof in, NULL, FI_ADDR_UNSPEC, 5 + (unsigned)i, 0, &from)
                   : fi_recv(endpoint, in, sizeof in, NULL, FI_ADDR_UNSPEC, &from));
    MPI_Barrier(MPI_COMM_WORLD);
    AGAIN(tagged ? fi_tsend(endpoint, out, lengths[i], NULL, peers[right()], 5 + (unsigned)i, &to)
                 : fi_send(endpoint, out, lengths[i], NULL, peers[right()], &to));
    if (!early) {
      MPI_Barrier(MPI_COMM_WORLD);
      AGAIN(tagged ? fi_trecv(endpoint, in, sizeof in, NULL, FI_ADDR_UNSPEC, 5, 15, &from)
                   : fi_recv(endpoint, in, sizeof in, NULL, FI_ADDR_UNSPEC, &from));
    }
    const struct fi_cq_tagged_entry got = next(receives);
    say(early ? "awaited" : "unexpected", &got, &from);
    CHECK(is_filled(in, lengths[i], (unsigned)(left() + i)));
    const struct fi_cq_tagged_entry sent = next(sends);
    CHECK(sent.op_context == &to);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

static void injected(void)
{
  struct fi_context from;
  unsigned char small[64];
  fill(small, sizeof small, (unsigned)rank);
  AGAIN(fi_tinject(endpoint, small, sizeof small, peers[right()], 9));
  memset(small, 0, sizeof small);
  AGAIN(fi_trecv(endpoint, in, sizeof in, NULL, FI_ADDR_UNSPEC, 9, 0, &from));
  const struct fi_cq_tagged_entry got = next(receives);
  say("injected", &got, &from);
  CHECK(is_filled(in, 64, (unsigned)left()));
}

static void with_data(size_t length)
{
  struct fi_context to, from;
  AGAIN(fi_trecv(endpoint, in, sizeof in, NULL, FI_ADDR_UNSPEC, 9, 0, &from));
  MPI_Barrier(MPI_COMM_WORLD);
  AGAIN(fi_tsenddata(endpoint, out, length, NULL, 77, peers[right()], 9, &to));
  const struct fi_cq_tagged_entry got = next(receives);
  say("with data", &got, &from);
  next(sends);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void in_lists(size_t length)
{
  struct fi_context to, from;
  const struct iovec sent[] = {{out, 10}, {out + 10, length - 30}, {out + length - 20, 20}};
  const struct iovec wanted[] = {{in, length / 2}, {in + length / 2, length}};
  fill(out, length, (unsigned)rank);
  memset(in, 0, length);
  AGAIN(fi_tsendv(endpoint, sent, NULL, 3, peers[right()], 3, &to));
  MPI_Barrier(MPI_COMM_WORLD);
  AGAIN(fi_trecvv(endpoint, wanted, NULL, 2, FI_ADDR_UNSPEC, 3, 0, &from));
  const struct fi_cq_tagged_entry got = next(receives);
  say("list", &got, &from);
  CHECK(is_filled(in, length, (unsigned)left()));
  next(sends);
  MPI_Barrier(MPI_COMM_WORLD);
}

// What comes from whom, though another rank was first.
static void from_one(void)
{
  static struct fi_context contexts[64];
  const int number = rank;
  if (rank != 0) {
    for (int turn = 1; turn < size; ++turn) {
      if (turn == rank)
        AGAIN(fi_tsend(endpoint, &number, sizeof number, NULL, peers[0], 1, &contexts[0]));
      MPI_Barrier(MPI_COMM_WORLD);
    }
    next(sends);
    return;
  }
  for (int turn = 1; turn < size; ++turn)
    MPI_Barrier(MPI_COMM_WORLD);
  for (int from = size - 1; from > 0; --from) {
    int got = -1;
    AGAIN(fi_trecv(endpoint, &got, sizeof got, NULL, peers[from], 1, 0, &contexts[from]));
    const struct fi_cq_tagged_entry entry = next(receives);
    CHECK(entry.op_context == &contexts[from]);
    printf("[0] from %d: %d\n", from, got);
  }
}

static void too_long(size_t length)
{
  struct fi_context to, from;
  AGAIN(fi_trecv(endpoint, in, 100, NULL, FI_ADDR_UNSPEC, 2, 0, &from));
  MPI_Barrier(MPI_COMM_WORLD);
  AGAIN(fi_tsend(endpoint, out, length, NULL, peers[right()], 2, &to));
  const struct fi_cq_err_entry error = next_failure(receives);
  printf("[%d] too long: %s, %zu missing, right context: %d\n", rank, fi_strerror(error.err), error.olen,
         error.op_context == &from);
  next(sends);
  MPI_Barrier(MPI_COMM_WORLD);
}

// What has failed comes before what came after it, for those who look at nothing until both are there.
static void failed_first(void)
{
  struct fi_context to[2], from[2];
  for (int i = 0; i < 2; ++i)
    AGAIN(fi_trecv(endpoint, in + i * 100, 100, NULL, FI_ADDR_UNSPEC, 2, 0, &from[i]));
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < 2; ++i)
    AGAIN(fi_tsend(endpoint, out, i == 0 ? 200 : 100, NULL, peers[right()], 2, &to[i]));
  for (int i = 0; i < 2; ++i)
    next(sends);
  MPI_Barrier(MPI_COMM_WORLD);
  struct fi_cq_tagged_entry entries[4];
  struct fi_cq_err_entry error = {0};
  ssize_t got = 0;
  while ((got = fi_cq_read(receives, entries, 4)) == -FI_EAGAIN)
    fi_cq_read(sends, NULL, 0);
  CHECK(got == -FI_EAVAIL);
  CHECK(fi_cq_readerr(receives, &error, 0) == 1);
  printf("[%d] first: %s, right context: %d\n", rank, fi_strerror(error.err), error.op_context == &from[0]);
  printf("[%d] then: right context: %d\n", rank, next(receives).op_context == &from[1]);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void canceled(void)
{
  struct fi_context from;
  AGAIN(fi_trecv(endpoint, in, sizeof in, NULL, FI_ADDR_UNSPEC, 99, 0, &from));
  OK(fi_cancel(&endpoint->fid, &from));
  const struct fi_cq_err_entry error = next_failure(receives);
  printf("[%d] canceled: %s, right context: %d\n", rank, fi_strerror(error.err), error.op_context == &from);
}

static ssize_t look(uint64_t tag, uint64_t flags, struct fi_context* context, size_t length)
{
  const struct iovec iov = {in, length};
  const struct fi_msg_tagged message = {
      .msg_iov = &iov, .iov_count = length != 0, .addr = FI_ADDR_UNSPEC, .tag = tag, .context = context};
  return fi_trecvmsg(endpoint, &message, flags);
}

// Looked for, claimed, discarded: each before and after it is there.
static void looked_for(size_t length)
{
  struct fi_context to[3], context;
  AGAIN(look(20, FI_PEEK, &context, 0));
  printf("[%d] nothing there: %s\n", rank, fi_strerror(next_failure(receives).err));
  MPI_Barrier(MPI_COMM_WORLD);
  fill(out, length, (unsigned)rank);
  for (unsigned i = 0; i < 3; ++i)
    AGAIN(fi_tsend(endpoint, out, length, NULL, peers[right()], 20 + i, &to[i]));
  MPI_Barrier(MPI_COMM_WORLD);
  for (;;) { // it is on its way
    AGAIN(look(22, FI_PEEK, &context, 0));
    struct fi_cq_tagged_entry entry = {0};
    ssize_t got = 0;
    while ((got = fi_cq_read(receives, &entry, 1)) == -FI_EAGAIN)
      fi_cq_read(sends, NULL, 0);
    if (got == 1) {
      printf("[%d] there: %zu bytes\n", rank, entry.len);
      break;
    }
    struct fi_cq_err_entry error = {0};
    CHECK(fi_cq_readerr(receives, &error, 0) == 1 && error.err == FI_ENOMSG);
  }
  AGAIN(look(20, FI_PEEK | FI_CLAIM, &context, 0));
  printf("[%d] claimed: %zu bytes\n", rank, next(receives).len);
  memset(in, 0, length);
  AGAIN(look(20, FI_CLAIM, &context, length));
  const struct fi_cq_tagged_entry got = next(receives);
  printf("[%d] received: %zu bytes, right: %d\n", rank, got.len, is_filled(in, length, (unsigned)left()));
  AGAIN(look(21, FI_PEEK | FI_DISCARD, &context, 0));
  next(receives);
  AGAIN(look(21, FI_PEEK, &context, 0));
  printf("[%d] discarded: %s\n", rank, fi_strerror(next_failure(receives).err));
  AGAIN(look(22, 0, &context, length));
  next(receives);
  for (int i = 0; i < 3; ++i)
    next(sends);
  MPI_Barrier(MPI_COMM_WORLD);
}

// Many into one buffer until it is full; some are there before it is.
static void several(bool early)
{
  enum { COUNT = 6, LENGTH = 1000 };
  static unsigned char buffer[COUNT * LENGTH + 500];
  struct fi_context to, from;
  const size_t least = 600;
  OK(fi_setopt(&endpoint->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &least, sizeof least));
  const struct iovec iov = {buffer, sizeof buffer};
  const struct fi_msg message = {.msg_iov = &iov, .iov_count = 1, .addr = FI_ADDR_UNSPEC, .context = &from};
  if (early)
    AGAIN(fi_recvmsg(endpoint, &message, FI_MULTI_RECV));
  MPI_Barrier(MPI_COMM_WORLD);
  for (unsigned i = 0; i < COUNT; ++i) {
    fill(out, LENGTH, (unsigned)rank + i);
    AGAIN(fi_send(endpoint, out, LENGTH, NULL, peers[right()], &to));
    next(sends);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (!early)
    AGAIN(fi_recvmsg(endpoint, &message, FI_MULTI_RECV));
  unsigned came = 0;
  bool released = false;
  while (came < COUNT || !released) {
    const struct fi_cq_tagged_entry entry = next(receives);
    CHECK(entry.op_context == &from);
    released |= (entry.flags & FI_MULTI_RECV) != 0;
    if ((entry.flags & FI_RECV) == 0)
      continue;
    CHECK(entry.len == LENGTH && is_filled(entry.buf, LENGTH, (unsigned)left() + came));
    ++came;
  }
  printf("[%d] %u into one buffer\n", rank, came);
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv)
{
  open_world(&argc, &argv, FI_MSG | FI_TAGGED | FI_DIRECTED_RECV, FI_WAIT_NONE);
  enable_world();
  for (int i = 0; i < 4; ++i)
    each_length(i & 1, i & 2);
  injected();
  with_data(64);
  with_data(50000);
  in_lists(1000);
  in_lists(50000);
  from_one();
  too_long(200);
  too_long(60000);
  failed_first();
  canceled();
  looked_for(500);
  looked_for(70000);
  several(true);
  several(false);
  close_world();
}
