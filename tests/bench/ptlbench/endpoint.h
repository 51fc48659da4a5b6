/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The Portals objects of one rank: a matching interface, a buffer with a memory descriptor and list entries, queues. */
#ifndef PTLBENCH_ENDPOINT_H
#define PTLBENCH_ENDPOINT_H

#include <stdbool.h>
#include <stddef.h>

#include <portals4.h>

/* Which events a mode needs, and where. */
struct roles {
  bool send_events;   /* the initiator gets SEND */
  bool no_ack;        /* Puts ask for no acknowledgement */
  bool counting;      /* counters take the place of event queues */
  bool target_events; /* whoever is put to gets PUT events and takes them, or counts them */
};

struct endpoint {
  int rank;
  ptl_process_t peer;
  ptl_handle_ni_t ni;
  ptl_pt_index_t data;    /* portal table entry of the buffer */
  ptl_pt_index_t control; /* of messages without payload that end a measurement */
  char* buffer;
  ptl_handle_eq_t completions; /* of what this rank starts */
  ptl_handle_ct_t counter;     /* instead, with roles.counting; at the target it counts what arrives */
  ptl_handle_eq_t arrivals;    /* PUT events of both portal table entries */
  ptl_handle_md_t md;          /* the buffer, with `completions` or `counter` */
  ptl_handle_md_t control_md;  /* empty, no events */
  ptl_handle_me_t control_entry;
  size_t entry_count;
  ptl_handle_me_t* entries;
  struct roles roles;
};

/* `size`: bytes of the buffer; `queue`: events that may be waiting; `entries`: of the match list, the last of them
 * takes the messages. Ends the program with a message if anything fails. */
void open_endpoint(struct endpoint* endpoint, const struct roles* roles, size_t size, size_t queue, size_t entries);
void close_endpoint(struct endpoint* endpoint);

/* The memory descriptor is that of the buffer's first `size` bytes from now on; nothing may be under way. */
void rebind_buffer(struct endpoint* endpoint, size_t size);

/* Ends the program, with the call and the name of its result, unless that is PTL_OK. */
void check(const char* call, int result);

#endif
