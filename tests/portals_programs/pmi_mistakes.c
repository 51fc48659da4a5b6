/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Raw bytes on PMI_FD, right and wrong: whatever a rank sends, it is answered, told why in the log, or its end is seen.
 * The argument says which mistake it makes. Ranks other than 1 wait for it at a barrier where it says so. */
#include "tests/portals_programs/program.h"

#include <errno.h>
#include <signal.h>

static void send_bytes(const char* bytes, size_t size)
{
  EXPECT(write(job_fd, bytes, size) == (ssize_t)size);
}

static const char* read_line(void)
{
  return job_ask("");
}

static void refused(const char* line, const char* word)
{
  const char* answer = job_ask(line);
  if (strncmp(answer, "cmd=", 4) != 0 || strncmp(answer + 4, word, strlen(word)) != 0 || !strstr(answer, " rc=-1 ")) {
    fprintf(stderr, "rank %d: %s is answered with %s, expected cmd=%s ... rc=-1\n", job_rank, line, answer, word);
    exit(1);
  }
}

/* `before`, `count` times `filling`, `after` */
static const char* stretched(const char* before, char filling, int count, const char* after)
{
  static char line[8192];
  const int length = snprintf(line, sizeof line, before, job_space);
  memset(line + length, filling, (size_t)count);
  snprintf(line + length + count, sizeof line - (size_t)(length + count), after, job_space);
  return line;
}

static void still_served(void)
{
  EXPECT(strcmp(job_ask("cmd=get_appnum\n"), "cmd=appnum appnum=0") == 0);
}

static void malformed(void)
{
  refused("\n", "unknown");
  refused(" \t\r\n", "unknown");
  refused("put\n", "unknown");
  refused("cmd=\n", "unknown");
  refused("cmd=dance\n", "unknown");
  refused("cmd=put\n", "put_result");
  refused("cmd=get\n", "get_result");
  send_bytes("\0\1\2=\xff\xfe\n", 7);
  refused("", "unknown");
  still_served();
}

static void too_long(void)
{
  refused(stretched("cmd=put key=a value=b kvsname=", 'n', 257, "\n"), "put_result");
  refused(stretched("cmd=put kvsname=%s value=b key=", 'k', 65, "\n"), "put_result");
  refused(stretched("cmd=get kvsname=%s key=", 'k', 65, "\n"), "get_result");
  refused(stretched("cmd=put kvsname=%s key=a value=", 'v', 1025, "\n"), "put_result");
  EXPECT(strstr(job_ask(stretched("cmd=put kvsname=%s key=a value=", 'v', job_rank == 0 ? 1024 : 1025, "\n")),
                job_rank == 0 ? "rc=0" : "rc=-1"));
  EXPECT(strcmp(job_ask(stretched("", ' ', 4096 - 14, "cmd=get_appnum\n")), "cmd=appnum appnum=0") == 0);
}

/* The connection ends where a line does not. */
static void endless(void)
{
  signal(SIGPIPE, SIG_IGN);
  const char* line = stretched("cmd=get_appnum", ' ', 4096, "\ncmd=get_maxes\n");
  send_bytes(line, strlen(line));
  char byte;
  EXPECT(read(job_fd, &byte, 1) == 0);
  EXPECT(write(job_fd, "cmd=get_appnum\n", 15) == -1 && errno == EPIPE);
}

static void pieces(void)
{
  const char* line = "cmd=get_universe_size\n";
  for (const char* c = line; *c; ++c)
    send_bytes(c, 1);
  EXPECT(strncmp(read_line(), "cmd=universe_size size=", 23) == 0);
  line = "cmd=get_appnum\ncmd=dance\n\ncmd=get_maxes\ncmd=get_";
  send_bytes(line, strlen(line));
  EXPECT(strcmp(read_line(), "cmd=appnum appnum=0") == 0);
  refused("", "unknown");
  refused("", "unknown");
  EXPECT(strncmp(read_line(), "cmd=maxes ", 10) == 0);
  EXPECT(strcmp(job_ask("appnum\n"), "cmd=appnum appnum=0") == 0);
}

/* What another has not put yet is not there, and there after the barrier. */
static void early_get(void)
{
  char line[512];
  snprintf(line, sizeof line, "cmd=get kvsname=%s key=from-%d\n", job_space, next_rank());
  if (job_rank == 0)
    EXPECT(strstr(job_ask(line), "rc=-1 msg=key_from-1_not_found"));
  job_barrier();
  snprintf(line, sizeof line, "cmd=put kvsname=%s key=from-%d value=%d\n", job_space, job_rank, job_rank);
  EXPECT(strstr(job_ask(line), "rc=0"));
  job_barrier();
  snprintf(line, sizeof line, "cmd=get kvsname=%s key=from-%d\n", job_space, next_rank());
  char value[16];
  job_value(job_ask(line), "value", value, sizeof value);
  EXPECT(atoi(value) == next_rank());
}

static void before_init(void)
{
  job_fd = atoi(getenv("PMI_FD"));
  refused("cmd=put kvsname=x key=a value=b\n", "put_result");
  refused("cmd=get kvsname=x key=a\n", "get_result");
  refused("cmd=barrier_in\n", "barrier_out");
  refused("cmd=finalize\n", "finalize_ack");
}

static void after_finalize(void)
{
  job_end();
  refused("cmd=finalize\n", "finalize_ack");
  refused("cmd=barrier_in\n", "barrier_out");
  refused("cmd=put kvsname=x key=a value=b\n", "put_result");
  refused("cmd=init pmi_version=1 pmi_subversion=1\n", "response_to_init");
}

int main(int argc, char** argv)
{
  const char* mistake = argc > 1 ? argv[1] : "";
  const bool makes_it = getenv("PMI_RANK") && strcmp(getenv("PMI_RANK"), "1") == 0;
  if (strcmp(mistake, "before_init") == 0)
    before_init();
  job_begin();
  if (strcmp(mistake, "malformed") == 0)
    malformed();
  else if (strcmp(mistake, "too_long") == 0)
    too_long();
  else if (strcmp(mistake, "endless") == 0)
    return endless(), 0;
  else if (strcmp(mistake, "pieces") == 0)
    pieces();
  else if (strcmp(mistake, "early_get") == 0)
    early_get();
  else if (strcmp(mistake, "init_twice") == 0)
    refused("cmd=init pmi_version=1 pmi_subversion=1\n", "response_to_init");
  else if (strcmp(mistake, "after_finalize") == 0)
    return after_finalize(), 0;
  else if (strcmp(mistake, "barrier_twice") == 0) {
    send_bytes("cmd=barrier_in\n", 15);
    refused("cmd=barrier_in\n", "barrier_out");
    EXPECT(strcmp(read_line(), "cmd=barrier_out rc=0") == 0);
  } else if (strcmp(mistake, "no_finalize") == 0 ||
             (strcmp(mistake, "gone") == 0 && makes_it)) /* while the others are at the barrier */
    return 0;
  else if (strcmp(mistake, "finalized") == 0 && makes_it)
    return job_end(), 0;
  else if (strcmp(mistake, "half") == 0 && makes_it)
    job_ask("cmd=get_appnum");
  else if (strcmp(mistake, "half_and_gone") == 0 && makes_it)
    return send_bytes("cmd=barrier_", 12), 0;
  job_barrier();
  job_end();
  return 0;
}
