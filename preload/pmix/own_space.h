/* SPDX-License-Identifier: LGPL-2.1-or-later
 * The key-value space of PMI that the ranks of a job begin with; PMIx finds what was put there, too. */
#pragma once

#include "preload/shim.h"

#pragma GCC visibility push(hidden)
struct umw_pmi_space {
  char name[UMW_PMI_NAME_MAX];
};
struct umw_pmi_space umw_pmi_own_space(void);
#pragma GCC visibility pop
