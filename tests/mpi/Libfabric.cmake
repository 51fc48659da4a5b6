# SPDX-License-Identifier: LGPL-2.1-or-later
# Open MPI over libfabric: what its mtl ofi asks of the provider. type_offsets is left out: over mtl ofi it fails
# natively, too.
foreach(program_and_np IN ITEMS "p2p_sizes;2" "p2p_probe;2" "p2p_cancel;2" "p2p_overrun;2" "p2p_wildcards;4"
        "coll_data;4")
  list(POP_FRONT program_and_np program)
  mpi_test(${program}_libfabric PROGRAM ${program} NP ${program_and_np} WAYS ofi)
endforeach()
