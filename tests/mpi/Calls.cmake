# SPDX-License-Identifier: LGPL-2.1-or-later
# Calls of MPI by name (--mpi-calls), in C and Fortran, of Open MPI and of MPICH.
set(calls ${CMAKE_CURRENT_SOURCE_DIR}/calls/calls.py)
find_program(UMWELT_MPIFORT_MPICH mpif90.mpich)
mark_as_advanced(UMWELT_MPIFORT_MPICH)

mpi_program(calls_c calls/counted.c)
mpi_program(calls_f08 calls/counted.f90)
mpi_program(calls_f90 calls/counted_mpi.f90)
mpi_program(calls_deadlock calls/deadlock.c)
mpich_program(calls_c calls/counted.c)
mpich_program(calls_deadlock calls/deadlock.c)
set(counted calls_c calls_f08 calls_f90 mpich_calls_c)
if(UMWELT_MPIFORT_MPICH)
  set(mpi_compiler_f90 ${UMWELT_MPIFORT_MPICH})
  mpi_program(mpich_calls_f08 calls/counted.f90)
  mpi_program(mpich_calls_f90 calls/counted_mpi.f90)
  set(mpi_compiler_f90 ${UMWELT_MPIFORT})
  list(APPEND counted mpich_calls_f08 mpich_calls_f90)
endif()
foreach(program IN LISTS counted)
  foreach(case IN ITEMS counts apart)
    add_test(NAME mpi.calls_${case}-${program}
      COMMAND ${calls} ${case} $<TARGET_FILE:umwelt> 5 -- ${mpi_programs}/${program})
    set_tests_properties(mpi.calls_${case}-${program} PROPERTIES LABELS mpi TIMEOUT 200)
  endforeach()
endforeach()
add_test(NAME mpi.calls_counts_together
  COMMAND ${calls} counts $<TARGET_FILE:umwelt> 4 -N 2 --workers 2 -- ${mpi_programs}/calls_c)
set_tests_properties(mpi.calls_counts_together PROPERTIES LABELS mpi TIMEOUT 100)
# What MPICH waits for, sockets, is looked at for long before it is called a deadlock, and longer between processes.
set(processes_of_calls_deadlock 0 2)
set(processes_of_mpich_calls_deadlock 0)
foreach(program IN ITEMS calls_deadlock mpich_calls_deadlock)
  foreach(how IN ITEMS receives requests barrier)
    foreach(workers IN LISTS processes_of_${program})
      add_test(NAME mpi.${program}_${how}-${workers}
        COMMAND ${UMWELT_BASH} -c "exec \"$@\" <${CMAKE_CURRENT_SOURCE_DIR}/calls/deadlock_${how}.txt" -- ${calls}
          deadlock $<TARGET_FILE:umwelt> 3 --workers ${workers} -- ${mpi_programs}/${program} ${how})
      set_tests_properties(mpi.${program}_${how}-${workers} PROPERTIES LABELS mpi TIMEOUT 200)
    endforeach()
  endforeach()
endforeach()
set_property(TEST mpi.mpich_calls_deadlock_requests-0 mpi.mpich_calls_deadlock_barrier-0
  mpi.mpich_calls_deadlock_receives-0 APPEND PROPERTY LABELS long)
add_test(NAME mpi.calls_names
  COMMAND ${UMWELT_BASH} ${CMAKE_CURRENT_SOURCE_DIR}/calls/names.sh $<TARGET_FILE:umwelt-mpi> 2000)
set_tests_properties(mpi.calls_names PROPERTIES LABELS mpi TIMEOUT 60)

# The same output as natively, with the option
foreach(program_and_np IN ITEMS "errors;4;100" "cxx_exceptions;4" ${cxx_bindings} "comm_many;4" "coll_neighbors;5"
  "icoll_neighbors;5" "threads_multiple;4" "io_basic;4" "p2p_persistent;3" "p2p_cancel;2" "rma_atomics;4"
  "f08_collectives;4" "f77_messages;3" "comm_inter;5")
  list(POP_FRONT program_and_np program np)
  add_test(NAME mpi.calls_output-${program}
    COMMAND ${UMWELT_BASH} ${CMAKE_CURRENT_SOURCE_DIR}/compare.sh emulated
      ${CMAKE_CURRENT_BINARY_DIR}/results/${program}-${np} $<TARGET_FILE:umwelt> ${np} --mpi-calls --
      ${mpi_programs}/${program} ${program_and_np})
  set_tests_properties(mpi.calls_output-${program} PROPERTIES LABELS mpi FIXTURES_REQUIRED mpi.${program}-${np}
    TIMEOUT 90)
endforeach()
add_test(NAME mpi.calls_output-python_mpi4py
  COMMAND ${UMWELT_BASH} ${CMAKE_CURRENT_SOURCE_DIR}/compare.sh emulated
    ${CMAKE_CURRENT_BINARY_DIR}/results/python_mpi4py-4 $<TARGET_FILE:umwelt> 4 --mpi-calls -- ${python})
set_tests_properties(mpi.calls_output-python_mpi4py PROPERTIES LABELS mpi FIXTURES_REQUIRED mpi.python_mpi4py-4
  TIMEOUT 90)

# Of the time that ranks are blocked, when others had not begun what they waited for
mpi_program(calls_late calls/late.c)
mpich_program(calls_late calls/late.c)
set(ways_of_calls_late ob1 cm workers tcp node)
set(ways_of_mpich_calls_late mpich)
foreach(program IN ITEMS calls_late mpich_calls_late)
  foreach(way IN LISTS ways_of_${program})
    add_test(NAME mpi.${program}.${way}
      COMMAND ${calls} late $<TARGET_FILE:umwelt> 2 ${mpi_options_${way}} -- ${mpi_programs}/${program})
    set_tests_properties(mpi.${program}.${way} PROPERTIES LABELS "mpi;${way}" TIMEOUT 60)
  endforeach()
endforeach()

# Counting is measured with what it counts: said where that matters.
foreach(cpu measured none)
  add_test(NAME mpi.calls_note.${cpu} COMMAND umwelt run --cpu ${cpu} --mpi-calls -np 2 ${mpi_programs}/calls_c)
  set_tests_properties(mpi.calls_note.${cpu} PROPERTIES LABELS mpi TIMEOUT 60)
endforeach()
set_tests_properties(mpi.calls_note.measured PROPERTIES
  PASS_REGULAR_EXPRESSION "--mpi-calls: to count a call of MPI is measured with it")
set_tests_properties(mpi.calls_note.none PROPERTIES FAIL_REGULAR_EXPRESSION "--mpi-calls: to count")
set_property(TEST mpi.calls_output-python_mpi4py mpi.calls_output-threads_multiple mpi.calls_output-comm_many
  mpi.calls_apart-mpich_calls_f90 mpi.calls_apart-mpich_calls_f08 APPEND PROPERTY LABELS long)
