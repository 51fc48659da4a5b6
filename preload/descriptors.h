/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the shim knows of the rank's descriptors: which are simulated sockets (sockets.c), and on which a call may have to wait for
 * another thread or rank (pipes, sockets of the node, eventfds). Such a wait is simulated: a call never blocks in the kernel, which would
 * stop everything. Descriptors 0, 1 and 2 lead out of the simulation: a wait there is real. As long as the rank has a child it may be the child's
 * end, and real time goes by, too. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#pragma GCC visibility push(hidden)

struct umw_socket {
  int number;      /* the runtime's */
  int descriptors; /* that lead to it */
  bool datagram;
  bool nonblocking; /* as the program knows it; the descriptor itself always is */
  bool connecting;  /* connect() was called */
  bool connected;   /* ... and is known to have succeeded, or it came from accept() */
  bool listening;
  int send_buffer;                       /* to be set once the connection stands; 0: it is */
  int64_t receive_timeout, send_timeout; /* ps; 0: none */
  int options[64];                       /* of IPPROTO_TCP, remembered only */
};

/* Null: `fd` is none. */
struct umw_socket* umw_socket_of(int fd);
void umw_note_socket(int fd, struct umw_socket* socket);

void umw_note_opened(int fd); /* a new descriptor of the rank: what was known of the number is void; -1: none */
void umw_note_closed(int fd);
/* What is open when the rank begins is not its own. */
void umw_note_foreign(void);
/* Whether the rank may have `more` descriptors; EMFILE. Asked before they are made. */
bool umw_may_open(int more);
/* epoll(7) `epfd` looks at `fd`, too. */
void umw_note_watched(int epfd, int fd);
/* The program looks at `fd`: whatever has happened to its sockets it knows, if that is one or an epoll of some. */
void umw_look_at(int fd);
void umw_note_copied(int from, int to); /* `to` may be -1 */
/* Closes it; the result of close(2). */
int umw_close(int fd);

/* The rank has a child, whose end of a pipe moves in real time. */
void umw_note_child(int pid);
bool umw_has_children(void);

/* Waits until poll(2) finds one of `events` (or an error) on `fd`; `deadline`: ps, negative: none. 1: it does, 0: time-out, -1: EINTR. */
int umw_await(int fd, short events, int64_t deadline);
/* Waits until another thread or rank of the node has done something with a descriptor since the gate's count of wakes was `seen`. Results as
 * above; 1 may come too early. */
int umw_await_change(uint64_t seen, int64_t deadline);
/* Before a call on a descriptor that is no simulated socket: waits until it does not block. False: EINTR. */
bool umw_ready_to_read(int fd);
/* The same; *most is how many bytes may be written without blocking. */
bool umw_ready_to_write(int fd, size_t* most);
/* Something was written to `fd` or read from it, or an end opened or closed: who waits for it looks again. */
void umw_descriptor_written(int fd);
/* Calls on it may wait: a pipe, a socket, an eventfd ... */
bool umw_may_wait(int fd);
/* It is a socket that the kernel serves. */
bool umw_is_local_socket(int fd);
/* open(2) of a FIFO, which waits for the other end; -2: `path` is none, or the call does not wait. */
int umw_open_fifo(int folder, const char* path, int flags);
#pragma GCC visibility pop
