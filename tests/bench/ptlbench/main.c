/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * ptlbench: times Portals 4 messages between two ranks, in the ways the programs did whose measurements calibrate the
 * bxi model. An ordinary Portals program: nothing of Umwelt but its portals4.h is used. README.md tells about modes and
 * columns. */
#include <stdio.h>
#include <stdlib.h>

#include "bootstrap.h"
#include "endpoint.h"
#include "modes.h"
#include "options.h"

/* As in the measurement files (whose kB and MB of requests are powers of 1024, those of PtlPerf of 1000). */
static void print_header(const struct mode* mode)
{
  if (mode->timed)
    printf("Msg size (B),Latency (µs),Throughput (MB/s),Message rate (Mxfer/s),Avg inflight,Performance (s)%s\n",
           mode->ping_pong ? ",Half round trip (µs)" : "");
  else
    printf("rank, message size (B), total size (kB), duration (µs), throughput (MB/s), message rate (kmsg/s), max "
           "inflight\n");
}

static void print_line(const struct mode* mode, size_t size, const struct measurement* measured)
{
  const double messages = (double)measured->messages;
  const double bytes = (double)size * messages;
  const double seconds = measured->seconds;
  if (!mode->timed) {
    printf("0,%zu,%zu,%.6f,%.6f,%.6f,%zu\n", size, size * measured->messages / 1024, seconds * 1e6,
           bytes / 1024 / 1024 / seconds, messages / seconds / 1e3, measured->most_in_flight);
  } else {
    printf("%zu,%.6f,%.6f,%.6f,%.6f,%.6f", size, seconds / messages * 1e6, bytes / seconds / 1e6,
           messages / seconds / 1e6, measured->average_in_flight, seconds);
    if (mode->ping_pong)
      printf(",%.6f", seconds / messages * 1e6 / 2);
    printf("\n");
  }
  fflush(stdout);
}

/* Requests of `size` bytes that --count and --volume allow. */
static size_t requests(const struct options* options, size_t size)
{
  const size_t fewest = options->count < 16 ? options->count : 16;
  size_t count = options->count;
  if (options->volume != 0 && size != 0 && options->volume / size < count)
    count = options->volume / size;
  return count < fewest ? fewest : count;
}

int main(int argc, char** argv)
{
  struct options options;
  char problem[512];
  if (!read_options(argc, argv, &options, problem, sizeof problem)) {
    fprintf(stderr, "ptlbench: %s\n", problem);
    return 2;
  }
  if (options.help) {
    print_help();
    return 0;
  }

  const struct mode* mode = options.mode;
  const size_t window = mode->waits ? 1 : mode->timed ? options.in_flight : options.count;
  const size_t queue = 4 * window + 64; /* SEND and ACK of all that may be under way, or twice their PUT events */
  /* PtlPerf has a buffer per size; the other programs had a large one for all sizes. */
  const size_t large = 4 << 20;
  const size_t length = mode->timed || options.largest > large ? options.largest : large;
  struct endpoint endpoint;
  open_endpoint(&endpoint, &mode->roles, length, queue, !mode->waits && mode->timed ? options.entries : 1);
  if (endpoint.rank == 0)
    print_header(mode);
  for (size_t i = 0; i < options.size_count; ++i) {
    if (mode->timed)
      rebind_buffer(&endpoint, options.sizes[i]);
    for (size_t repetition = 0; repetition < options.repetitions; ++repetition) {
      const size_t size = options.sizes[i];
      const struct load load = {.size = size,
                                .count = requests(&options, size),
                                .duration = options.duration,
                                .in_flight = options.in_flight};
      const struct measurement measured = run_mode(mode, &endpoint, &load);
      if (endpoint.rank == 0)
        print_line(mode, size, &measured);
    }
  }
  close_endpoint(&endpoint);
  free(options.sizes);
  return 0;
}
