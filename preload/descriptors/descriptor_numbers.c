/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "preload/shim.h"

#include "preload/descriptors/descriptor_numbers.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Only the pages of numbers in use are ever touched. */
int umw_moves[umw_most_numbers];
static int backs[umw_most_numbers];           /* by the process's number: ^ the program's */
static bool flags_of_moved[umw_most_numbers]; /* FD_CLOEXEC as the program sees it, by its number */
static int moved_end;                         /* no number from here on has ever been moved */
static int homes[3];

static bool in_table(int fd)
{
  return fd >= 0 && fd < umw_most_numbers;
}

static bool is_closed(int number)
{
  return umw_moves[number] == ~number;
}

static bool is_home(int own)
{
  return own == homes[0] || own == homes[1] || own == homes[2];
}

int umw_number(int own)
{
  return in_table(own) ? own ^ backs[own] : own;
}

static uint32_t self(void)
{
  return umw_gate->owner;
}

bool umw_is_own(int own)
{
  return in_table(own) && umw_gate && umw_gate->descriptor_owners[own] == self();
}

static bool is_others(int own)
{
  const uint32_t owner = umw_gate->descriptor_owners[own];
  return owner != 0 && owner != self();
}

void umw_count_opening(int more)
{
  if (!umw_gate)
    return;
  umw_gate->opening += (uint32_t)more;
  __atomic_fetch_add(umw_gate->openers, (uint32_t)more, __ATOMIC_RELAXED);
}

/* It is open, and not by a call of another rank: the shim has not seen it opened. In this order: other ranks may run in
 * between, and what one of them opens where nothing was is not found by the first look; what it had there before is
 * found to be its own, or nothing, by the second. */
static bool is_nobodys(int own)
{
  const int error = errno;
  const bool others_open = *umw_gate->openers != umw_gate->opening, open = UMW_REAL(fcntl)(own, F_GETFD) >= 0;
  errno = error;
  return open && !others_open && umw_gate->descriptor_owners[own] == 0;
}

bool umw_may_use(int own)
{
  return !in_table(own) || !umw_gate || umw_is_own(own) || is_nobodys(own);
}

int umw_open_descriptor(int number)
{
  const int own = umw_descriptor(number);
  return umw_may_use(own) ? own : -1;
}

void umw_own(int own)
{
  if (in_table(own))
    umw_gate->descriptor_owners[own] = self();
}

void umw_disown(int own)
{
  if (umw_is_own(own) && !is_home(own))
    umw_gate->descriptor_owners[own] = 0;
}

/* What is there before the rank and no other rank's is Umwelt's. */
static void mark_others(void)
{
  enum { most_at_start = 4096, at_once = 256 };
  static bool open[most_at_start];
  int end = 0; /* of those that poll(2) knows */
  for (int begin = 0; begin < most_at_start; begin += at_once) {
    struct pollfd descriptors[at_once];
    for (int i = 0; i < at_once; ++i)
      descriptors[i] = (struct pollfd){.fd = begin + i};
    const bool known = UMW_REAL(poll)(descriptors, at_once, 0) >= 0;
    for (int i = 0; i < at_once; ++i)
      if ((open[begin + i] = known && !(descriptors[i].revents & POLLNVAL)))
        end = begin + i + 1;
  }
  for (int own = 0; own < end; ++own) /* it does not know O_PATH: working directories */
    if (umw_gate->descriptor_owners[own] == 0 && (open[own] || UMW_REAL(fcntl)(own, F_GETFD) >= 0))
      umw_gate->descriptor_owners[own] = UMW_OWN_DESCRIPTOR;
}

/* The program knows `own` by that number. */
static void bind(int number, int own)
{
  if (!in_table(own)) /* of so high a one nothing can be remembered */
    return;
  umw_moves[number] = number ^ own;
  backs[own] = number ^ own;
  if (number == own)
    return;
  if (umw_moves[own] == 0)
    umw_moves[own] = ~own; /* the process's number means nothing to it */
  const int higher = number > own ? number : own;
  moved_end = higher < moved_end ? moved_end : higher + 1;
}

