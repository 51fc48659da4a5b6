/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the shim of MPI (preload/mpi/) tells of each call for a trace that shows calls of MPI: records of one size, in
 * the order of their times for each thread, so that whoever reads them needs nothing else of the rank. */
#pragma once

#include <stdint.h>

/* `object` is a number that the rank gives: of a communicator, a window or a file, each counted from 0. Ranks are those
 * of the communicator or the window. `request`: from 1 on, of the rank; 0: the call does not leave one behind. */
enum umw_event_kind {
  UMW_EVENT_DATA, /* belongs to the record before it; umw_event_data() */
  /* of calls: those of MPI by enum umw_mpi_function, others from UMW_EVENT_FUNCTIONS on */
  UMW_EVENT_ENTER,
  UMW_EVENT_LEAVE,
  /* of messages: object: communicator; peer: rank; tag; bytes */
  UMW_EVENT_SEND,
  UMW_EVENT_SENT, /* a send with a request is complete */
  UMW_EVENT_RECEIVE_BEGUN,
  UMW_EVENT_RECEIVED,
  UMW_EVENT_CANCELLED, /* the request */
  /* of collectives: function; object: communicator; peer: root, or -1; bytes that the rank hands over, more: that it
   * gets. With a request: it is begun, it is complete */
  UMW_EVENT_COLLECTIVE_BEGIN,
  UMW_EVENT_COLLECTIVE_END,
  /* of windows: object: window; peer: target; bytes that go there, more: that come from there */
  UMW_EVENT_WINDOW_MADE, /* request: number of its communicator */
  UMW_EVENT_WINDOW_FREED,
  UMW_EVENT_RMA, /* request: its number, which UMW_EVENT_RMA_DONE tells again */
  UMW_EVENT_RMA_DONE,
  /* of files: object: file; bytes */
  UMW_EVENT_FILE_OPENED, /* tag: its mode */
  UMW_EVENT_FILE_CLOSED,
  UMW_EVENT_IO_BEGIN, /* tag: enum umw_event_io; bytes that are asked for; request: its number */
  UMW_EVENT_IO_ISSUED,
  UMW_EVENT_IO_END, /* bytes: that were read or written */
  /* what they speak of; these have no time. DATA: more bytes */
  UMW_EVENT_COMMUNICATOR, /* see umw_event_members; DATA: what it is called */
  UMW_EVENT_FILE,         /* object; request: number of its communicator; DATA: its path */
  UMW_EVENT_FUNCTION      /* function; DATA: its name */
};

enum umw_event_io { UMW_EVENT_IO_READ = 1, UMW_EVENT_IO_WRITE = 2, UMW_EVENT_IO_COLLECTIVE = 4 };

/* flags of UMW_EVENT_COMMUNICATOR. Its members, ranks of MPI_COMM_WORLD: `bytes` of them, the first is `peer`, each
 * further one by `tag` more; or as int32_t in DATA, before the name. `request`: how many with the same members the rank
 * has made before. Between two groups: those of the other side, then another record with those of the own. */
enum umw_event_members { UMW_EVENT_LISTED = 1, UMW_EVENT_TWO_GROUPS = 2, UMW_EVENT_OWN_GROUP = 4 };

enum { UMW_EVENT_FUNCTIONS = 0x8000, UMW_EVENT_DATA_BYTES = 48 };

struct umw_event {
  uint8_t kind; /* enum umw_event_kind */
  uint8_t flags;
  uint16_t function;
  int32_t tid;
  int64_t time_ps;
  uint64_t request;
  uint64_t bytes, more;
  int32_t peer, tag;
  uint32_t object;
  uint32_t unused;
};

/* In the rank's memory: those that have not been handed over yet. */
struct umw_events {
  uint32_t used, room;
  struct umw_event events[];
};

/* The bytes of UMW_EVENT_DATA. */
static inline void* umw_event_data(struct umw_event* event)
{
  return &event->time_ps;
}
