/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "modes.h"

enum { most_sizes = 100000 };

static const struct unit {
  const char* name;
  double factor;
} size_units[] = {{"", 1},    {"B", 1},    {"k", 1e3},      {"kB", 1e3}, {"KiB", 1024},
                  {"M", 1e6}, {"MB", 1e6}, {"MiB", 0x1p20}, {"GB", 1e9}, {"GiB", 0x1p30}},
  time_units[] = {{"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};

/* "4KiB" with one of `units`; *end is where it stopped. */
static bool read_number(const char* text, const struct unit* units, size_t unit_count, const char** end, double* value)
{
  if (!isdigit((unsigned char)*text))
    return false;
  char* unit;
  *value = strtod(text, &unit);
  size_t length = 0;
  while (isalpha((unsigned char)unit[length]))
    ++length;
  *end = unit + length;
  for (size_t i = 0; i < unit_count; ++i)
    if (strlen(units[i].name) == length && strncmp(units[i].name, unit, length) == 0) {
      *value *= units[i].factor;
      return true;
    }
  return false;
}

static bool read_size(const char* text, const char** end, size_t* size)
{
  double value;
  if (!read_number(text, size_units, sizeof size_units / sizeof *size_units, end, &value) || value != floor(value) ||
      value > 0x1p40)
    return false;
  *size = (size_t)value;
  return true;
}

static bool read_count(const char* text, size_t least, size_t most, size_t* count)
{
  char* end;
  errno = 0;
  const unsigned long long value = strtoull(text, &end, 10);
  if (!isdigit((unsigned char)*text) || *end != '\0' || errno != 0 || value < least || value > most)
    return false;
  *count = (size_t)value;
  return true;
}

static bool add_size(struct options* options, size_t size)
{
  if (options->size_count == most_sizes)
    return false;
  if (options->size_count % 64 == 0)
    options->sizes = realloc(options->sizes, (options->size_count + 64) * sizeof *options->sizes);
  if (!options->sizes)
    return false;
  options->sizes[options->size_count++] = size;
  if (size > options->largest)
    options->largest = size;
  return true;
}

/* "8,64,1KiB:1MiB,0:512:8": sizes; from:to doubles, from:to:step adds. */
static bool read_sizes(const char* text, struct options* options)
{
  for (;;) {
    size_t from;
    size_t to;
    size_t step = 0;
    const char* end;
    if (!read_size(text, &end, &from))
      return false;
    to = from;
    if (*end == ':') {
      if (!read_size(end + 1, &end, &to) || to < from)
        return false;
      if (*end == ':' && (!read_size(end + 1, &end, &step) || step == 0))
        return false;
    }
    for (size_t size = from; size <= to; size = step != 0 ? size + step : size != 0 ? 2 * size : 1)
      if (!add_size(options, size))
        return false;
    if (*end == '\0')
      return true;
    if (*end != ',')
      return false;
    text = end + 1;
  }
}

static const struct option known[] = {
    {"size", required_argument, NULL, 's'},     {"sizes", required_argument, NULL, 's'},
    {"count", required_argument, NULL, 'c'},    {"volume", required_argument, NULL, 'v'},
    {"duration", required_argument, NULL, 'd'}, {"in-flight", required_argument, NULL, 'f'},
    {"repeat", required_argument, NULL, 'r'},   {"entries", required_argument, NULL, 'e'},
    {"help", no_argument, NULL, 'h'},           {NULL, 0, NULL, 0}};

void print_help(void)
{
  printf("Usage: umwelt run -np 2 ptlbench MODE [options]\n"
         "Times Portals messages from rank 0 to rank 1; CSV on standard output.\n\n"
         "Modes that make a number of requests\n");
  for (size_t i = 0; i < mode_count; ++i) {
    if (i > 0 && modes[i].timed != modes[i - 1].timed)
      printf("Modes that count messages for a duration\n");
    printf("  %-14s%s\n", modes[i].name, modes[i].help);
  }
  printf("\nOptions\n"
         "  --size N        bytes of a message; default 8\n"
         "  --sizes LIST    several: 8,64,4KiB; FROM:TO doubles, FROM:TO:STEP adds\n"
         "  --count N       requests per size; default 10000\n"
         "  --volume SIZE   fewer requests for long messages: all of a size carry at most so much, but at least 16 are "
         "made\n"
         "  --duration T    how long messages are counted, per size (us, ms, s); default 20ms\n"
         "  --in-flight N   messages of match at a time; default 256\n"
         "  --entries N     list entries of match: all but the last are passed over; default 16\n"
         "  --repeat N      measure each size N times; default 1\n");
}

bool read_options(int argc, char** argv, struct options* options, char* problem, size_t problem_size)
{
  *options = (struct options){.count = 10000, .duration = 20e-3, .in_flight = 256, .repetitions = 1, .entries = 16};
  opterr = 0;
  int option;
  int index = 0;
  while ((option = getopt_long(argc, argv, ":", known, &index)) != -1) {
    const char* expected = NULL;
    const char* end;
    switch (option) {
    case 's':
      if (!read_sizes(optarg, options))
        expected = "sizes in bytes such as 8,64,4KiB or 1:1MiB";
      break;
    case 'c':
      if (!read_count(optarg, 1, 100000000, &options->count))
        expected = "a number of requests, 1 to 100000000";
      break;
    case 'v':
      if (!read_size(optarg, &end, &options->volume) || *end != '\0' || options->volume == 0)
        expected = "a size such as 256MiB";
      break;
    case 'd':
      if (!read_number(optarg, time_units, sizeof time_units / sizeof *time_units, &end, &options->duration) ||
          *end != '\0' || options->duration <= 0 || options->duration > 1e6)
        expected = "a time such as 500us, 20ms or 5s";
      break;
    case 'f':
      if (!read_count(optarg, 1, 1000000, &options->in_flight))
        expected = "a number of messages, 1 to 1000000";
      break;
    case 'r':
      if (!read_count(optarg, 1, 1000000, &options->repetitions))
        expected = "a number of repetitions, 1 to 1000000";
      break;
    case 'e':
      if (!read_count(optarg, 1, 10000, &options->entries))
        expected = "a number of list entries, 1 to 10000";
      break;
    case 'h':
      options->help = true;
      return true;
    case ':':
      snprintf(problem, problem_size, "%s: expected a value behind it, got none. `ptlbench --help` lists the options",
               argv[optind - 1]);
      return false;
    default:
      snprintf(problem, problem_size, "unknown option '%.60s'. `ptlbench --help` lists the options", argv[optind - 1]);
      return false;
    }
    if (expected) {
      snprintf(problem, problem_size, "--%s: expected %s, got '%.60s'", known[index].name, expected, optarg);
      return false;
    }
  }
  if (optind + 1 != argc) {
    if (optind == argc)
      snprintf(problem, problem_size, "expected a mode, got none. `ptlbench --help` lists the modes");
    else
      snprintf(problem, problem_size, "expected one mode, got also '%.60s'. Use several runs", argv[optind + 1]);
    return false;
  }
  options->mode = find_mode(argv[optind]);
  if (!options->mode) {
    int used = snprintf(problem, problem_size, "mode '%.60s': expected one of", argv[optind]);
    for (size_t i = 0; i < mode_count && used > 0 && (size_t)used < problem_size; ++i)
      used += snprintf(problem + used, problem_size - (size_t)used, " %s", modes[i].name);
    return false;
  }
  if (options->size_count == 0)
    add_size(options, 8);
  if (!options->sizes) {
    snprintf(problem, problem_size, "not enough memory for the list of sizes");
    return false;
  }
  return true;
}
