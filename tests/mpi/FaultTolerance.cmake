# SPDX-License-Identifier: LGPL-2.1-or-later
# --with-ft ulfm: ranks that die while the others go on. Nothing is compared with a native run: Open MPI 5.0.7's own
# mpirun --with-ft ulfm hangs in some of them (tests/mpi/README.md). Where Open MPI has no ULFM it is refused.
set(ft_of_openmpi no)
if(UMWELT_OMPI_INFO)
  execute_process(COMMAND ${UMWELT_OMPI_INFO} OUTPUT_VARIABLE openmpi_information ERROR_QUIET)
  if(openmpi_information MATCHES "FT MPI support: *yes")
    set(ft_of_openmpi yes)
  endif()
endif()

function(ft_refused name object)
  add_test(NAME mpi.ft_refused_${name} COMMAND umwelt run -q -np 2 --with-ft ulfm ${ARGN})
  set_tests_properties(mpi.ft_refused_${name} PROPERTIES LABELS "mpi" TIMEOUT 60
    PASS_REGULAR_EXPRESSION "--with-ft ulfm: expected ${object}")
endfunction()

ft_refused(cm "(pml ob1|Open MPI 5)" --mca pml cm ${mpi_programs}/p2p_self)
if(NOT ft_of_openmpi)
  ft_refused(version "Open MPI 5 built with fault tolerance" ${mpi_programs}/p2p_self)
  return()
endif()

foreach(name IN ITEMS shrink wildcards twice ends)
  mpi_program(ft_${name} ft_${name}.c)
endforeach()
function(ft_test name np)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "PROGRAM" "WAYS;ARGUMENTS")
  foreach(way IN LISTS arg_WAYS)
    set(test mpi.ft_${name}-${np}.${way})
    add_test(NAME ${test} COMMAND umwelt run -q --with-ft ulfm --cpu none -np ${np} ${mpi_options_${way}}
      ${mpi_programs}/${arg_PROGRAM} ${arg_ARGUMENTS})
    set_tests_properties(${test} PROPERTIES LABELS "mpi;${way}" TIMEOUT 90
      PASS_REGULAR_EXPRESSION "[1-9][0-9]* checks passed, 0 failed" FAIL_REGULAR_EXPRESSION "FAILED|[1-9][0-9]* failed")
  endforeach()
endfunction()
# coll han, which Open MPI takes on several nodes of several ranks, is not fault tolerant.
set(mpi_options_nodes -N 2 --mca coll ^han,portals4)
set(mpi_options_one_tcp --mca btl tcp,self)
foreach(how IN ITEMS kill exit abort)
  ft_test(shrink_${how} 4 PROGRAM ft_shrink WAYS ob1 workers nodes one_tcp ARGUMENTS ${how})
endforeach()
ft_test(shrink_long 4 PROGRAM ft_shrink WAYS ob1 workers nodes ARGUMENTS kill 1000000)
ft_test(wildcards 4 PROGRAM ft_wildcards WAYS ob1 workers)
ft_test(twice 6 PROGRAM ft_twice WAYS ob1 workers)
foreach(script IN ITEMS determinism "../workers/agree")
  cmake_path(GET script FILENAME name)
  add_test(NAME mpi.${name}-ft_twice COMMAND ${UMWELT_BASH} ${CMAKE_CURRENT_SOURCE_DIR}/${script}.sh
    $<TARGET_FILE:umwelt> 6 --with-ft ulfm -- ${mpi_programs}/ft_twice)
  set_tests_properties(mpi.${name}-ft_twice PROPERTIES LABELS mpi TIMEOUT 200)
endforeach()
add_test(NAME mpi.ft_ends COMMAND ${UMWELT_BASH} ${CMAKE_CURRENT_SOURCE_DIR}/ft_ends.sh $<TARGET_FILE:umwelt>
  ${mpi_programs}/ft_ends)
set_tests_properties(mpi.ft_ends PROPERTIES LABELS mpi TIMEOUT 120)
