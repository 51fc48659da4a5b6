/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Included in front of every source of Open MPI's osc pt2pt, which stays as it is.
 *
 * That component answers MPI_Compare_and_swap by a blocking send, and holds the lock of its accumulates meanwhile. A
 * blocking send lets Open MPI progress, and with it osc pt2pt: the next accumulate finds the lock taken, and waits for
 * it above the one that has it on the stack, for ever. Over BTLs whose short sends are over at once this never shows;
 * those of btl portals4 are over when the NIC says so. So osc pt2pt makes no progress while it answers: what arrives
 * waits until the answer has left. Nothing else is needed for that: the other side has posted its receive before it
 * asked.
 */
#pragma once

#include "ompi_config.h"

#include "ompi/mca/pml/pml.h"
#include "opal/runtime/opal_progress.h"

#pragma GCC visibility push(hidden)
/* The pml of the process; its blocking send is an answer of osc pt2pt. */
const mca_pml_base_module_t* umw_pml_of_osc_pt2pt(void);

/* As Open MPI's opal_progress_register and opal_progress_unregister, for the only callback of osc pt2pt. */
int umw_register_osc_pt2pt(opal_progress_callback_t progress);
int umw_unregister_osc_pt2pt(opal_progress_callback_t progress);
#pragma GCC visibility pop

#ifndef UMW_OSC_PT2PT_ANSWERS /* in Open MPI's sources */
#undef MCA_PML_CALL
#define MCA_PML_CALL(call) umw_pml_of_osc_pt2pt()->pml_##call
#define opal_progress_register umw_register_osc_pt2pt
#define opal_progress_unregister umw_unregister_osc_pt2pt
#endif