static void unbind(int own)
{
  const int number = umw_number(own);
  backs[own] = 0;
  umw_moves[number] = number < 3 || backs[number] != 0 || is_home(number) ? ~number : 0;
  if (own >= 3 && number != own && is_closed(own) && !is_home(own))
    umw_moves[own] = 0;
}

void umw_numbers_begin(void)
{
  const int error = errno;
  mark_others();
  for (int number = 0; number < 3; ++number) {
    homes[number] = umw_gate->standard_fds[number];
    umw_own(homes[number]);
    bind(number, homes[number]);
  }
  if (umw_gate->pmi_fd >= 0)
    umw_own(umw_gate->pmi_fd);
  errno = error;
}

void umw_number_restore(int number, int own)
{
  if (!in_table(number) || own == umw_descriptor(number))
    return;
  if (number < 3)
    unbind(homes[number]);
  if (own >= 0)
    bind(number, own);
}

/* Nothing can be done with what is there, but the place is kept. */
static void board_up(int own)
{
  const int error = errno;
  umw_gate->no_preempt = 1; /* another rank of the process would take for nobody's what is open for a moment */
  const int nothing = UMW_REAL(open)("/", O_PATH | O_CLOEXEC);
  if (nothing >= 0 && nothing != own) {
    UMW_REAL(dup3)(nothing, own, O_CLOEXEC);
    UMW_REAL(close)(nothing);
  }
  umw_gate->no_preempt = 0;
  errno = error;
}

static bool closes_on_exec(int own)
{
  return (UMW_REAL(fcntl)(own, F_GETFD) & FD_CLOEXEC) != 0;
}

/* The flag is the program's; the process's own children do not inherit what has another number. */
static void keep_flag(int number, int own, bool flag)
{
  if (number == own)
    return;
  flags_of_moved[number] = flag;
  UMW_REAL(fcntl)(own, F_SETFD, FD_CLOEXEC);
}

static int free_number(int least)
{
  for (int number = least < 3 ? 3 : least; number < umw_most_numbers; ++number)
    if (umw_moves[number] == 0 && backs[number] == 0 && !umw_is_own(number) && UMW_REAL(fcntl)(number, F_GETFD) < 0)
      return number;
  return -1;
}

int umw_number_new(int* own, int least, bool moves)
{
  const int error = errno;
  int number = *own;
  if (!in_table(number))
    return number;
  if (backs[number] != 0) /* the C library has closed by itself what was there */
    unbind(number);
  const bool flag = closes_on_exec(*own);
  for (int closed = least < 0 ? 0 : least; closed < 3; ++closed) {
    if (!is_closed(closed))
      continue;
    if (moves && UMW_REAL(dup3)(*own, homes[closed], O_CLOEXEC) >= 0) {
      UMW_REAL(close)(*own);
      *own = homes[closed];
    }
    bind(closed, *own);
    keep_flag(closed, *own, flag);
    errno = error;
    return closed;
  }
  if (umw_moves[number] != 0 && (number = free_number(least)) >= 0) {
    bind(number, *own);
    keep_flag(number, *own, flag);
  }
  errno = error;
  return number < 0 ? *own : number;
}

int umw_number_copy(int from, int number, int flags)
{
  if (!in_table(number))
    return UMW_REAL(dup3)(from, number, flags) < 0 ? -1 : 0;
  int own = umw_descriptor(number);
  if (own >= 0 && umw_is_own(own)) {
    if (UMW_REAL(dup3)(from, own, flags) < 0)
      return -1;
  } else if (number < 3) {
    own = homes[number];
    if (UMW_REAL(dup3)(from, own, flags) < 0)
      return -1;
  } else {
    own = UMW_REAL(fcntl)(from, flags & O_CLOEXEC ? F_DUPFD_CLOEXEC : F_DUPFD, number);
    if (own < 0)
      return -1;
    if (!in_table(own)) { /* a number of which nothing can be remembered */
      UMW_REAL(close)(own);
      errno = EMFILE;
      return -1;
    }
  }
  bind(number, own);
  keep_flag(number, own, (flags & O_CLOEXEC) != 0);
  return 0;
}

