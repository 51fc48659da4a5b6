/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Included in front of every source of Open MPI's mtl portals4, which stays as it is.
 *
 * Data that lies in one piece is sent from where it is. The first byte of a datatype may lie behind the address that
 * the program gives (its true lower bound: a subarray of the last rows, a structure without its first members). pml cm
 * adds that itself where it takes a short way around the convertor; otherwise (persistent requests, and with them
 * MPI_Alltoallw) Open MPI 4.1.4 forgets it, and another part of the buffer was sent, silently. A convertor that was
 * prepared has CONVERTOR_SEND set.
 */
#pragma once

#include "ompi_config.h"

#include "ompi/mca/mtl/base/mtl_base_datatype.h"

static inline int umw_mtl_datatype_pack(struct opal_convertor_t* convertor, void** buffer, size_t* length,
                                        bool* free_after)
{
  const int error = ompi_mtl_datatype_pack(convertor, buffer, length, free_after);
  if (error == OMPI_SUCCESS && *length > 0 && convertor->pDesc && (convertor->flags & CONVERTOR_SEND) &&
      *buffer == convertor->pBaseBuf)
    *buffer = (char*)*buffer + convertor->pDesc->true_lb;
  return error;
}

#define ompi_mtl_datatype_pack umw_mtl_datatype_pack
