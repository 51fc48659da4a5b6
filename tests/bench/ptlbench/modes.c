/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "modes.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "bootstrap.h"

/* What is known of the programs that measured the cluster, and what the figures tell beyond: the comments at the replay
 * of these modes, net_models/calibration/replay.cpp. */
const struct mode modes[] = {
    {.name = "put_waitack",
     .help = "one Put at a time, waits for its ACK",
     .roles = {.send_events = true},
     .waits = true},
    {.name = "put_nowait", .help = "all Puts, then waits for all ACKs", .roles = {.send_events = true}},
    {.name = "put_waitsend",
     .help = "one Put at a time without acknowledgement, waits for its SEND",
     .roles = {.send_events = true, .no_ack = true},
     .waits = true},
    {.name = "get_waitreply", .help = "one Get at a time, waits for its REPLY", .get = true, .waits = true},
    {.name = "get_nowait", .help = "all Gets, then waits for all REPLYs", .get = true},
    {.name = "ack",
     .help = "one Put at a time, counted by its ACK event; the target takes PUT events",
     .roles = {.target_events = true},
     .waits = true,
     .timed = true},
    {.name = "ct",
     .help = "one Put at a time, counted by a counter (PtlCTWait)",
     .roles = {.counting = true, .target_events = true},
     .waits = true,
     .timed = true},
    {.name = "match",
     .help = "many Puts in flight, several list entries, counted by ACK events",
     .roles = {.target_events = true},
     .timed = true},
    {.name = "reply",
     .help = "each Put is answered by one: a ping-pong of PUT events",
     .roles = {.no_ack = true, .target_events = true},
     .waits = true,
     .timed = true,
     .ping_pong = true},
};
const size_t mode_count = sizeof modes / sizeof *modes;

const struct mode* find_mode(const char* name)
{
  for (size_t i = 0; i < mode_count; ++i)
    if (strcmp(modes[i].name, name) == 0)
      return &modes[i];
  return NULL;
}

static double now(void)
{
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static ptl_event_t take(ptl_handle_eq_t queue)
{
  ptl_event_t event;
  check("PtlEQWait", PtlEQWait(queue, &event));
  if (event.ni_fail_type != PTL_NI_OK) {
    char text[160];
    snprintf(text, sizeof text, "expected every message to arrive, got an event of type %d with failure %d", event.type,
             event.ni_fail_type);
    end_job(1, text);
  }
  return event;
}

static void put(const struct endpoint* endpoint, size_t size)
{
  const ptl_ack_req_t ack = endpoint->roles.no_ack     ? PTL_NO_ACK_REQ
                            : endpoint->roles.counting ? PTL_CT_ACK_REQ
                                                       : PTL_ACK_REQ;
  check("PtlPut", PtlPut(endpoint->md, 0, size, ack, endpoint->peer, endpoint->data, 0, 0, NULL, 0));
}

/* ---- Initiator ---- */

static void request(const struct mode* mode, const struct endpoint* endpoint, size_t size)
{
  if (mode->get)
    check("PtlGet", PtlGet(endpoint->md, 0, size, endpoint->peer, endpoint->data, 0, 0, NULL));
  else
    put(endpoint, size);
}

/* Waits until one more request is complete; `done` of this measurement are. SEND events on the way are taken, too. */
static void complete(const struct mode* mode, const struct endpoint* endpoint, ptl_size_t counted)
{
  if (mode->roles.counting) {
    ptl_ct_event_t value;
    check("PtlCTWait", PtlCTWait(endpoint->counter, counted, &value));
    if (value.failure != 0)
      end_job(1, "expected every message to arrive, got failures in the counter");
    return;
  }
  const ptl_event_kind_t wanted = mode->ping_pong      ? PTL_EVENT_PUT
                                  : mode->get          ? PTL_EVENT_REPLY
                                  : mode->roles.no_ack ? PTL_EVENT_SEND
                                                       : PTL_EVENT_ACK;
  while (take(mode->ping_pong ? endpoint->arrivals : endpoint->completions).type != wanted) {
  }
}

/* Reading the clock costs as much as a tenth of a short message, so a duration is looked at ever more rarely. */
static bool time_is_up(const struct load* load, double begin, size_t done, size_t* look_at)
{
  if (done < *look_at)
    return false;
  *look_at = done + 1 + done / 16;
  return now() - begin >= load->duration;
}

static struct measurement initiate(const struct mode* mode, const struct endpoint* endpoint, const struct load* load)
{
  const size_t window = mode->waits ? 1 : mode->timed ? load->in_flight : load->count;
  struct measurement result = {0};
  size_t started = 0;
  size_t look_at = 1;
  double in_flight = 0;
  ptl_ct_event_t before = {0};
  if (mode->roles.counting)
    check("PtlCTGet", PtlCTGet(endpoint->counter, &before));

  const double begin = now();
  do {
    while (started - result.messages < window && (mode->timed || started < load->count)) {
      request(mode, endpoint, load->size);
      ++started;
      if (started - result.messages > result.most_in_flight)
        result.most_in_flight = started - result.messages;
    }
    complete(mode, endpoint, before.success + result.messages + 1);
    in_flight += (double)(started - result.messages);
    ++result.messages;
  } while (mode->timed ? !time_is_up(load, begin, result.messages, &look_at) : result.messages < load->count);
  result.seconds = now() - begin;

  for (size_t done = result.messages; done < started; ++done)
    complete(mode, endpoint, before.success + done + 1);
  result.average_in_flight = in_flight / (double)result.messages;
  return result;
}

/* ---- Target ---- */

/* Takes what comes until the initiator says that it was all. */
static void serve(const struct mode* mode, const struct endpoint* endpoint, const struct load* load)
{
  while (take(endpoint->arrivals).pt_index != endpoint->control)
    if (mode->ping_pong)
      put(endpoint, load->size);
}

struct measurement run_mode(const struct mode* mode, struct endpoint* endpoint, const struct load* load)
{
  struct measurement result = {0};
  barrier();
  if (endpoint->rank == 0) {
    result = initiate(mode, endpoint, load);
    check("PtlPut",
          PtlPut(endpoint->control_md, 0, 0, PTL_NO_ACK_REQ, endpoint->peer, endpoint->control, 0, 0, NULL, 0));
  } else {
    serve(mode, endpoint, load);
  }
  barrier();
  /* SEND events of long messages may come behind the last ACK; they belong to this measurement. */
  ptl_event_t late;
  int found = PTL_OK;
  while ((found = PtlEQGet(endpoint->completions, &late)) != PTL_EQ_EMPTY)
    check("PtlEQGet", found);
  return result;
}