void umw_number_closing(int own)
{
  if (is_home(own))
    umw_gate->no_preempt = 1;
}

void umw_number_closed(int own)
{
  if (!in_table(own))
    return;
  if (backs[own] != 0)
    unbind(own);
  if (is_home(own)) {
    board_up(own);
  }
}

int umw_number_close(int own)
{
  const int result = is_home(own) ? 0 : UMW_REAL(close)(own);
  const int error = errno;
  umw_number_closed(own);
  errno = error;
  return result;
}

void umw_number_reopened(int own)
{
  if (in_table(own) && backs[own] != 0)
    keep_flag(umw_number(own), own, closes_on_exec(own));
  if (is_home(own))
    umw_gate->no_preempt = 0;
}

bool umw_number_flags(int number, int* flags)
{
  if (!in_table(number) || umw_moves[number] == 0 || is_closed(number))
    return false;
  *flags = flags_of_moved[number] ? FD_CLOEXEC : 0;
  return true;
}

bool umw_number_set_flags(int number, int flags)
{
  if (!in_table(number) || umw_moves[number] == 0 || is_closed(number))
    return false;
  flags_of_moved[number] = (flags & FD_CLOEXEC) != 0;
  return true;
}

/* --- children ----------------------------------------------------------------------------------------------------- */

static bool is_moved(int number)
{
  return umw_moves[number] != 0 && !is_closed(number);
}

/* The process's `own` will have something else of the program's in the child, or nothing. */
static bool is_target(int own)
{
  return own < moved_end && (own < 3 || is_moved(own));
}

static int sources[umw_most_numbers]; /* where the child finds what the program has by a number */

/* Where nothing is, nor will be, from `least` on: what lies in the place of something else is copied there first. */
static int spare_number(int least)
{
  while (is_target(least) || UMW_REAL(fcntl)(least, F_GETFD) >= 0)
    ++least;
  return least;
}

void umw_numbers_of_child(const struct umw_gate* gate)
{
  for (int own = 3; own < umw_most_numbers; ++own) {
    const uint32_t owner = gate->descriptor_owners[own];
    if (owner == 0 || owner == gate->owner)
      continue;
    if (owner != UMW_OWN_DESCRIPTOR ||
        UMW_REAL(fcntl)(own, F_GETFD) == 0) /* what Umwelt itself has inherited is not the program's */
      UMW_REAL(close)(own);
  }
  FILE* const streams[3] = {stdin, stdout, stderr};
  for (int number = 0, copy = 3; number < moved_end; ++number) {
    sources[number] = umw_descriptor(number);
    if (is_moved(number) && is_target(sources[number])) {
      copy = spare_number(copy);
      if (UMW_REAL(dup3)(sources[number], copy, O_CLOEXEC) >= 0)
        sources[number] = copy++;
    }
  }
  for (int number = 0; number < 3; ++number)
    if (streams[number]->_fileno == homes[number])
      streams[number]->_fileno = number;
  for (int number = 0; number < moved_end; ++number)
    if (is_moved(number)) {
      UMW_REAL(dup3)(sources[number], number, flags_of_moved[number] ? O_CLOEXEC : 0);
      if (!is_target(sources[number]))
        UMW_REAL(close)(sources[number]);
    } else if (number < 3 && is_closed(number)) {
      UMW_REAL(close)(number);
    }
  memset(umw_moves, 0, (size_t)moved_end * sizeof *umw_moves);
  memset(backs, 0, (size_t)moved_end * sizeof *backs);
}

/* glibc, posix/spawn_int.h: what a list of file actions holds. */
struct __spawn_action {
  enum { does_close, does_dup2, does_open, does_chdir, does_fchdir, does_closefrom, does_tcsetpgrp } tag;
  union {
    int fd;
    struct {
      int from, to;
    } dup2;
    struct {
      int fd;
      char* path;
      int flags;
      mode_t mode;
    } open;
  } action;
};

