# SPDX-License-Identifier: LGPL-2.1-or-later
# Collectives that a model stands for (--collectives): results are those of the MPI library, times those of the model.
set(collectives ${CMAKE_CURRENT_SOURCE_DIR}/collectives/collectives.py)

mpi_program(collectives_every collectives/every.c)
mpi_program(collectives_ievery collectives/every.c FLAGS -DNONBLOCKING)
mpi_program(collectives_requests collectives/requests.c)
mpi_program(collectives_times collectives/times.c)
mpi_program(collectives_bursts collectives/bursts.c)
mpi_program(collectives_misfit collectives/misfit.c)
mpi_program(collectives_fortran collectives/every.f90 FLAGS -fallow-argument-mismatch -w)
mpich_program(collectives_every collectives/every.c)
mpich_program(collectives_ievery collectives/every.c FLAGS -DNONBLOCKING)
mpich_program(collectives_requests collectives/requests.c)
mpich_program(collectives_misfit collectives/misfit.c)
set(equal every ievery requests fortran)
set(mpich_equal every ievery requests)
if(UMWELT_MPIFORT_MPICH)
  set(mpi_compiler_f90 ${UMWELT_MPIFORT_MPICH})
  mpi_program(mpich_collectives_fortran collectives/every.f90 FLAGS -fallow-argument-mismatch -w)
  set(mpi_compiler_f90 ${UMWELT_MPIFORT})
  list(APPEND mpich_equal fortran)
endif()

# collectives_test(<name> <timeout> <arguments of collectives.py>...)
function(collectives_test name timeout)
  add_test(NAME mpi.collectives_${name} COMMAND ${collectives} ${ARGN})
  set_tests_properties(mpi.collectives_${name} PROPERTIES LABELS mpi TIMEOUT ${timeout})
endfunction()

# What is written is the same as natively, in one process and in two, with ranks on nodes of their own and together.
foreach(name IN LISTS equal)
  collectives_test(equal-${name} 300 equal $<TARGET_FILE:umwelt> mpirun.openmpi 5 --
    ${mpi_programs}/collectives_${name})
endforeach()
collectives_test(equal-persistent 300 equal $<TARGET_FILE:umwelt> mpirun.openmpi 5 --
  ${mpi_programs}/collectives_requests persistent)
foreach(name IN LISTS mpich_equal)
  collectives_test(equal-mpich_${name} 300 equal $<TARGET_FILE:umwelt> mpirun.mpich 5 --
    ${mpi_programs}/mpich_collectives_${name})
endforeach()
# With what is the same in both libraries they say the same as Open MPI's, five times as long: sockets.
set_property(TEST mpi.collectives_equal-mpich_every mpi.collectives_equal-mpich_ievery
  mpi.collectives_equal-mpich_requests mpi.collectives_equal-mpich_fortran APPEND PROPERTY LABELS long)
# MPICH 4.0.2 itself gets persistent ones wrong: only that the program finds nothing wrong
foreach(workers IN ITEMS 0 2)
  add_test(NAME mpi.collectives_persistent-${workers} COMMAND umwelt run -q --cpu none --collectives tree -np 4
    --workers ${workers} ${mpi_programs}/mpich_collectives_requests persistent)
  set_tests_properties(mpi.collectives_persistent-${workers} PROPERTIES LABELS mpi TIMEOUT 100
    PASS_REGULAR_EXPRESSION "checks passed, 0 failed" FAIL_REGULAR_EXPRESSION "FAILED|[1-9][0-9]* failed")
endforeach()

collectives_test(times 60 times $<TARGET_FILE:umwelt> 4 -- ${mpi_programs}/collectives_times)
foreach(workers IN ITEMS 0 2)
  add_test(NAME mpi.collectives_bursts-${workers} COMMAND umwelt run -q --cpu fixed=1us --collectives zero -np 4
    --workers ${workers} ${mpi_programs}/collectives_bursts)
  set_tests_properties(mpi.collectives_bursts-${workers} PROPERTIES LABELS mpi TIMEOUT 60
    PASS_REGULAR_EXPRESSION "1[.]00 us")
endforeach()
collectives_test(misfit 200 misfit $<TARGET_FILE:umwelt> 3 -- ${mpi_programs}/collectives_misfit)
collectives_test(misfit-mpich 200 misfit $<TARGET_FILE:umwelt> 3 -- ${mpi_programs}/mpich_collectives_misfit)
set_property(TEST mpi.collectives_misfit-mpich APPEND PROPERTY LABELS long)
# Debian's MPICH looks at no counts: natively the program dies of a negative one, in most runs.
collectives_test(count 60 count $<TARGET_FILE:umwelt> 3 -- ${mpi_programs}/collectives_misfit)
collectives_test(counts 100 counts $<TARGET_FILE:umwelt> 4 -- ${mpi_programs}/collectives_ievery)
collectives_test(refused 30 refused $<TARGET_FILE:umwelt> 2 -- ${mpi_programs}/collectives_times)
collectives_test(identical 200 identical $<TARGET_FILE:umwelt> 6 -- ${mpi_programs}/collectives_ievery)

# Programs that use collectives among other things: the native result, with them modelled; in CI with one number of
# worker processes, in turns
set(left_out 0 2)
foreach(program_and_np IN ITEMS "coll_data;4" "icoll_data;7" "coll_reduce;7" "icoll_reduce;4" "coll_userop;5"
  "icoll_userop;5" "coll_neighbors;5" "coll_inter;7" "coll_overlap;6" "type_collective;4" "comm_split;7" "comm_group;6"
  "comm_inter;5" "comm_cart;8" "comm_many;4" "errors;4;100" ${cxx_bindings} "threads_multiple;4" "io_basic;4"
  "rma_fence;4" "f08_collectives;4" "f77_messages;3")
  list(POP_FRONT program_and_np program np)
  foreach(workers IN ITEMS 0 2)
    add_test(NAME mpi.collectives_output-${program}-${workers}
      COMMAND ${UMWELT_BASH} ${CMAKE_CURRENT_SOURCE_DIR}/compare.sh emulated
        ${CMAKE_CURRENT_BINARY_DIR}/results/${program}-${np} $<TARGET_FILE:umwelt> ${np} --cpu none --workers ${workers}
        --collectives tree -- ${mpi_programs}/${program} ${program_and_np})
    set_tests_properties(mpi.collectives_output-${program}-${workers} PROPERTIES LABELS mpi
      FIXTURES_REQUIRED mpi.${program}-${np} TIMEOUT 120)
  endforeach()
  list(POP_FRONT left_out workers)
  list(APPEND left_out ${workers})
  set_property(TEST mpi.collectives_output-${program}-${workers} APPEND PROPERTY LABELS long)
endforeach()
