/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Linked into Open MPI's mtl portals4: MPI_Mprobe and MPI_Improbe with MPI_STATUS_IGNORE. The component takes source
 * and length of the message that it found from the caller's status, whether there is one or not.
 */
#include "mtl_portals4_slot.h"

#include "mtl_portals4.h"

static int improbe(struct mca_mtl_base_module_t* mtl, struct ompi_communicator_t* communicator, int source, int tag,
                   int* found, struct ompi_message_t** message, struct ompi_status_public_t* status)
{
  struct ompi_status_public_t own;
  return ompi_mtl_portals4_improbe(mtl, communicator, source, tag, found, message,
                                   status == MPI_STATUS_IGNORE ? &own : status);
}

/* The only module of the component. */
__attribute__((constructor)) static void replace(void)
{
  ompi_mtl_portals4.base.mtl_improbe = improbe;
}
