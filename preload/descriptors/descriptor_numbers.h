/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Numbers of descriptors. All ranks of a process share its descriptors, so what a program knows by a number may have
 * another one in the process. The two are the same but for
 *
 * - 0, 1 and 2: each of them has a place of its own in the process, its home, from the rank's beginning to its end.
 * When the program closes one, its home is kept by a descriptor with which nothing can be done (O_PATH), so that
 * streams of the C library that write there fail, and whatever the program opens next moves in: the lowest free number
 * is given out, and streams find it;
 * - numbers that the program has chosen itself (dup2) and that are another's in the process;
 * - numbers the process gives out while the program has something else by them.
 *
 * A wrapper of a call that takes a descriptor asks umw_descriptor() first and goes on with the process's number; all of
 * the shim's own tables have that one. A call that makes a descriptor gives the program what umw_note_opened() returns
 * (descriptors.h).
 *
 * Numbers from umw_most_numbers on are the same. */
#pragma once

#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>

enum { umw_most_numbers = 65536 };

#pragma GCC visibility push(hidden)

extern int umw_moves[umw_most_numbers]; /* the program's number ^ the process's; of one that is not open: ^ -1 */

/* The process's number; -1: for the program nothing is open there. What another rank has by that number is not looked
 * for. */
static inline int umw_descriptor(int number)
{
  return (unsigned)number < umw_most_numbers ? number ^ umw_moves[number] : number;
}

/* The same; -1 also for what is not open in the process, is another rank's, or Umwelt's. Where nothing is, another rank
 * may open something at any moment: what the program asks of a number that it does not have must never get as far as
 * the kernel. */
int umw_open_descriptor(int number);

/* The program's number of what is `own` in the process. */
int umw_number(int own);

void umw_numbers_begin(void);
/* The program before this one, which has executed it, knew `own` by that number; -1: nothing was open there. */
void umw_number_restore(int number, int own);

/* The number by which the program will know the new descriptor *own, which may get another place; `moves` false: it
 * must not. */
int umw_number_new(int* own, int least, bool moves);
/* dup3(2) to a number of the program's own choice; what it had there is closed. 0 or -1. */
int umw_number_copy(int from, int number, int flags);
/* close(2) of the process's `own`, and its number is free. */
int umw_number_close(int own);
/* The C library is about to close it: until one of the two below, no other rank of the process may get a home that is
 * not kept. */
void umw_number_closing(int own);
/* The C library has closed it. */
void umw_number_closed(int own);
/* The C library has opened something else there (freopen). */
void umw_number_reopened(int own);

/* FD_CLOEXEC, which the process needs for itself where numbers differ. False: they do not. */
bool umw_number_flags(int number, int* flags);
bool umw_number_set_flags(int number, int flags);

/* It is the rank's: the program has it by some number. */
bool umw_is_own(int own);
/* It is the rank's, or open without the shim knowing whose it is. Of higher numbers than are remembered: always. */
bool umw_may_use(int own);
/* A call of the rank begins (1) or ends (-1) that opens something and does not say at once whose it is: it waits, or
 * allocates. Until it ends nothing that is nobody's is taken for another rank's. */
void umw_count_opening(int more);
void umw_own(int own);
void umw_disown(int own);

/* In a child made by fork() the numbers are the program's, and what is another rank's is not there: its pipes end when
 * it closes them. */
void umw_numbers_of_child(const struct umw_gate* gate);

/* The same for a child of posix_spawn(3): what it is to do to its descriptors before and after what the program asks
 * for (`wanted`, or null), and that, added to `actions`, an empty list. Strings remain those of `wanted`. 0, or an
 * error. The caller is no_preempt from here to the call itself, since what other ranks open in between would be
 * inherited. */
int umw_numbers_of_spawned(posix_spawn_file_actions_t* actions, const posix_spawn_file_actions_t* wanted);
/* About how many that will be. */
int umw_count_for_spawned(const posix_spawn_file_actions_t* wanted);
#pragma GCC visibility pop
