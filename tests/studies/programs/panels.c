/* SPDX-License-Identifier: LGPL-2.1-or-later
 * panels P Q N NB GFLOPS: what HPL sends, without HPL, and written against Portals, so that 512 ranks start in seconds.
 * The ranks are a grid of P x Q, row by row; P is a power of two. For each panel of NB columns, those of the matrix of
 * order N that are left:
 *   - the column of ranks that has it sends it round its rows, from rank to rank;
 *   - ranks of a column exchange their rows of it with partners 1, 2, 4, ... rows away;
 *   - all compute, which is a sleep of as long as the multiplication takes at GFLOPS.
 * What is sent was never written, so that copying it costs nothing here. Each rank prints the us from the first panel
 * to its last. */
#include "tests/portals_programs/program.h"

#include <time.h>

enum { ring, exchange, most_steps = 16 };

static ptl_handle_ni_t ni;
static ptl_handle_md_t memory;
static ptl_handle_ct_t came[exchange + most_steps];

/* Where `rank` is: asked for one by one, as the map of all would be 512 x 512 questions. */
static ptl_process_t place_of(int rank)
{
  char line[512], value[64];
  unsigned nid, pid;
  snprintf(line, sizeof line, "cmd=get kvsname=%s key=place-%d\n", job_space, rank);
  job_value(job_ask(line), "value", value, sizeof value);
  EXPECT(sscanf(value, "%u,%u", &nid, &pid) == 2);
  ptl_process_t place;
  place.phys.nid = nid;
  place.phys.pid = pid;
  return place;
}

static void publish(void)
{
  char line[512];
  ptl_process_t own;
  CALL(PtlGetPhysId(ni, &own));
  snprintf(line, sizeof line, "cmd=put kvsname=%s key=place-%d value=%u,%u\n", job_space, job_rank,
           (unsigned)own.phys.nid, (unsigned)own.phys.pid);
  EXPECT(strstr(job_ask(line), "rc=0"));
  job_barrier();
}

/* A portal for each partner, with a counter of what has come. */
static void open_portals(int count, void* room, size_t size)
{
  for (int i = 0; i < count; ++i) {
    ptl_pt_index_t index;
    came[i] = new_counter(ni);
    CALL(PtlPTAlloc(ni, 0, PTL_EQ_NONE, (ptl_pt_index_t)i, &index));
    EXPECT(index == (ptl_pt_index_t)i);
    const ptl_le_t entry = {.start = room,
                            .length = size,
                            .ct_handle = came[i],
                            .uid = PTL_UID_ANY,
                            .options = PTL_LE_OP_PUT | PTL_LE_EVENT_CT_COMM | PTL_LE_EVENT_COMM_DISABLE};
    ptl_handle_le_t handle;
    CALL(PtlLEAppend(ni, index, &entry, PTL_PRIORITY_LIST, NULL, &handle));
  }
}

static void put(size_t bytes, ptl_process_t target, int portal)
{
  CALL(PtlPut(memory, 0, bytes, PTL_NO_ACK_REQ, target, (ptl_pt_index_t)portal, 0, 0, NULL, 0));
}

static void compute(double flops, double gflops)
{
  const long ns = (long)(flops / gflops);
  const struct timespec time = {ns / 1000000000, ns % 1000000000};
  nanosleep(&time, NULL);
}

static double now_us(void)
{
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e6 + (double)time.tv_nsec * 1e-3;
}

int main(int argc, char** argv)
{
  ni = begin_portals(PTL_NI_NO_MATCHING | PTL_NI_PHYSICAL);
  const int p = argc == 6 ? atoi(argv[1]) : 0, q = argc == 6 ? atoi(argv[2]) : 0;
  if (p < 1 || p > 1 << most_steps || (p & (p - 1)) != 0 || q < 1 || p * q != job_size) {
    fprintf(stderr, "usage: panels P Q N NB GFLOPS, P a power of two, on P x Q ranks\n");
    return 2;
  }
  const long n = atol(argv[3]), nb = atol(argv[4]);
  const double gflops = atof(argv[5]);
  const int row = job_rank / q, column = job_rank % q;
  int steps = 0;
  while (1 << steps < p)
    ++steps;
  publish();
  const ptl_process_t next = place_of(row * q + (column + 1) % q);
  ptl_process_t partners[most_steps];
  for (int step = 0; step < steps; ++step)
    partners[step] = place_of((row ^ (1 << step)) * q + column);
  const size_t most = (size_t)(n / (p < q ? p : q) + 1) * (size_t)nb * sizeof(double);
  void* from = calloc(1, most);
  void* to = calloc(1, most);
  EXPECT(from && to);
  open_portals(exchange + steps, to, most);
  const ptl_md_t all = {.start = from, .length = most, .eq_handle = PTL_EQ_NONE, .ct_handle = PTL_CT_NONE};
  CALL(PtlMDBind(ni, &all, &memory));
  job_barrier();

  const double begin = now_us();
  ptl_size_t panels = 0, received = 0;
  for (long left = n; left >= nb; left -= nb, ++panels) {
    const int owner = (int)(panels % (ptl_size_t)q), last = (owner + q - 1) % q;
    const size_t rows = (size_t)(left / p), columns = (size_t)(left / q);
    if (column != owner)
      wait_for(came[ring], ++received);
    if (column != last)
      put(rows * (size_t)nb * sizeof(double), next, ring);
    for (int step = 0; step < steps; ++step) {
      put(columns * (size_t)nb * sizeof(double), partners[step], exchange + step);
      wait_for(came[exchange + step], panels + 1);
    }
    compute(2.0 * (double)rows * (double)columns * (double)nb, gflops);
  }
  printf("%.3f\n", now_us() - begin);
  end_portals(ni);
  return 0;
}
