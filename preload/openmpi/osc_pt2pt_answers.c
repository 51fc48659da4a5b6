/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Linked into Open MPI's osc pt2pt; see osc_pt2pt_answers.h.
 */
#define UMW_OSC_PT2PT_ANSWERS
#include "osc_pt2pt_answers.h"

static int answering; /* threads */

static int answer(const void* buffer, size_t count, struct ompi_datatype_t* datatype, int target, int tag,
                  mca_pml_base_send_mode_t mode, struct ompi_communicator_t* communicator)
{
  __atomic_add_fetch(&answering, 1, __ATOMIC_SEQ_CST);
  const int result = mca_pml.pml_send(buffer, count, datatype, target, tag, mode, communicator);
  __atomic_sub_fetch(&answering, 1, __ATOMIC_SEQ_CST);
  return result;
}

const mca_pml_base_module_t* umw_pml_of_osc_pt2pt(void)
{
  static mca_pml_base_module_t pml;
  if (pml.pml_send != answer) { /* the first time: when the first window is made */
    pml = mca_pml;
    pml.pml_send = answer;
  }
  return &pml;
}

static opal_progress_callback_t progress_of_osc_pt2pt;

static int progress_unless_answering(void)
{
  return __atomic_load_n(&answering, __ATOMIC_SEQ_CST) > 0 ? 0 : progress_of_osc_pt2pt();
}

int umw_register_osc_pt2pt(opal_progress_callback_t progress)
{
  progress_of_osc_pt2pt = progress;
  return opal_progress_register(progress_unless_answering);
}

int umw_unregister_osc_pt2pt(opal_progress_callback_t progress)
{
  (void)progress;
  return opal_progress_unregister(progress_unless_answering);
}
