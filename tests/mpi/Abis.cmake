# SPDX-License-Identifier: LGPL-2.1-or-later
# An Open MPI whose components were built against another libportals (preload/portals/ABIS.md).
if(NOT TARGET mca_mtl_portals4-bxi)
  return()
endif()
execute_process(COMMAND ompi_info --path pkglibdir --parsable OUTPUT_VARIABLE openmpi_components
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE "^path:pkglibdir:" "" openmpi_components "${openmpi_components}")
foreach(abi IN ITEMS 4.2 bxi)
  string(REPLACE . _ directory portals_${abi})
  set(options --portals-abi ${abi} --mca mca_base_component_path
    ${CMAKE_CURRENT_BINARY_DIR}/${directory}:${openmpi_components})
  foreach(program_and_np IN ITEMS "p2p_sizes;2" "p2p_persistent;3" "coll_data;4" "rma_fence;4" "rma_atomics;4")
    list(POP_FRONT program_and_np program)
    mpi_test(${program}_${directory} PROGRAM ${program} NP ${program_and_np} WAYS ob1 cm OPTIONS ${options})
  endforeach()
endforeach()
set(long "")
foreach(directory IN ITEMS portals_4_2 portals_bxi)
  foreach(test IN ITEMS p2p_persistent_${directory}-3 coll_data_${directory}-4 rma_fence_${directory}-4)
    list(APPEND long mpi.${test}.native mpi.${test}.ob1 mpi.${test}.cm)
  endforeach()
endforeach()
set_property(TEST ${long} APPEND PROPERTY LABELS long)
