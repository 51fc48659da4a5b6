/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Every table of interposed symbols, for whoever needs all of them (`umwelt coverage`). Include it with the row macros
 * of preload/abi/table.h defined, and UMW_TABLE(title) for the heading in front of each table. Services of the gate are
 * no symbols, and functions of MPI are the MPI library's, whoever counts their calls: services.def and mpi*.def are not
 * listed. A test checks that no table is forgotten. */
UMW_TABLE("Portals 4")
#include "preload/abi/tables/portals.def"
UMW_TABLE("Portals 4, BXI's own functions")
#include "preload/abi/tables/portals_bxi.def"
UMW_TABLE("PMIx")
#include "preload/abi/tables/pmix.def"
UMW_TABLE("PMI-1 and PMI-2")
#include "preload/abi/tables/pmi.def"
UMW_TABLE("Time")
#include "preload/abi/tables/clock.def"
UMW_TABLE("Identity of the process and its host")
#include "preload/abi/tables/identity.def"
UMW_TABLE("Process, signals, loading")
#include "preload/abi/tables/process.def"
UMW_TABLE("Files")
#include "preload/abi/tables/files.def"
UMW_TABLE("Asynchronous I/O")
#include "preload/abi/tables/aio.def"
UMW_TABLE("Descriptors")
#include "preload/abi/tables/descriptors.def"
UMW_TABLE("Paths")
#include "preload/abi/tables/paths.def"
UMW_TABLE("Sockets and names")
#include "preload/abi/tables/sockets.def"
UMW_TABLE("Memory")
#include "preload/abi/tables/memory.def"
UMW_TABLE("Allocations, with --fold")
#include "preload/abi/tables/fold.def"
UMW_TABLE("System V IPC and message queues")
#include "preload/abi/tables/sysv.def"
UMW_TABLE("Threads")
#include "preload/abi/tables/threads.def"
