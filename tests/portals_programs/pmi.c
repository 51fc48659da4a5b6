/* SPDX-License-Identifier: LGPL-2.1-or-later
 * The launcher's descriptor as a program may use it: through poll, copies and non-blocking looks, with requests that
 * cannot be served; and what a barrier costs. Given "abort", rank 1 ends the job with PMI's abort; given "garbage", it
 * writes a line that never ends. */
#include "tests/portals_programs/program.h"

#include <poll.h>
#include <time.h>

static double now(void)
{
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void send_line(const char* line)
{
  EXPECT(write(job_fd, line, strlen(line)) == (ssize_t)strlen(line));
}

static int ready(int timeout)
{
  struct pollfd fd = {.fd = job_fd, .events = POLLIN};
  return poll(&fd, 1, timeout);
}

static void write_without_end(void)
{
  static char line[64 * 1024];
  memset(line, 'x', sizeof line);
  EXPECT(write(job_fd, line, sizeof line) == (ssize_t)sizeof line);
  char c;
  EXPECT(read(job_fd, &c, 1) <= 0);
  exit(0);
}

int main(int argc, char** argv)
{
  char line[2048], value[1200], text[600];
  job_begin();
  if (argc > 1 && strcmp(argv[1], "abort") == 0 && job_rank == 1)
    send_line("cmd=abort exitcode=9\n");
  if (argc > 1 && strcmp(argv[1], "garbage") == 0)
    write_without_end();

  /* several requests at once, and a copy of the descriptor */
  send_line("cmd=get_appnum\ncmd=get_universe_size\n");
  EXPECT(ready(0) == 1);
  const int original = job_fd;
  job_fd = dup(original);
  const char* expected = "cmd=appnum appnum=0\n";
  EXPECT(read(job_fd, line, strlen(expected)) == (ssize_t)strlen(expected));
  EXPECT(strncmp(line, expected, strlen(expected)) == 0);
  EXPECT(read(job_fd, line, sizeof line) > 0);
  EXPECT(ready(0) == 0);
  EXPECT(strstr(job_ask("cmd=get_maxes\n"), "vallen_max=1024"));
  EXPECT(close(job_fd) == 0);
  job_fd = original;

  /* a put that is refused leaves the space as it was */
  memset(text, 'v', sizeof text - 1);
  text[sizeof text - 1] = '\0';
  snprintf(line, sizeof line, "cmd=put kvsname=%s key=long-%d value=%s%s\n", job_space, job_rank, text, text);
  EXPECT(strstr(job_ask(line), "rc=-1"));
  snprintf(line, sizeof line, "cmd=put kvsname=%s key=fits-%d value=%s\n", job_space, job_rank, text);
  EXPECT(strstr(job_ask(line), "rc=0"));
  EXPECT(strstr(job_ask(line), "duplicate_key"));
  snprintf(line, sizeof line, "cmd=get kvsname=%s key=long-%d\n", job_space, job_rank);
  EXPECT(strstr(job_ask(line), "rc=-1"));
  snprintf(line, sizeof line, "cmd=get kvsname=%s key=PMI_process_mapping\n", job_space);
  job_value(job_ask(line), "value", value, sizeof value);
  EXPECT(strncmp(value, "(vector,(", 9) == 0);
  EXPECT(strstr(job_ask("mcmd=spawn\nnprocs=1\nexecname=/bin/true\nendcmd\n"), "rc=-1"));
  EXPECT(strstr(job_ask("cmd=no_such_thing\n"), "rc=-1"));

  /* a barrier takes time, all of it after the last has come */
  job_barrier();
  if (job_rank == 0) {
    const struct timespec late = {0, 3000000};
    nanosleep(&late, NULL);
  }
  const double begin = now();
  send_line("cmd=barrier_in\n");
  EXPECT(ready(0) == 0);
  EXPECT(ready(-1) == 1);
  EXPECT(now() - begin > (job_rank == 0 ? 100e-6 : 3e-3));
  expected = "cmd=barrier_out rc=0\n";
  EXPECT(read(job_fd, line, sizeof line) == (ssize_t)strlen(expected));
  EXPECT(strncmp(line, expected, strlen(expected)) == 0);

  /* everybody's keys, by number */
  int keys = 0;
  for (int index = 0;; ++index, ++keys) {
    snprintf(line, sizeof line, "cmd=getbyidx kvsname=%s idx=%d\n", job_space, index);
    if (strstr(job_ask(line), "rc=-2"))
      break;
  }
  EXPECT(keys == job_size + 1);
  job_end();
  return 0;
}
