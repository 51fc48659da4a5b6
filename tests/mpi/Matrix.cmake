# SPDX-License-Identifier: LGPL-2.1-or-later
# How the programs are registered with CTest: mpi.<name>-<np>.native once, and for each way Open MPI can use Portals
# mpi.<name>-<np>.<way>, which compares with it. CTest runs the native one first, also when only the other is asked for.
set(mpi_ways ob1 cm)
set(mpi_options_ob1 "") # the default of umwelt run
set(mpi_options_cm --mca pml cm --mca mtl portals4)
# With collectives offloaded to the NIC as triggered operations. Open MPI 4.1.4's coll portals4 reduces MPI_LONG as
# bytes and Fortran's MPI_INTEGER as 64 bits wide, and broadcasts scattered data from a buffer of random size: only for
# programs that do none of this.
set(mpi_options_triggered ${mpi_options_cm} --mca coll ^sm --mca coll_portals4_priority 100)
# As ob1, with the ranks in processes of their own.
set(mpi_options_workers --ranks-per-worker 2)
# Over the simulated network's TCP, two ranks to a node.
set(mpi_options_tcp -N 2 --mca pml ob1 --mca btl tcp,self)
# Over libfabric, and its provider for Portals (preload/libfabric).
set(mpi_options_ofi --mca pml cm --mca mtl ofi -x FI_PROVIDER=umwelt)
# As ob1, two ranks to a node: they talk through its memory (btl vader), with others through the network.
set(mpi_options_node -N 2)

# mpi_test(<name> NP <n>... [PROGRAM <program>] [ARGUMENTS ...] [INPUT <file>] [ENVIRONMENT A=B...] [WAYS <way>...]
#          [OPTIONS ...])
# What takes CI too long has the label "long": of the ways other than Portals two of three, in turns, and two and three
# ranks where more are there; of those of Portals one has two, the other three.
# OPTIONS go to umwelt run alone. WAYS: ob1, cm, worker processes, tcp and node unless given. ARGUMENTS may hold ":" and
# what mpirun and umwelt run understand after it.
function(mpi_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PROGRAM;INPUT" "NP;ARGUMENTS;ENVIRONMENT;WAYS;OPTIONS")
  if(NOT arg_PROGRAM)
    set(arg_PROGRAM ${name})
  endif()
  if(NOT arg_WAYS)
    set(arg_WAYS ${mpi_ways} workers tcp node)
  endif()
  set(environment ${arg_ENVIRONMENT})
  if(arg_INPUT)
    list(APPEND environment UMWELT_TEST_INPUT=${CMAKE_CURRENT_SOURCE_DIR}/${arg_INPUT})
  endif()
  set(command ${mpi_programs}/${arg_PROGRAM} ${arg_ARGUMENTS})
  list(GET arg_NP -1 most)
  set(others ${arg_WAYS})
  list(REMOVE_ITEM others ${mpi_ways})
  list(LENGTH others number)
  if(number LESS 3) # chosen by hand
    set(others "")
  else()
    get_property(turns GLOBAL PROPERTY umwelt_mpi_turns)
    if(NOT turns)
      set(turns 0)
    endif()
    math(EXPR turns "${turns} + 1")
    set_property(GLOBAL PROPERTY umwelt_mpi_turns ${turns})
    math(EXPR turn "${turns} % ${number}")
    list(GET others ${turn} turn)
  endif()
  foreach(np IN LISTS arg_NP)
    set(test mpi.${name}-${np})
    set(directory ${CMAKE_CURRENT_BINARY_DIR}/results/${name}-${np})
    add_test(NAME ${test}.native
      COMMAND ${UMWELT_BASH} ${CMAKE_CURRENT_SOURCE_DIR}/compare.sh native ${directory} ${np} ${command})
    set_tests_properties(${test}.native PROPERTIES
      LABELS "mpi;native" FIXTURES_SETUP ${test} PROCESSORS 2 TIMEOUT 90 ENVIRONMENT "${environment}")
    foreach(way IN LISTS arg_WAYS)
      add_test(NAME ${test}.${way}
        COMMAND ${UMWELT_BASH} ${CMAKE_CURRENT_SOURCE_DIR}/compare.sh emulated ${directory} $<TARGET_FILE:umwelt> ${np}
                ${mpi_options_${way}} ${arg_OPTIONS} -- ${command})
      set(labels mpi ${way})
      if(others AND way IN_LIST others AND NOT way STREQUAL turn)
        list(APPEND labels long)
      elseif((np EQUAL 3 OR (np EQUAL 2 AND most GREATER 3)) AND NOT way IN_LIST mpi_ways)
        list(APPEND labels long)
      elseif(most GREATER 3 AND ((way STREQUAL "ob1" AND np EQUAL 3) OR (way STREQUAL "cm" AND np EQUAL 2)))
        list(APPEND labels long)
      endif()
      set_tests_properties(${test}.${way} PROPERTIES
        LABELS "${labels}" FIXTURES_REQUIRED ${test} TIMEOUT 90 ENVIRONMENT "${environment}")
    endforeach()
  endforeach()
endfunction()

# mpi_checks(<name> <np> <way>... [ARGUMENTS ...]): where nothing can be run natively to compare with, only that the
# program finds nothing wrong itself.
function(mpi_checks name np)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "ARGUMENTS")
  foreach(way IN LISTS arg_UNPARSED_ARGUMENTS)
    add_test(NAME mpi.${name}-${np}.${way} COMMAND umwelt run -q -np ${np} ${mpi_options_${way}}
      ${mpi_programs}/${name} ${arg_ARGUMENTS})
    set_tests_properties(mpi.${name}-${np}.${way} PROPERTIES LABELS "mpi;${way}" TIMEOUT 90
      PASS_REGULAR_EXPRESSION "[1-9][0-9]* checks passed, 0 failed" FAIL_REGULAR_EXPRESSION "FAILED|[1-9][0-9]* failed")
  endforeach()
endfunction()

# mpi_case(<name> <np>...): the usual case, a program of its own in <name>.c that needs nothing, on each number of
# ranks.
function(mpi_case name)
  mpi_program(${name} ${name}.c)
  mpi_test(${name} NP ${ARGN})
endfunction()
