/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Atomics: every operation on every datatype that allows it (Portals 4.3, 3.15.4 to 3.15.6), against what the compiler
 * computes; then all PEs at one variable: no update is lost, no value is fetched twice. */
#include "tests/openshmem/symmetric.h"

#include <complex.h>

enum { each = 7, vector = 4 }; /* 16 * each fits into 7 bits */

static union {
  unsigned char bytes[sizeof(double complex)];
  double complex aligned;
} worker; /* of the previous PE, which alone uses it */
static int steps;

static void expect_bytes(const void* got, const void* expected, size_t size, const char* of, const char* what)
{
  if (memcmp(got, expected, size) == 0)
    return;
  fprintf(stderr, "rank %d: %s: %s is ", job_rank, what, of);
  for (size_t i = 0; i < size; ++i)
    fprintf(stderr, "%02x", ((const unsigned char*)got)[i]);
  fprintf(stderr, ", expected ");
  for (size_t i = 0; i < size; ++i)
    fprintf(stderr, "%02x", ((const unsigned char*)expected)[i]);
  fprintf(stderr, " (bytes in memory order)\n");
  exit(1);
}

/* `operand` decides between the two families of calls. */
static void step(const void* before, const void* value, const void* operand, const void* after, size_t size,
                 ptl_op_t operation, ptl_datatype_t type, const char* what)
{
  unsigned char got[sizeof worker];
  const int pe = next_rank();
  if (operation < PTL_SWAP) { /* without a result */
    put(&ctx, &worker, before, size, pe);
    quiet(&ctx);
    atomic(&ctx, &worker, value, size, pe, operation, type);
    quiet(&ctx);
    get(&ctx, got, &worker, size, pe);
    expect_bytes(got, after, size, "the target", what);
  }
  put(&ctx, &worker, before, size, pe);
  quiet(&ctx);
  if (operation < PTL_SWAP)
    fetch_atomic(&ctx, got, &worker, value, size, pe, operation, type);
  else
    swap(&ctx, got, &worker, value, operand, size, pe, operation, type);
  expect_bytes(got, before, size, "the result", what);
  get(&ctx, got, &worker, size, pe);
  expect_bytes(got, after, size, "the target", what);
  ++steps;
}

