/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Linked into Open MPI's osc pt2pt: MPI_MODE_NOCHECK.
 *
 * An operation longer than a fragment (osc_pt2pt_buffer_size, 8 KiB) waits until the target has granted the lock. With
 * MPI_MODE_NOCHECK nobody is asked, and it waits for ever. The assertion is a hint (MPI 3.1, 11.5.5): so the target is
 * asked.
 */
#include "ompi_config.h"

#include "osc_pt2pt.h"

static int lock(int type, int target, int assertion, ompi_win_t* window)
{
  return ompi_osc_pt2pt_lock(type, target, assertion & ~MPI_MODE_NOCHECK, window);
}

static int lock_all(int assertion, ompi_win_t* window)
{
  return ompi_osc_pt2pt_lock_all(assertion & ~MPI_MODE_NOCHECK, window);
}

/* In osc_pt2pt_component.c, and in no header: the modules of windows are copies of this one. */
extern ompi_osc_pt2pt_module_t ompi_osc_pt2pt_module_template;

__attribute__((constructor)) static void replace(void)
{
  ompi_osc_pt2pt_module_template.super.osc_lock = lock;
  ompi_osc_pt2pt_module_template.super.osc_lock_all = lock_all;
}
