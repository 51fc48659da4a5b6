/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Locks for all PEs: a queue, whose waiting PEs look at their own memory, and tickets, whose waiting PEs ask the lock's
 * home. What they guard is read, changed and written in three steps, by whoever holds the lock. */
#include "tests/openshmem/symmetric.h"

enum { each = 6, nobody = 0 };

struct guarded {
  long owner, count;
};

/* `tail` of its home counts; `next` and `locked` are those of each PE that waits. */
static struct queue_lock {
  int64_t tail, next, locked;
} queue_lock[2];
static struct ticket_lock {
  long ticket, serving;
} ticket_lock;
static struct guarded by_queue[2], by_ticket;

static void enter_queue(struct queue_lock* lock, int home)
{
  const int64_t me = job_rank + 1;
  int64_t before;
  lock->next = nobody;
  lock->locked = 1;
  swap(&ctx, &before, &lock->tail, &me, NULL, sizeof me, home, PTL_SWAP, PTL_INT64_T);
  if (before == nobody)
    return;
  put_long(&ctx, &lock->next, me, (int)before - 1);
  WAIT_UNTIL(&lock->locked, ==, 0);
}

static bool try_queue(struct queue_lock* lock, int home)
{
  const int64_t me = job_rank + 1, expected = nobody;
  int64_t before;
  lock->next = nobody;
  swap(&ctx, &before, &lock->tail, &me, &expected, sizeof me, home, PTL_CSWAP, PTL_INT64_T);
  return before == nobody;
}

static void leave_queue(struct queue_lock* lock, int home)
{
  const int64_t me = job_rank + 1, none = nobody;
  int64_t before;
  swap(&ctx, &before, &lock->tail, &none, &me, sizeof me, home, PTL_CSWAP, PTL_INT64_T);
  if (before == me)
    return;
  WAIT_UNTIL(&lock->next, !=, nobody); /* the next one is there and will say who it is */
  put_long(&ctx, &lock->locked, 0, (int)lock->next - 1);
}

static void enter_by_ticket(struct ticket_lock* lock, int home)
{
  const long mine = fetch_add_long(&ctx, &lock->ticket, 1, home);
  long serving;
  do
    get(&ctx, &serving, &lock->serving, sizeof serving, home);
  while (serving != mine);
}

static void leave_by_ticket(struct ticket_lock* lock, int home)
{
  add_long(&ctx, &lock->serving, 1, home);
}

static void change(struct guarded* memory, int home)
{
  struct guarded value;
  get(&ctx, &value, memory, sizeof value, home);
  EQUAL(value.owner, nobody);
  put_long(&ctx, &memory->owner, job_rank + 1, home);
  put_long(&ctx, &memory->count, value.count + 1, home);
  quiet(&ctx);
  get(&ctx, &value.owner, &memory->owner, sizeof value.owner, home);
  EQUAL(value.owner, job_rank + 1);
  put_long(&ctx, &memory->owner, nobody, home);
  quiet(&ctx);
}

int main(int argc, char** argv)
{
  symmetric_begin(argc, argv);
  const int homes[] = {0, job_size - 1};
  barrier();
  for (int i = 0; i < each; ++i)
    for (int which = 0; which < 2; ++which) {
      enter_queue(&queue_lock[which], homes[which]);
      change(&by_queue[which], homes[which]);
      leave_queue(&queue_lock[which], homes[which]);
    }
  barrier();
  for (int which = 0; which < 2; ++which)
    if (job_rank == homes[which]) {
      EQUAL(by_queue[which].count, each * job_size);
      EQUAL(queue_lock[which].tail, nobody);
    }
  barrier();
  SAY("queues: %d times 2 locks\n", each * job_size);

  /* it is free, then it is not */
  if (job_rank == 1) {
    EXPECT(try_queue(&queue_lock[0], 0));
    barrier();
  } else {
    barrier();
    EXPECT(!try_queue(&queue_lock[0], 0));
  }
  barrier();
  if (job_rank == 1)
    leave_queue(&queue_lock[0], 0);
  barrier();
  SAY("tried: one of %d got it\n", job_size);

  for (int i = 0; i < each; ++i) {
    enter_by_ticket(&ticket_lock, 0);
    change(&by_ticket, 0);
    leave_by_ticket(&ticket_lock, 0);
  }
  barrier();
  if (job_rank == 0) {
    EQUAL(by_ticket.count, each * job_size);
    EQUAL(ticket_lock.serving, each * job_size);
  }
  SAY("tickets: %d\n", each * job_size);
  symmetric_end();
  return 0;
}
