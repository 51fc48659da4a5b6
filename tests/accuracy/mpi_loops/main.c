/* SPDX-License-Identifier: LGPL-2.1-or-later
 * mpi_loops BENCHMARK[,BENCHMARK...] [--sizes BYTES,...|FIRST:LAST] [--repetitions N] [--warm-up N] [--window N]
 *
 * The loops that OSU's micro-benchmarks 5.9 go through, with their numbers of repetitions, windows and looks at the
 * clock. Rank 0 prints CSV: benchmark,ranks,size_bytes,value,unit. Collectives are blocking; with an `i` in front they
 * are nonblocking beside as much computation as they take, and the value is the time of both. FIRST:LAST is every power
 * of two. */
#include "loops.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_sizes = 256, most_bytes = 1 << 26, large = 8192, bad_usage = 2, page = 4096 };

struct options {
  const char* names;
  size_t sizes[most_sizes];
  int size_count;           /* 0: the benchmark's own */
  int repetitions, warm_up; /* -1: as OSU */
  int window;
};

static int my_rank, ranks;

static void refuse(const char* format, ...)
{
  if (my_rank == 0) {
    va_list values;
    va_start(values, format);
    fputs("mpi_loops: ", stderr);
    vfprintf(stderr, format, values);
    fputs("\n", stderr);
    va_end(values);
  }
  MPI_Finalize();
  exit(bad_usage);
}

static long number(const char* option, const char* text, const char** end, long least, long most)
{
  char* after;
  errno = 0;
  const long value = strtol(text, &after, 10);
  if (after == text || errno || value < least || value > most || (!end && *after))
    refuse("%s: expected %ld to %ld, got '%s'", option, least, most, text);
  if (end)
    *end = after;
  return value;
}

static void add_size(struct options* options, size_t size)
{
  if (options->size_count == most_sizes)
    refuse("--sizes: expected at most %d sizes, got more", most_sizes);
  options->sizes[options->size_count++] = size;
}

static void powers_of_two(struct options* options, size_t first, size_t last)
{
  for (size_t size = first; size <= last; size = size ? 2 * size : 1)
    add_size(options, size);
}

static void parse_sizes(struct options* options, const char* text)
{
  const char* rest = text;
  const size_t first = (size_t)number("--sizes", rest, &rest, 0, most_bytes);
  if (*rest == ':') {
    const size_t last = (size_t)number("--sizes", rest + 1, NULL, 0, most_bytes);
    if (last < first)
      refuse("--sizes: expected FIRST:LAST, got '%s'", text);
    powers_of_two(options, first, last);
    return;
  }
  for (add_size(options, first); *rest == ','; add_size(options, (size_t)number("--sizes", rest, &rest, 0, most_bytes)))
    ++rest;
  if (*rest)
    refuse("--sizes: expected BYTES,... or FIRST:LAST, got '%s'", text);
}

static void parse(struct options* options, int argc, char** argv)
{
  for (int i = 1; i < argc; ++i) {
    const char* word = argv[i];
    if (word[0] != '-') {
      if (options->names)
        refuse("expected one list of benchmarks, got also '%s'", word);
      options->names = word;
      continue;
    }
    const char* value = argv[++i];
    if (!value)
      refuse("%s: expected a value, got none", word);
    if (strcmp(word, "--sizes") == 0)
      parse_sizes(options, value);
    else if (strcmp(word, "--repetitions") == 0)
      options->repetitions = (int)number(word, value, NULL, 1, 1000000);
    else if (strcmp(word, "--warm-up") == 0)
      options->warm_up = (int)number(word, value, NULL, 0, 1000000);
    else if (strcmp(word, "--window") == 0)
      options->window = (int)number(word, value, NULL, 1, most_requests);
    else
      refuse("unknown option '%s': expected --sizes, --repetitions, --warm-up or --window", word);
  }
  if (!options->names)
    refuse("expected benchmarks, got none, as in mpi_loops latency,bw");
}

static const struct benchmark* find(const char* name, size_t length)
{
  for (const struct benchmark* one = benchmarks; one->name; ++one)
    if (strlen(one->name) == length && strncmp(one->name, name, length) == 0)
      return one;
  return NULL;
}

