/* SPDX-License-Identifier: LGPL-2.1-or-later
 * What the calls of both versions of PMI do with pairs. Results are PMI's codes. */
#pragma once

#include <stddef.h>

#include "preload/pmi/calls.h"
#include "preload/pmix/own_space.h"
#include "preload/shim.h"

#define UMW_PMI_NAMES "names" /* the space of published names */

#pragma GCC visibility push(hidden)
int umw_pmi_check_key(const char* key);
int umw_pmi_check_value(const char* value);
/* Copies a text and its end; PMI_ERR_INVALID_LENGTH if it does not fit. */
int umw_pmi_copy(const char* text, char* to, int size);
/* Length of a value of the job's spaces or a negative errno; what fits is copied, with the end. */
int64_t umw_pmi_find(const char* space, const char* key, char* value, int size, bool wait);

int umw_pmi_publish(const char* service, const char* port);
int umw_pmi_look_up(const char* service, char* port, int size);
int umw_pmi_unpublish(const char* service);
/* The ranks of the node, up to `most`; returns how many were written. */
int umw_pmi_local_ranks(int* ranks, int most);
/* Says why there is none. */
void umw_pmi_refuse(const char* call, const char* why);
#pragma GCC visibility pop
