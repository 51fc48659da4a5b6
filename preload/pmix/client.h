/* SPDX-License-Identifier: LGPL-2.1-or-later
 * What the files of the PMIx client share. */
#pragma once

#include <pmix.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#pragma GCC visibility push(hidden)

/* What PMIx 5 has functions for, which are in a library that a rank need not have. Texts are cut to their room. */
static inline void umw_pmix_load_text(char* to, const char* from, size_t room)
{
  memset(to, 0, room + 1);
  for (size_t i = 0; from && i < room && from[i] != '\0'; ++i)
    to[i] = from[i];
}

static inline void umw_pmix_load_key(pmix_key_t key, const char* name)
{
  umw_pmix_load_text(key, name, PMIX_MAX_KEYLEN);
}

static inline void umw_pmix_load_proc(pmix_proc_t* proc, const char* job, pmix_rank_t rank)
{
  umw_pmix_load_text(proc->nspace, job, PMIX_MAX_NSLEN);
  proc->rank = rank;
}

/* Between PMIx_Init and PMIx_Finalize. */
bool umw_pmix_open(void);

/* Whether an attribute is given, and not as false. */
bool umw_pmix_has(const pmix_info_t info[], size_t count, const char* key);
const pmix_info_t* umw_pmix_find(const pmix_info_t info[], size_t count, const char* key); /* null: it is not given */

/* Returns when all of these have called it; none, or null: the ranks of the own job. */
pmix_status_t umw_pmix_meet(const pmix_proc_t procs[], size_t count);
/* The same on a thread of its own, which then calls back. */
pmix_status_t umw_pmix_meet_later(const pmix_proc_t procs[], size_t count, pmix_op_cbfunc_t callback, void* data);

/* Calls work(argument) on a thread of its own. False: there is none to be had. */
bool umw_pmix_later(void* (*work)(void*), void* argument);

#pragma GCC visibility pop
