# SPDX-License-Identifier: LGPL-2.1-or-later
# Traces of calls of MPI (--trace run.otf2), of Open MPI and of MPICH, in C and Fortran.
find_program(UMWELT_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH REQUIRED)
mark_as_advanced(UMWELT_PYTHON)
foreach(program_and_np IN ITEMS "calls_c;5" "calls_f08;4" "mpich_calls_c;4" "p2p_wildcards;4" "p2p_persistent;3"
  "p2p_completion;4" "p2p_probe;4" "p2p_cancel;2" "io_basic;4" "io_nonblocking;4" "rma_fence;4" "rma_requests;4"
  "threads_multiple;4") # python3-otf2 3.0.2 cannot read communicators between two groups
  list(POP_FRONT program_and_np program np)
  add_test(NAME mpi.trace_otf2-${program}
    COMMAND ${UMWELT_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/traces/otf2_archive.py $<TARGET_FILE:umwelt> ${np} --
      ${mpi_programs}/${program})
  set_tests_properties(mpi.trace_otf2-${program} PROPERTIES LABELS mpi TIMEOUT 300 SKIP_RETURN_CODE 77)
endforeach()
foreach(program IN ITEMS calls_c p2p_wildcards p2p_persistent mpich_calls_c)
  add_test(NAME mpi.trace_perfetto-${program}
    COMMAND ${UMWELT_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/traces/perfetto_calls.py $<TARGET_FILE:umwelt>
      ${PROJECT_SOURCE_DIR}/runtime/observe/perfetto.proto 4 ${mpi_programs}/${program})
  set_tests_properties(mpi.trace_perfetto-${program} PROPERTIES LABELS mpi TIMEOUT 300)
endforeach()
foreach(program IN ITEMS calls_c p2p_wildcards p2p_persistent mpich_calls_c)
  add_test(NAME mpi.trace_paje-${program}
    COMMAND ${UMWELT_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/traces/paje_events.py $<TARGET_FILE:umwelt> 4
      ${mpi_programs}/${program})
  set_tests_properties(mpi.trace_paje-${program} PROPERTIES LABELS mpi TIMEOUT 300 SKIP_RETURN_CODE 77)
endforeach()
mpi_program(trace_functions traces/functions.c)
foreach(workers IN ITEMS 0 2)
  add_test(NAME mpi.trace_functions-${workers}
    COMMAND ${UMWELT_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/traces/functions.py $<TARGET_FILE:umwelt>
      ${mpi_programs}/trace_functions --workers ${workers})
  set_tests_properties(mpi.trace_functions-${workers} PROPERTIES LABELS mpi TIMEOUT 200 SKIP_RETURN_CODE 77)
endforeach()
