/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "preload/shim.h"

#include "preload/descriptors/descriptors.h"
#include "preload/descriptors/file_locks.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum kind {
  unknown,
  plain,
  waits,
  local_socket,
  simulated,
  watches, /* an epoll that looks at simulated sockets */
  outside  /* the rank's standard streams, and copies of them */
};

#define most_known umw_most_numbers

/* Only the pages of numbers in use are ever touched. */
static uint8_t kinds[most_known];
static struct umw_socket* sockets[most_known];
static int* children;
static size_t child_count;
static bool owned[most_known]; /* the rank has opened it and not closed */
static int owned_count;

static bool in_table(int fd)
{
  return fd >= 0 && fd < most_known;
}

struct umw_socket* umw_socket_of(int fd)
{
  return umw_gate && in_table(fd) && kinds[fd] == simulated ? sockets[fd] : NULL;
}

static void opened(int fd)
{
  if (!in_table(fd))
    return;
  kinds[fd] = unknown;
  owned_count += !owned[fd];
  owned[fd] = true;
  umw_own(fd);
}

static int note_new(int fd, bool moves)
{
  if (fd < 0 || !umw_gate)
    return fd;
  const int number = umw_number_new(&fd, 0, moves);
  opened(fd);
  return number;
}

int umw_note_opened(int fd)
{
  return note_new(fd, true);
}

int umw_note_both(int result, int ends[2])
{
  for (int i = 0; i < 2 && result == 0 && umw_gate; ++i)
    ends[i] = umw_note_opened(ends[i]);
  return result;
}

int umw_note_kept(int fd)
{
  return note_new(fd, false);
}

void umw_note_reopened(int fd)
{
  opened(fd);
  umw_number_reopened(fd);
}

static void lead_to(int fd, struct umw_socket* socket)
{
  if (!in_table(fd))
    return;
  kinds[fd] = simulated;
  sockets[fd] = socket;
  ++socket->descriptors;
}

int umw_note_socket(int fd, struct umw_socket* socket)
{
  const int number = umw_note_opened(fd);
  lead_to(umw_descriptor(number), socket);
  return number;
}

void umw_note_standard(void)
{
  umw_numbers_begin();
  for (int number = 0; number < 3; ++number) {
    const int own = umw_descriptor(number);
    opened(own);
    if (in_table(own))
      kinds[own] = outside;
  }
  for (const int32_t* kept = umw_gate->kept_fds; kept && kept[0] >= 0; kept += 2) {
    umw_number_restore(kept[0], kept[1]);
    opened(kept[1]);
  }
}

/* Whether the program that follows has the rank's `number`, too. */
static bool survives_exec(int number)
{
  const int own = umw_descriptor(number);
  int flags;
  if (!umw_number_flags(number, &flags))
    flags = UMW_REAL(fcntl)(own, F_GETFD);
  const bool socket = in_table(own) && kinds[own] == simulated;
  if (socket && flags >= 0 && !(flags & FD_CLOEXEC))
    umw_warn("exec: a socket of the simulated network is closed, since it does not pass from one program to the next");
  return flags >= 0 && !(flags & FD_CLOEXEC) && !socket;
}

int32_t* umw_descriptors_to_keep(void)
{
  int32_t* kept = malloc(((size_t)owned_count + 4) * 2 * sizeof *kept);
  size_t count = 0;
  if (!kept)
    return NULL;
  for (int number = 0; number < umw_most_numbers; ++number) {
    int own = umw_descriptor(number);
    if (own >= 0 && !umw_is_own(own))
      continue;
    if (own >= 0 && !survives_exec(number)) {
      umw_close(own);
      own = -1;
    }
    const bool as_at_first = own >= 0 && number < 3 && in_table(own) && kinds[own] == outside;
    if (as_at_first || (own < 0 && number > 2) || count >= (size_t)owned_count + 3)
      continue;
    kept[2 * count] = number;
    kept[2 * count++ + 1] = own;
  }
  kept[2 * count] = -1;
  return kept;
}

