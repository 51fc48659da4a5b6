/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the shim knows of the rank's descriptors, by the process's number: which are simulated sockets (sockets.c), and
 * on which a call may have to wait for another thread or rank (pipes, sockets of the node, eventfds). Such a wait is
 * simulated: a call never blocks in the kernel, which would stop everything. Descriptors 0, 1 and 2 lead out of the
 * simulation: a wait there is real. As long as the rank has a child it may be the child's end, and real time goes by,
 * too. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "preload/descriptors/descriptor_numbers.h"

#pragma GCC visibility push(hidden)

#define UMW_TCP_OPTIONS 64
#define UMW_IPV6_OPTIONS 80

struct umw_socket {
  int number;      /* the runtime's */
  int descriptors; /* that lead to it */
  bool datagram;
  bool v6, only_v6; /* AF_INET6; and IPV6_V6ONLY */
  bool nonblocking; /* as the program knows it; the descriptor itself always is */
  bool connecting;  /* connect() was called */
  bool connected;   /* ... and is known to have succeeded, or it came from accept() */
  bool listening;
  bool at_end;                           /* the program has been told that nothing more will come */
  int send_buffer;                       /* to be set once the connection stands; 0: it is */
  int64_t receive_timeout, send_timeout; /* ps; 0: none */
  int tcp_options[UMW_TCP_OPTIONS];      /* remembered only */
  int ipv6_options[UMW_IPV6_OPTIONS];    /* likewise */
};

/* Null: `fd` is none. */
struct umw_socket* umw_socket_of(int fd);
/* As umw_note_opened. */
int umw_note_socket(int fd, struct umw_socket* socket);

/* A new descriptor of the rank: what was known of it is void. Returns the program's number; -1: `fd` is none. */
int umw_note_opened(int fd);
/* The same of both of `ends`, if the call that makes them has returned 0; that result. */
int umw_note_both(int result, int ends[2]);
/* The same for one that must stay where it is, since somebody else knows where. */
int umw_note_kept(int fd);
/* The C library is about to close it, and one of the two below follows: what goes with it is released. */
void umw_note_closing(int fd);
/* Something else was opened in its place (freopen). */
void umw_note_reopened(int fd);
/* The C library has closed it. */
void umw_note_closed(int fd);
/* The rank's 0, 1 and 2 are what it begins with, or, as others, what the program that has executed this one has left to
 * it. */
void umw_note_standard(void);
/* At execve(2): closes what is to be closed then (FD_CLOEXEC, and simulated sockets), and returns the others: the
 * program's number and the process's of each, -1 for what is not open of 0, 1 and 2; -1 behind them. Null: there is no
 * memory. */
int32_t* umw_descriptors_to_keep(void);
/* Whether the rank may have `more` descriptors; EMFILE. Asked before they are made. */
bool umw_may_open(int more);
/* `expression` makes a descriptor and notes it: another rank of the process that ran in between would take it for
 * nobody's. It must neither wait nor allocate: who is not interrupted would wait for ever for another thread that has
 * the heap. */
#define UMW_UNINTERRUPTED(expression)                                                                                  \
  ({                                                                                                                   \
    if (umw_gate)                                                                                                      \
      umw_gate->no_preempt = 1;                                                                                        \
    const __auto_type umw_result_ = (expression);                                                                      \
    if (umw_gate)                                                                                                      \
      umw_gate->no_preempt = 0;                                                                                        \
    umw_result_;                                                                                                       \
  })
/* The same of one that does: who looks at the new number in between learns that it is not its own. */
#define UMW_OPENING(expression)                                                                                        \
  ({                                                                                                                   \
    umw_count_opening(1);                                                                                              \
    const __auto_type umw_result_ = (expression);                                                                      \
    umw_count_opening(-1);                                                                                             \
    umw_result_;                                                                                                       \
  })
/* epoll(7) `epfd` looks at `fd`, too. */
void umw_note_watched(int epfd, int fd);
/* The program looks at `fd`: whatever has happened to its sockets it knows, if that is one or an epoll of some. */
void umw_look_at(int fd);
/* dup2 closes `to`. */
void umw_about_to_copy(int from, int to);
/* `copy` is a new descriptor that leads where `from` leads; returns the program's number, from `least` on. -1: none. */
int umw_note_copied(int from, int copy, int least);
/* dup2 has made `to` one, whatever it was before. */
void umw_note_replaced(int from, int to);
/* Closes it; the result of close(2). */
int umw_close(int fd);

/* The rank has a child, whose end of a pipe moves in real time. */
void umw_note_child(int pid);
bool umw_has_children(void);

/* Waits until poll(2) finds one of `events` (or an error) on `fd`; `deadline`: ps, negative: none. 1: it does, 0:
 * time-out, -1: EINTR. */
int umw_await(int fd, short events, int64_t deadline);
/* Waits until another thread or rank of the node has done something with a descriptor since the gate's count of wakes
 * was `seen`. Results as above; 1 may come too early. */
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
int umw_open_fifo(int directory, const char* path, int flags);
#pragma GCC visibility pop