#define ATOMIC(T, type, operation, a, b, expected)                                                                     \
  do {                                                                                                                 \
    const T before_ = (T)(a), value_ = (T)(b), after_ = (T)(expected);                                                 \
    step(&before_, &value_, NULL, &after_, sizeof(T), operation, type, #operation " of " #T);                          \
  } while (0)
#define SWAP_IF(T, type, operation, target, operand, condition)                                                        \
  do {                                                                                                                 \
    const T before_ = (T)(target), value_ = (T)77, operand_ = (T)(operand), after_ = (condition) ? value_ : before_;   \
    step(&before_, &value_, &operand_, &after_, sizeof(T), operation, type, #operation " of " #T);                     \
  } while (0)

#define ARITHMETIC(T, type, a, b)                                                                                      \
  ATOMIC(T, type, PTL_SUM, a, b, (T)(a) + (T)(b));                                                                     \
  ATOMIC(T, type, PTL_PROD, a, b, (T)(a) * (T)(b));                                                                    \
  SWAP_IF(T, type, PTL_SWAP, a, b, true);                                                                              \
  SWAP_IF(T, type, PTL_CSWAP, a, a, true);                                                                             \
  SWAP_IF(T, type, PTL_CSWAP, a, b, false);                                                                            \
  SWAP_IF(T, type, PTL_CSWAP_NE, a, a, false);                                                                         \
  SWAP_IF(T, type, PTL_CSWAP_NE, a, b, true)
#define ORDER(T, type, a, b)                                                                                           \
  ATOMIC(T, type, PTL_MIN, a, b, (T)(a) < (T)(b) ? (T)(a) : (T)(b));                                                   \
  ATOMIC(T, type, PTL_MAX, a, b, (T)(a) > (T)(b) ? (T)(a) : (T)(b));                                                   \
  SWAP_IF(T, type, PTL_CSWAP_LE, a, b, (T)(b) <= (T)(a));                                                              \
  SWAP_IF(T, type, PTL_CSWAP_LT, a, b, (T)(b) < (T)(a));                                                               \
  SWAP_IF(T, type, PTL_CSWAP_GE, a, b, (T)(b) >= (T)(a));                                                              \
  SWAP_IF(T, type, PTL_CSWAP_GT, a, b, (T)(b) > (T)(a))
#define LOGIC(T, type, a, b)                                                                                           \
  ATOMIC(T, type, PTL_LOR, a, b, (T)(a) || (T)(b));                                                                    \
  ATOMIC(T, type, PTL_LAND, a, b, (T)(a) && (T)(b));                                                                   \
  ATOMIC(T, type, PTL_LXOR, a, b, !(T)(a) != !(T)(b));                                                                 \
  ATOMIC(T, type, PTL_BOR, a, b, (T)(a) | (T)(b));                                                                     \
  ATOMIC(T, type, PTL_BAND, a, b, (T)(a) & (T)(b));                                                                    \
  ATOMIC(T, type, PTL_BXOR, a, b, (T)(a) ^ (T)(b));                                                                    \
  do {                                                                                                                 \
    const T before_ = (T)(a), value_ = (T)(b), mask_ = (T)0x6c;                                                        \
    const T after_ = (T)((before_ & ~mask_) | (value_ & mask_));                                                       \
    step(&before_, &value_, &mask_, &after_, sizeof(T), PTL_MSWAP, type, "PTL_MSWAP of " #T);                          \
  } while (0)

#define EVERY_INTEGER(T, type)                                                                                         \
  ARITHMETIC(T, type, 100, 3);                                                                                         \
  ARITHMETIC(T, type, -1, 5); /* unsigned: it wraps */                                                                 \
  ORDER(T, type, -1, 1);      /* depends on the sign */                                                                \
  ORDER(T, type, 5, 5);                                                                                                \
  LOGIC(T, type, 0x53, 0x35);                                                                                          \
  LOGIC(T, type, 0, -2)

#define INTEGERS(DO)                                                                                                   \
  DO(int8_t, PTL_INT8_T);                                                                                              \
  DO(uint8_t, PTL_UINT8_T);                                                                                            \
  DO(int16_t, PTL_INT16_T);                                                                                            \
  DO(uint16_t, PTL_UINT16_T);                                                                                          \
  DO(int32_t, PTL_INT32_T);                                                                                            \
  DO(uint32_t, PTL_UINT32_T);                                                                                          \
  DO(int64_t, PTL_INT64_T);                                                                                            \
  DO(uint64_t, PTL_UINT64_T)
#define REALS(DO)                                                                                                      \
  DO(float, PTL_FLOAT);                                                                                                \
  DO(double, PTL_DOUBLE)
#define COMPLEX(DO)                                                                                                    \
  DO(float complex, PTL_FLOAT_COMPLEX);                                                                                \
  DO(double complex, PTL_DOUBLE_COMPLEX)

#define EVERY_REAL(T, type)                                                                                            \
  ARITHMETIC(T, type, 1.5, -0.25);                                                                                     \
  ORDER(T, type, 1.5, -0.25);                                                                                          \
  ORDER(T, type, -2, -2)
#define EVERY_COMPLEX(T, type) ARITHMETIC(T, type, 1.5 + 2 * I, -0.5 + 4 * I)

/* What the specification does not allow is refused. */
static void refused(void)
{
  const ptl_size_t value = (ptl_size_t)&worker;
  EQUAL(PtlAtomic(ctx.copied, value, 8, PTL_CT_ACK_REQ, process(next_rank()), data_index, 0, 0, NULL, 0, PTL_BAND,
                  PTL_DOUBLE),
        PTL_ARG_INVALID);
  EQUAL(PtlAtomic(ctx.copied, value, 8, PTL_CT_ACK_REQ, process(next_rank()), data_index, 0, 0, NULL, 0, PTL_MAX,
                  PTL_FLOAT_COMPLEX),
        PTL_ARG_INVALID);
  EQUAL(PtlSwap(ctx.fetched, value, ctx.copied, value, 8, process(next_rank()), data_index, 0, 0, NULL, 0, &worker,
                PTL_MSWAP, PTL_DOUBLE),
        PTL_ARG_INVALID);
}

static void vectors(void)
{
  static int64_t items[vector];
  int64_t value[vector], before[vector];
  for (int i = 0; i < vector; ++i)
    value[i] = job_rank + i;
  barrier();
  for (int round = 0; round < 2; ++round) {
    fetch_atomic(&ctx, before, items, value, sizeof value, next_rank(), PTL_SUM, PTL_INT64_T);
    for (int i = 0; i < vector; ++i)
      EQUAL(before[i], round * value[i]);
  }
  barrier();
  for (int i = 0; i < vector; ++i)
    EQUAL(items[i], 2 * (previous_rank() + i));
  barrier();
}

static long seen[most_pes * each];

/* Each value between 0 and `count` - 1 was fetched once. */
static void all_seen(int count)
{
  barrier();
  if (job_rank == 0)
    for (int i = 0; i < count; ++i)
      EQUAL(seen[i], 1);
  memset(seen, 0, sizeof seen);
  barrier();
}

static void see(long value, long below)
{
  EXPECT(value >= 0 && value < below);
  add_long(&ctx, &seen[value], 1, 0);
}

#define TICKETS(T, type)                                                                                               \
  do {                                                                                                                 \
    static T counter_;                                                                                                 \
    const T one_ = 1;                                                                                                  \
    for (int i = 0; i < each; ++i) {                                                                                   \
      T before_;                                                                                                       \
      fetch_atomic(&ctx, &before_, &counter_, &one_, sizeof(T), 0, PTL_SUM, type);                                     \
      see((long)before_, job_size* each);                                                                              \
    }                                                                                                                  \
    all_seen(job_size* each);                                                                                          \
    if (job_rank == 0)                                                                                                 \
      EQUAL((long)counter_, job_size* each);                                                                           \
  } while (0)

static void contended(void)
{
  static uint64_t bits, parts;
  static int64_t chain, total, smallest = 1000, largest = -1000;
  INTEGERS(TICKETS);
  REALS(TICKETS);
  COMPLEX(TICKETS);

  /* a bit of one's own, set and cleared */
  const uint64_t own = (uint64_t)1 << (3 * job_rank);
  uint64_t before;
  fetch_atomic(&ctx, &before, &bits, &own, sizeof own, 0, PTL_BOR, PTL_UINT64_T);
  EQUAL(before & own, 0);
  barrier();
  fetch_atomic(&ctx, &before, &bits, &own, sizeof own, 0, PTL_BXOR, PTL_UINT64_T);
  EXPECT(before & own);
  barrier();
  EQUAL(bits, 0);

  /* four bits of one's own */
  const uint64_t mask = (uint64_t)15 << (4 * job_rank), part = mask & 0xfedcba9876543210;
  uint64_t expected = 0;
  for (int i = 0; i < each; ++i) {
    const uint64_t value = i % 2 == 0 ? part : ~part; /* its other bits must not come through */
    swap(&ctx, &before, &parts, &value, &mask, sizeof mask, 0, PTL_MSWAP, PTL_UINT64_T);
    EQUAL(before & mask, i == 0 ? 0 : i % 2 == 0 ? ~part & mask : part);
  }
  barrier();
  for (int pe = 0; pe < job_size; ++pe)
    expected |= (uint64_t)15 << (4 * pe);
  if (job_rank == 0)
    EQUAL(parts, 0xfedcba9876543210 & expected);

  /* each value that was swapped in comes out once, or is the last */
  int64_t mine = job_rank + 1, out;
  swap(&ctx, &out, &chain, &mine, NULL, sizeof mine, 0, PTL_SWAP, PTL_INT64_T);
  see(out, job_size + 1);
  barrier();
  if (job_rank == 0)
    see(chain, job_size + 1);
  all_seen(job_size + 1);

  /* an increment made of comparisons */
  for (int i = 0; i < each; ++i) {
    int64_t guess, found = 0;
    do {
      guess = found;
      const int64_t more = guess + 1;
      swap(&ctx, &found, &total, &more, &guess, sizeof more, 0, PTL_CSWAP, PTL_INT64_T);
    } while (found != guess);
    see(guess, job_size * each);
  }
  all_seen(job_size * each);

  atomic(&ctx, &smallest, &mine, sizeof mine, 0, PTL_MIN, PTL_INT64_T);
  atomic(&ctx, &largest, &mine, sizeof mine, 0, PTL_MAX, PTL_INT64_T);
  barrier();
  if (job_rank == 0) {
    EQUAL(total, job_size * each);
    EQUAL(smallest, 1);
    EQUAL(largest, job_size);
  }
}

int main(int argc, char** argv)
{
  symmetric_begin(argc, argv);
  barrier();
  INTEGERS(EVERY_INTEGER); // NOLINT(bugprone-branch-clone): operands that are equal are among them
  REALS(EVERY_REAL);       // NOLINT(bugprone-branch-clone)
  COMPLEX(EVERY_COMPLEX);
  refused();
  SAY("%d operations as the compiler has them\n", steps);
  vectors();
  SAY("%d items at once\n", vector);
  contended();
  SAY("%d PEs at one variable, 12 types\n", job_size);
  symmetric_end();
  return 0;
}
