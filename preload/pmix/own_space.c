/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "preload/pmix/own_space.h"

#include <stdio.h>

struct umw_pmi_space umw_pmi_own_space(void)
{
  struct umw_pmi_space space;
  snprintf(space.name, sizeof space.name, "kvs_%s", umw_gate->job_name);
  return space;
}