static void disown(int fd)
{
  if (!in_table(fd))
    return;
  kinds[fd] = unknown;
  owned_count -= owned[fd];
  owned[fd] = false;
  umw_disown(fd);
}

bool umw_may_open(int more)
{
  if (!umw_gate || (uint64_t)owned_count + (uint64_t)more <= umw_gate->descriptors_soft)
    return true;
  for (int fd = 0; fd < most_known; ++fd) /* the C library may have closed some (pclose) */
    if (owned[fd] && UMW_REAL(fcntl)(fd, F_GETFD) < 0) {
      disown(fd);
      umw_number_closed(fd);
    }
  if ((uint64_t)owned_count + (uint64_t)more <= umw_gate->descriptors_soft)
    return true;
  errno = EMFILE;
  return false;
}

void umw_note_watched(int epfd, int fd)
{
  if (in_table(epfd) && in_table(fd) && (kinds[fd] == simulated || kinds[fd] == watches))
    kinds[epfd] = watches;
}

void umw_look_at(int fd)
{
  if (in_table(fd) && (kinds[fd] == simulated || kinds[fd] == watches))
    umw_gate->descriptor_seen = umw_gate->descriptor_news;
}

/* `fd` leads to it no more; the last one closes it. */
static void leave(int fd)
{
  struct umw_socket* socket = umw_socket_of(fd);
  disown(fd);
  if (!socket || --socket->descriptors > 0)
    return;
  umw_socket_close(socket->number);
  free(socket);
}

void umw_about_to_copy(int from, int to)
{
  if (umw_gate && from != to && UMW_REAL(fcntl)(from, F_GETFD) >= 0)
    umw_locks_closing(to);
}

static void copied(int from, int to)
{
  struct umw_socket* socket = umw_socket_of(from);
  if (socket)
    lead_to(to, socket);
  else if (in_table(from) && in_table(to))
    kinds[to] = kinds[from];
  umw_locks_copied(from, to);
}

int umw_note_copied(int from, int copy, int least)
{
  if (!umw_gate || copy < 0)
    return copy;
  const int number = umw_number_new(&copy, least, true);
  opened(copy);
  copied(from, copy);
  return number;
}

void umw_note_replaced(int from, int to)
{
  if (!umw_gate)
    return;
  leave(to); /* dup2 has closed it */
  opened(to);
  copied(from, to);
}

void umw_note_closing(int fd)
{
  if (!umw_gate || fd < 0)
    return;
  umw_locks_closing(fd);
  umw_number_closing(fd);
}

void umw_note_closed(int fd)
{
  if (!umw_gate || fd < 0)
    return;
  umw_number_closed(fd); /* before anything that lets others run */
  leave(fd);
}

static enum kind classify(int fd)
{
  struct stat status;
  if (UMW_REAL(fstat)(fd, &status) != 0)
    return unknown;
  if (S_ISSOCK(status.st_mode))
    return local_socket;
  return S_ISFIFO(status.st_mode) || (status.st_mode & S_IFMT) == 0 ? waits : plain;
}

static enum kind kind_of(int fd)
{
  if (!in_table(fd))
    return classify(fd);
  if (kinds[fd] == unknown)
    kinds[fd] = (uint8_t)classify(fd);
  return kinds[fd];
}

static void wake(bool others)
{
  ++umw_gate->wakes;
  if (umw_descriptor_waiters > 0)
    umw_thread_wake(0, 0);
  if (others && umw_gate->local_ranks > 1)
    umw_node_wake(0);
}

int umw_close(int fd)
{
  if (!umw_may_use(fd)) {
    errno = EBADF; /* for the rank there is none */
    return -1;
  }
  const bool known = umw_gate && in_table(fd) && (kinds[fd] == waits || kinds[fd] == local_socket);
  if (known && umw_gate->local_ranks > 1)
    umw_clock_settle(0);
  if (!umw_gate)
    return UMW_REAL(close)(fd);
  umw_locks_closing(fd);
  const int result = umw_number_close(fd);
  const int error = errno;
  leave(fd);
  if (known)
    wake(true); /* a reader may find the end of a pipe */
  errno = error;
  return result;
}

