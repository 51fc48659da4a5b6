# SPDX-License-Identifier: LGPL-2.1-or-later
# Models of places in the program (--model-region), in C and Fortran.
mpi_program(regions_c regions/phases.c)
mpi_program(regions_f90 regions/phases.f90)
foreach(case IN ITEMS "c;5;regions_c" "workers;5;regions_c;--workers;2" "f90;3;regions_f90")
  list(POP_FRONT case name phases program)
  add_test(NAME mpi.regions.${name}
    COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/regions/regions.py $<TARGET_FILE:umwelt> ${phases} ${mpi_programs}/${program}
      ${case})
  set_tests_properties(mpi.regions.${name} PROPERTIES LABELS mpi TIMEOUT 200 WORKING_DIRECTORY
    ${CMAKE_CURRENT_BINARY_DIR}/regions_${name})
  file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/regions_${name})
endforeach()

# Energy by phases, and in traces
foreach(case IN ITEMS phases traces)
  add_test(NAME mpi.energy.${case}
    COMMAND ${PROJECT_SOURCE_DIR}/tests/runtime/energy/run.sh ${case} $<TARGET_FILE:umwelt>
      ${mpi_programs}/regions_c ${PROJECT_SOURCE_DIR})
  set_tests_properties(mpi.energy.${case} PROPERTIES LABELS mpi TIMEOUT 200)
endforeach()