static bool closes_at_exec(int number)
{
  return is_moved(number) && flags_of_moved[number];
}

/* Whether the child has `number` because of these, though the program has it closed at exec. */
static bool is_made_by(const posix_spawn_file_actions_t* wanted, int number)
{
  bool made = false;
  for (int i = 0; i < wanted->__used; ++i) {
    const struct __spawn_action* each = &wanted->__actions[i];
    made = made || (each->tag == does_dup2 && each->action.dup2.to == number) ||
           (each->tag == does_open && each->action.open.fd == number); /* O_CLOEXEC holds by itself */
  }
  return made;
}

/* A descriptor of another's that the child would inherit. */
static bool is_to_be_hidden(int own)
{
  return is_others(own) && UMW_REAL(fcntl)(own, F_GETFD) == 0;
}

static int close_others(posix_spawn_file_actions_t* actions)
{
  int error = 0;
  for (int own = 3; own < umw_most_numbers && error == 0; ++own)
    if (is_to_be_hidden(own))
      error = posix_spawn_file_actions_addclose(actions, own);
  return error;
}

/* What lies where something else is to be is copied away first. */
static int copy_away(posix_spawn_file_actions_t* actions)
{
  int error = 0, copy = 3;
  for (int number = 0; number < moved_end && error == 0; ++number) {
    sources[number] = umw_descriptor(number);
    if (!is_moved(number) || !is_target(sources[number]))
      continue;
    copy = spare_number(copy);
    error = posix_spawn_file_actions_adddup2(actions, sources[number], copy);
    sources[number] = copy++;
  }
  return error;
}

static int put_in_place(posix_spawn_file_actions_t* actions, bool all)
{
  int error = 0;
  for (int number = 0; number < moved_end && error == 0; ++number)
    if (is_moved(number) && (all || !closes_at_exec(number)))
      error = posix_spawn_file_actions_adddup2(actions, sources[number], number);
    else if (number < 3 || is_moved(number))
      error = posix_spawn_file_actions_addclose(actions, number);
  for (int number = 0; number < moved_end && error == 0; ++number)
    if (is_moved(number) && sources[number] != umw_descriptor(number))
      error = posix_spawn_file_actions_addclose(actions, sources[number]);
  return error;
}

static int add_wanted(posix_spawn_file_actions_t* actions, const posix_spawn_file_actions_t* wanted)
{
  int error = 0;
  for (int i = 0; i < wanted->__used && error == 0; ++i) {
    error = posix_spawn_file_actions_addclose(actions, 0); /* room for one */
    if (error == 0)
      actions->__actions[actions->__used - 1] = wanted->__actions[i];
  }
  for (int number = 0; number < moved_end && error == 0; ++number)
    if (closes_at_exec(number) && !is_made_by(wanted, number))
      error = posix_spawn_file_actions_addclose(actions, number);
  return error;
}

/* The child does all of it to a table of its own: the process's is what other ranks and the runtime's threads go on
 * with. */
int umw_numbers_of_spawned(posix_spawn_file_actions_t* actions, const posix_spawn_file_actions_t* wanted)
{
  int error = close_others(actions);
  if (error == 0)
    error = copy_away(actions);
  if (error == 0)
    error = put_in_place(actions, wanted != NULL);
  return error == 0 && wanted ? add_wanted(actions, wanted) : error;
}

int umw_count_for_spawned(const posix_spawn_file_actions_t* wanted)
{
  enum { some = 8 }; /* that others may open before it comes to that */
  int count = (wanted ? wanted->__used : 0) + some;
  for (int own = 3; own < umw_most_numbers; ++own)
    count += is_to_be_hidden(own);
  for (int number = 0; number < moved_end; ++number)
    count += number < 3 || is_moved(number) ? 4 : 0;
  return count;
}