/* Programs close all there may be: those of the rank. */
UMW_PUBLIC int close_range(unsigned first, unsigned last, int flags)
{
  if (!umw_gate)
    return UMW_REAL(close_range)(first, last, flags);
  if (first > last || flags & ~(CLOSE_RANGE_CLOEXEC | CLOSE_RANGE_UNSHARE)) {
    errno = EINVAL;
    return -1;
  }
  for (unsigned fd = first; fd < most_known && fd <= last; ++fd)
    if (umw_descriptor((int)fd) >= 0 && owned[umw_descriptor((int)fd)]) {
      if (flags & CLOSE_RANGE_CLOEXEC)
        fcntl((int)fd, F_SETFD, FD_CLOEXEC);
      else
        close((int)fd);
    }
  return 0;
}

UMW_PUBLIC void closefrom(int first)
{
  if (umw_gate)
    close_range(first < 0 ? 0 : (unsigned)first, ~0U, 0);
  else
    UMW_REAL(closefrom)(first);
}

void umw_note_child(int pid)
{
  int* more = realloc(children, (child_count + 1) * sizeof *more);
  if (!more)
    return;
  children = more;
  children[child_count++] = pid;
}

bool umw_has_children(void)
{
  const int error = errno;
  for (size_t i = 0; i < child_count;) {
    siginfo_t info = {.si_pid = 0};
    if (waitid(P_PID, (id_t)children[i], &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0)
      ++i;
    else
      children[i] = children[--child_count];
  }
  errno = error;
  return child_count > 0;
}

/* With a child the other end of a pipe may be its: as much real time goes by as it needs, but if it is another rank's
 * after all, that must get on, too: after a second others run every 10 ms. False: it is their turn. */
static bool wait_for_child(struct pollfd* descriptor, int* rounds)
{
  umw_yield(0);
  const bool child_first = ++*rounds <= 100 || *rounds % 2 != 0;
  if (child_first)
    UMW_REAL(poll)(descriptor, 1, 10);
  return child_first;
}

int umw_await(int fd, short events, int64_t deadline)
{
  const unsigned final = umw_interruptions.final;
  struct pollfd descriptor = {fd, events, 0};
  int child_checks = 0;
  for (;;) {
    const uint64_t seen = umw_gate->wakes; /* from before the look, see threads/waiting.h */
    umw_test_cancel();
    umw_look_at(fd);
    const bool with_child =
        umw_has_children(); /* from before the look: what the last one did at its end is seen then */
    const int found = UMW_REAL(poll)(&descriptor, 1, 0);
    if (found > 0 || (found < 0 && errno != EINTR)) /* EINTR: Umwelt's own signals */
      return 1;
    int64_t left = -1;
    if (deadline >= 0) {
      left = deadline - umw_now_ps(NULL);
      if (left <= 0)
        return 0;
    }
    if (with_child && wait_for_child(&descriptor, &child_checks))
      continue;
    ++umw_descriptor_waiters;
    umw_descriptor_wait(seen, left);
    --umw_descriptor_waiters;
    if (umw_interruptions.final != final) {
      errno = EINTR;
      return -1;
    }
  }
}

int umw_await_change(uint64_t seen, int64_t deadline)
{
  const unsigned final = umw_interruptions.final;
  int64_t left = -1;
  if (deadline >= 0) {
    left = deadline - umw_now_ps(NULL);
    if (left <= 0)
      return 0;
  }
  umw_test_cancel();
  ++umw_descriptor_waiters;
  umw_descriptor_wait(seen, left);
  --umw_descriptor_waiters;
  if (umw_interruptions.final == final)
    return 1;
  errno = EINTR;
  return -1;
}

/* Whether a call on it may have to wait, and does so in simulated time. */
static bool may_block(int fd)
{
  if (!umw_gate || fd < 0)
    return false;
  if (kind_of(fd) != waits && kind_of(fd) != local_socket)
    return false;
  umw_clock_settle(0); /* those at earlier times come first */
  return !(UMW_REAL(fcntl)(fd, F_GETFL) & O_NONBLOCK);
}

bool umw_may_wait(int fd)
{
  const enum kind kind = fd < 0 ? unknown : kind_of(fd);
  return kind == waits || kind == local_socket || kind == simulated;
}

bool umw_is_local_socket(int fd)
{
  return umw_gate && fd >= 0 && kind_of(fd) == local_socket;
}

bool umw_ready_to_read(int fd)
{
  return !may_block(fd) || umw_await(fd, POLLIN, -1) > 0;
}

bool umw_ready_to_write(int fd, size_t* most)
{
  *most = SIZE_MAX;
  if (!may_block(fd))
    return true;
  *most = PIPE_BUF;
  return umw_await(fd, POLLOUT, -1) > 0;
}

void umw_descriptor_written(int fd)
{
  const bool may_wait = fd >= 0 && (kind_of(fd) == waits || kind_of(fd) == local_socket);
  if (may_wait)
    umw_gate->made_progress = UMW_GOT_ON;
  wake(may_wait);
}

/* --- FIFOs -------------------------------------------------------------------------------------------------------- */

/* Whether a FIFO that is open for reading has a writer, or had one since: tee(2) finds an end of file if not, and takes
 * nothing. */
static bool has_writer(int fd, const int scratch[2])
{
  struct pollfd descriptor = {fd, POLLIN, 0};
  if (UMW_REAL(poll)(&descriptor, 1, 0) > 0)
    return true;
  return UMW_REAL(tee)(fd, scratch[1], 1, SPLICE_F_NONBLOCK) != 0;
}

/* Others run before the program has it. */
static int of_rank(int fd)
{
  if (fd >= 0)
    umw_own(fd);
  return fd;
}

static int both_of_rank(int result, const int ends[2])
{
  for (int i = 0; i < 2 && result == 0; ++i)
    umw_own(ends[i]);
  return result;
}

static void close_own(int fd)
{
  UMW_REAL(close)(fd);
  umw_disown(fd); /* unless another rank has it already */
}

static int wait_for_writer(int fd)
{
  int scratch[2];
  if (UMW_UNINTERRUPTED(both_of_rank(UMW_REAL(pipe2)(scratch, O_CLOEXEC | O_NONBLOCK), scratch)) != 0)
    return -1;
  int waited = 1;
  for (;;) {
    const uint64_t seen = umw_gate->wakes;
    if (has_writer(fd, scratch))
      break;
    if ((waited = umw_await_change(seen, -1)) <= 0)
      break;
  }
  const int error = errno;
  close_own(scratch[0]);
  close_own(scratch[1]);
  errno = error;
  return waited;
}

int umw_open_fifo(int directory, const char* path, int flags)
{
  struct stat status;
  const int mode = flags & O_ACCMODE;
  if (!umw_gate || flags & (O_NONBLOCK | O_PATH) || mode == O_RDWR || umw_has_children())
    return -2;
  const int error = errno;
  const bool is_fifo = UMW_REAL(fstatat)(directory, path, &status, 0) == 0 && S_ISFIFO(status.st_mode);
  errno = error;
  if (!is_fifo)
    return -2;
  int fd;
  umw_clock_settle(0);
  for (;;) {
    const uint64_t seen = umw_gate->wakes;
    fd = UMW_UNINTERRUPTED(of_rank(UMW_REAL(openat)(directory, path, flags | O_NONBLOCK)));
    if (fd >= 0 || errno != ENXIO) /* nobody reads */
      break;
    if (umw_await_change(seen, -1) <= 0)
      return -1;
  }
  if (fd < 0)
    return -1;
  wake(true);
  if (mode == O_RDONLY && wait_for_writer(fd) <= 0) {
    const int failed = errno;
    close_own(fd);
    errno = failed;
    return -1;
  }
  UMW_REAL(fcntl)(fd, F_SETFL, UMW_REAL(fcntl)(fd, F_GETFL) & ~O_NONBLOCK);
  return fd;
}