static void* room(size_t size)
{
  void* memory = NULL;
  if (posix_memalign(&memory, page, size ? size : 1) != 0) {
    fprintf(stderr, "mpi_loops: expected %zu bytes of memory on rank %d, got none\n", size, my_rank);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  memset(memory, 1, size);
  return memory;
}

/* How often OSU repeats: fewer times what is long. */
static void set_times(struct job* job, const struct benchmark* benchmark, const struct options* options)
{
  const int is_large = job->size > large;
  if (benchmark->pair == half_round_trip) {
    job->repetitions = is_large ? 1000 : 10000;
    job->warm_up = is_large ? 10 : 100;
  } else if (benchmark->pair) {
    job->repetitions = is_large ? 20 : 100;
    job->warm_up = is_large ? 2 : 10;
  } else {
    job->repetitions = is_large ? 100 : 1000;
    job->warm_up = is_large ? 10 : 100;
  }
  if (options->repetitions >= 0)
    job->repetitions = options->repetitions;
  if (options->warm_up >= 0)
    job->warm_up = options->warm_up;
}

static double measure(const struct job* job, const struct benchmark* benchmark, int nonblocking)
{
  if (benchmark->share)
    benchmark->share(job);
  MPI_Barrier(MPI_COMM_WORLD);
  if (benchmark->pair)
    return benchmark->pair(job);
  return nonblocking ? time_overlapped(job, benchmark) : time_alone(job, benchmark->call);
}

static void run(const struct benchmark* benchmark, int nonblocking, const struct options* given)
{
  struct options own = *given;
  if (benchmark->least == 0)
    powers_of_two(&own, own.size_count = 0, 0); /* a barrier */
  else if (own.size_count == 0)
    powers_of_two(&own, benchmark->least, benchmark->pair ? 1 << 22 : 1 << 20);
  size_t most = 4; /* the answer of `bandwidth` */
  for (int i = 0; i < own.size_count; ++i)
    most = own.sizes[i] > most ? own.sizes[i] : most;

  const size_t each = (size_t)ranks;
  struct job job = {.rank = my_rank, .ranks = ranks, .window = own.window};
  job.out = room(most * (benchmark->one_out_each ? each : 1));
  job.in = room(most * (benchmark->one_in_each ? each : 1));
  job.counts = room(each * sizeof *job.counts);
  job.offsets = room(each * sizeof *job.offsets);
  job.types = room(each * sizeof *job.types);
  for (int i = 0; i < own.size_count; ++i) {
    job.size = own.sizes[i];
    set_times(&job, benchmark, given);
    const double value = measure(&job, benchmark, nonblocking);
    if (my_rank == 0)
      printf("%s%s,%d,%zu,%.4f,%s\n", nonblocking ? "i" : "", benchmark->name, ranks, job.size, value,
             benchmark->pair && benchmark->pair != half_round_trip ? "MB/s" : "us");
  }
  free(job.out);
  free(job.in);
  free(job.counts);
  free(job.offsets);
  free(job.types);
}

static const struct benchmark* checked(const char* name, size_t length, const struct options* options, int* nonblocking)
{
  const struct benchmark* benchmark = find(name, length);
  *nonblocking = 0;
  if (!benchmark && length > 0 && name[0] == 'i') {
    benchmark = find(name + 1, length - 1);
    *nonblocking = 1;
  }
  if (!benchmark || (*nonblocking && benchmark->pair))
    refuse("benchmark '%.*s': expected latency, bw, bibw or a collective, as alltoall or ialltoall", (int)length, name);
  if (benchmark->pair ? ranks != 2 : ranks < 2)
    refuse("%.*s: expected %s ranks, got %d", (int)length, name, benchmark->pair ? "2" : "2 or more", ranks);
  for (int i = 0; i < options->size_count && benchmark->least > 0; ++i)
    if (options->sizes[i] % benchmark->least != 0)
      refuse("%.*s: expected sizes that are multiples of %zu, got %zu", (int)length, name, benchmark->least,
             options->sizes[i]);
  return benchmark;
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &my_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  struct options options = {.repetitions = -1, .warm_up = -1, .window = 64};
  parse(&options, argc, argv);
  for (int really = 0; really < 2; ++really) { /* all names are checked before the first one runs */
    if (really && my_rank == 0)
      printf("benchmark,ranks,size_bytes,value,unit\n");
    for (const char* name = options.names; name;) {
      const char* comma = strchr(name, ',');
      int nonblocking;
      const struct benchmark* benchmark =
          checked(name, comma ? (size_t)(comma - name) : strlen(name), &options, &nonblocking);
      if (really)
        run(benchmark, nonblocking, &options);
      name = comma ? comma + 1 : NULL;
    }
  }
  MPI_Finalize();
  return 0;
}
