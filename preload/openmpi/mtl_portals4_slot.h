// SPDX-License-Identifier: LGPL-2.1-or-later
// Where an Open MPI that was configured without Portals keeps what the mtl has to know of a process: its processes have
// slots only for those that asked for one. That of another mtl, if there is any; otherwise one of a pml that is not in
// use beside the mtl; in the end that of the BML, which pml ob1 needs and pml cm does not. Then osc rdma, which looks
// there, must be left out (runtime/plan/openmpi.cpp).
#pragma once

#include "ompi_config.h"

#ifndef OMPI_PROC_ENDPOINT_TAG_PORTALS4
#if defined(OMPI_PROC_ENDPOINT_TAG_MTL)
#define OMPI_PROC_ENDPOINT_TAG_PORTALS4 OMPI_PROC_ENDPOINT_TAG_MTL
#elif defined(OMPI_PROC_ENDPOINT_TAG_PML)
#define OMPI_PROC_ENDPOINT_TAG_PORTALS4 OMPI_PROC_ENDPOINT_TAG_PML
#elif defined(OMPI_PROC_ENDPOINT_TAG_UCX)
#define OMPI_PROC_ENDPOINT_TAG_PORTALS4 OMPI_PROC_ENDPOINT_TAG_UCX
#else
#define OMPI_PROC_ENDPOINT_TAG_PORTALS4 OMPI_PROC_ENDPOINT_TAG_BML
#endif
#endif
