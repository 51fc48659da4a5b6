# SPDX-License-Identifier: LGPL-2.1-or-later
# What else the distribution has: MPICH (ch4:ucx, over the nodes' TCP and shared memory) and Python's mpi4py; and Open
# MPI over TCP. On four nodes of four ranks, compared with native runs of Open MPI.
find_program(UMWELT_MPICC_MPICH mpicc.mpich REQUIRED)
mark_as_advanced(UMWELT_MPICC_MPICH)
set(mpi_options_tcp_nodes -N 4 --mca pml ob1 --mca btl tcp,self)
set(mpi_options_mpich -N 4 --cpu none)

# mpich_program(<name> <source> [FLAGS ...]): as mpi_program, bin/mpich_<name>
function(mpich_program name)
  set(mpi_compiler_c ${UMWELT_MPICC_MPICH})
  mpi_program(mpich_${name} ${ARGN})
endfunction()

set(short_enough p2p_sendrecv p2p_incast coll_userop rma_atomics)
set(source_of_icoll_data coll_data)
set(source_of_icoll_reduce coll_reduce)
foreach(name IN ITEMS p2p_sendrecv p2p_incast coll_data coll_reduce coll_userop icoll_data icoll_reduce rma_fence
  rma_lock rma_pscw
        rma_atomics rma_windows rma_requests)
  set(source ${name})
  set(flags "")
  if(DEFINED source_of_${name})
    set(source ${source_of_${name}})
    set(flags FLAGS -DNONBLOCKING)
  endif()
  mpich_program(${name} ${source}.c ${flags})
  mpi_test(${name} NP 16 WAYS tcp_nodes)
  set(directory ${CMAKE_CURRENT_BINARY_DIR}/results/${name}-16)
  add_test(NAME mpi.${name}-16.mpich
    COMMAND ${UMWELT_BASH} ${CMAKE_CURRENT_SOURCE_DIR}/compare.sh emulated ${directory} $<TARGET_FILE:umwelt> 16
      ${mpi_options_mpich}
            -- ${mpi_programs}/mpich_${name})
  set_tests_properties(mpi.${name}-16.mpich PROPERTIES LABELS "mpi;mpich" FIXTURES_REQUIRED mpi.${name}-16 TIMEOUT 120)
  if(NOT name IN_LIST short_enough)
    set_property(TEST mpi.${name}-16.mpich mpi.${name}-16.tcp_nodes APPEND PROPERTY LABELS long)
  endif()
endforeach()
foreach(name IN ITEMS p2p_sendrecv coll_data rma_fence)
  foreach(way IN ITEMS mpich tcp_nodes)
    set(program ${mpi_programs}/${name})
    if(way STREQUAL mpich)
      set(program ${mpi_programs}/mpich_${name})
    endif()
    add_test(NAME mpi.determinism-${name}-16.${way}
      COMMAND ${UMWELT_BASH} ${CMAKE_CURRENT_SOURCE_DIR}/determinism.sh $<TARGET_FILE:umwelt> 16 ${mpi_options_${way}}
        -- ${program})
    set_tests_properties(mpi.determinism-${name}-16.${way} PROPERTIES LABELS "mpi;${way}" TIMEOUT 300
      ENVIRONMENT UMWELT_TEST_TIMEOUT=120)
    if(NOT name STREQUAL "p2p_sendrecv")
      set_property(TEST mpi.determinism-${name}-16.${way} APPEND PROPERTY LABELS long)
    endif()
  endforeach()
endforeach()

set(python /usr/bin/python3 ${CMAKE_CURRENT_SOURCE_DIR}/python_mpi4py.py)
add_test(NAME mpi.python_mpi4py-4.native COMMAND ${UMWELT_BASH} ${CMAKE_CURRENT_SOURCE_DIR}/compare.sh native
  ${CMAKE_CURRENT_BINARY_DIR}/results/python_mpi4py-4 4 ${python})
set_tests_properties(mpi.python_mpi4py-4.native PROPERTIES LABELS "mpi;native" FIXTURES_SETUP mpi.python_mpi4py-4
  PROCESSORS 2 TIMEOUT 90)
foreach(way IN ITEMS ob1 tcp)
  add_test(NAME mpi.python_mpi4py-4.${way} COMMAND ${UMWELT_BASH} ${CMAKE_CURRENT_SOURCE_DIR}/compare.sh emulated
    ${CMAKE_CURRENT_BINARY_DIR}/results/python_mpi4py-4 $<TARGET_FILE:umwelt> 4 ${mpi_options_${way}} -- ${python})
  set_tests_properties(mpi.python_mpi4py-4.${way} PROPERTIES LABELS "mpi;${way}" FIXTURES_REQUIRED mpi.python_mpi4py-4
    TIMEOUT 120)
  add_test(NAME mpi.determinism-python_mpi4py.${way} COMMAND ${UMWELT_BASH} ${CMAKE_CURRENT_SOURCE_DIR}/determinism.sh
    $<TARGET_FILE:umwelt> 4
    ${mpi_options_${way}} -- ${python})
  set_tests_properties(mpi.determinism-python_mpi4py.${way} PROPERTIES LABELS "mpi;${way}" TIMEOUT 180)
endforeach()
