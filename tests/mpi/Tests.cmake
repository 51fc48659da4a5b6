# SPDX-License-Identifier: LGPL-2.1-or-later
# The matrix: which programs there are, and on how many ranks each runs.

# Messages
mpi_case(p2p_sizes 2)
mpi_case(p2p_modes 2)
mpi_case(p2p_wildcards 4)
mpi_case(p2p_sendrecv 5)
mpi_case(p2p_self 2)
mpi_case(p2p_unexpected 2)
mpi_case(p2p_probe 3)
mpi_case(p2p_completion 4)
mpi_case(p2p_persistent 3)
# pml cm sends the first data again when a persistent buffered send is restarted, over any mtl
mpi_test(p2p_persistent_buffered PROGRAM p2p_persistent NP 3 ARGUMENTS buffered WAYS ob1)
mpi_case(p2p_cancel 2)
mpi_case(p2p_bulk 2)
mpi_case(p2p_incast 8)
mpi_program(p2p_overrun p2p_overrun.c)
mpi_test(p2p_overrun NP 2)
# Nothing is lost where a send ends when the message has left, either.
foreach(name IN ITEMS p2p_overrun p2p_incast p2p_bulk)
  mpi_test(${name}_at_once PROGRAM ${name} NP 2 OPTIONS --mca btl_portals4_needs_ack 0
    --mca btl_portals4_recv_md_size 262144)
endforeach()
mpi_program(p2p_many p2p_many.c)
mpi_test(p2p_many NP 2 ARGUMENTS 60)
mpi_test(p2p_many_more PROGRAM p2p_many NP 2 ARGUMENTS 300 OPTIONS --mca btl_portals4_free_list_max_num 200)

# Collectives; those with a nonblocking form are built twice from one source
foreach(name_and_np IN ITEMS "coll_data;4;7" "coll_reduce;4;7" "coll_userop;5" "coll_neighbors;5;9" "coll_inter;7")
  list(POP_FRONT name_and_np name)
  mpi_case(${name} ${name_and_np})
  mpi_program(i${name} ${name}.c FLAGS -DNONBLOCKING)
  mpi_test(i${name} NP ${name_and_np})
endforeach()
mpi_case(coll_overlap 6)
mpi_program(coll_reduce_int coll_reduce.c FLAGS -DELEMENT=int -DELEMENT_TYPE=MPI_INT)
mpi_test(coll_reduce_int NP 4 7 WAYS triggered)
mpi_program(icoll_reduce_int coll_reduce.c FLAGS -DELEMENT=int -DELEMENT_TYPE=MPI_INT -DNONBLOCKING)
mpi_test(icoll_reduce_int NP 5 WAYS triggered)
mpi_test(coll_data_triggered PROGRAM coll_data NP 5 8 WAYS triggered)
mpi_test(icoll_data_triggered PROGRAM icoll_data NP 5 WAYS triggered)

# Datatypes and communicators
mpi_case(type_layouts 2)
# coll han of Open MPI 5, which several nodes of several ranks get, takes derived types for contiguous ones.
set(of_types "")
if(NOT openmpi_version VERSION_LESS 5)
  set(of_types OPTIONS --mca coll "^han,portals4")
endif()
mpi_program(type_offsets type_offsets.c)
mpi_test(type_offsets NP 4 ${of_types})
mpi_case(type_arrays 6)
mpi_case(type_pack 2)
mpi_program(type_collective type_collective.c)
mpi_test(type_collective NP 4 ${of_types})
mpi_case(comm_split 7)
mpi_case(comm_group 6)
mpi_case(comm_inter 5)
mpi_case(comm_cart 8)
mpi_case(comm_graph 6)
mpi_case(comm_many 4)

# One-sided
mpi_case(rma_fence 4)
mpi_case(rma_lock 4)
mpi_case(rma_pscw 4)
# MPI_Win_test of osc portals4 makes no call and its loop counts: each look of thousands would last a time slice
mpi_test(rma_pscw_test PROGRAM rma_pscw NP 4 ARGUMENTS test WAYS ob1)
mpi_case(rma_atomics 4)
mpi_test(rma_atomics_contended PROGRAM rma_atomics NP 4 ARGUMENTS contended)
mpi_case(rma_windows 3)
mpi_case(rma_requests 3)
mpi_case(rma_types 2)

# Memory that ranks of a node share: natively on one node of 8, simulated on 2 of 4 and on one
mpi_program(pingpong ../bench/pingpong.c)
mpi_program(win_shared win_shared.c)
mpi_test(win_shared NP 8 WAYS ob1 workers OPTIONS -N 4)
# 18 s of CPU in four processes that wait for each other by looking: beside other tests that is a minute
set_tests_properties(mpi.win_shared-8.workers PROPERTIES PROCESSORS 2 TIMEOUT 150 ENVIRONMENT UMWELT_TEST_TIMEOUT=120)
mpi_test(win_shared_together PROGRAM win_shared NP 4 WAYS ob1 workers OPTIONS -N 4)
add_test(NAME mpi.win_shared_apart COMMAND umwelt run -q --cpu none -np 4 -N 2 ${mpi_programs}/win_shared apart)
set_tests_properties(mpi.win_shared_apart PROPERTIES LABELS "mpi;node" TIMEOUT 60 PASS_REGULAR_EXPRESSION
  "3 checks passed, 0 failed")
add_test(NAME mpi.node_messages COMMAND ${UMWELT_BASH} ${CMAKE_CURRENT_SOURCE_DIR}/node_messages.sh
  $<TARGET_FILE:umwelt>
  ${mpi_programs}/pingpong ${mpi_programs}/coll_overlap)
set_tests_properties(mpi.node_messages PROPERTIES LABELS "mpi;node" TIMEOUT 200)

# Memory that may be forgotten
mpi_program(fold_messages fold_messages.c)
set(fold_messages_options --fold at_least=1MiB,keep=0..5000,keep=size-3000..size --fold-budget 2MiB)
mpi_test(fold_messages NP 2 3 OPTIONS ${fold_messages_options})
foreach(script IN ITEMS determinism "../workers/agree")
  cmake_path(GET script FILENAME name)
  add_test(NAME mpi.${name}-fold_messages
    COMMAND ${UMWELT_BASH} ${CMAKE_CURRENT_SOURCE_DIR}/${script}.sh $<TARGET_FILE:umwelt> 2 ${fold_messages_options} --
      ${mpi_programs}/fold_messages)
  set_tests_properties(mpi.${name}-fold_messages PROPERTIES LABELS mpi TIMEOUT 200)
endforeach()
set_property(TEST mpi.agree-fold_messages APPEND PROPERTY LABELS long)
mpi_program(fold_fortran fold_fortran.f90)
mpi_test(fold_fortran NP 2 WAYS ob1 workers OPTIONS --fold at_least=1MiB,keep=0..800 --fold-budget 2MiB)
# MPI_Alloc_mem counts for its caller: two ranks have it once
foreach(program_and_rule IN ITEMS "messages;at_least=1MiB,function=main" "fortran;at_least=5130000,at_most=5300000")
  list(GET program_and_rule 0 program)
  list(GET program_and_rule 1 rule)
  add_test(NAME mpi.fold_${program}_counted COMMAND umwelt run --cpu none -np 2 --fold ${rule},keep=0..size
    ${mpi_programs}/fold_${program})
  set_tests_properties(mpi.fold_${program}_counted PROPERTIES LABELS mpi TIMEOUT 60)
endforeach()
set_tests_properties(mpi.fold_messages_counted PROPERTIES PASS_REGULAR_EXPRESSION "keep=0..size +4 ") # and malloc
set_tests_properties(mpi.fold_fortran_counted PROPERTIES PASS_REGULAR_EXPRESSION "keep=0..size +2 ")

# A rank whose work is modelled sees what has come meanwhile: 5.5 ms are over after slice 6, and pml ob1 finds at the
# next look what this one took from the network.
mpi_program(p2p_slices p2p_slices.c)
foreach(way IN ITEMS ob1 cm node workers)
  set(slices 7)
  if(way STREQUAL cm)
    set(slices 6)
  endif()
  set(options_workers --workers 2)
  set(options_node -N 2)
  add_test(NAME mpi.p2p_slices.${way}
    COMMAND umwelt run -q --cpu none -np 2 ${options_${way}} ${mpi_options_${way}}
      --kernels ${CMAKE_CURRENT_SOURCE_DIR}/p2p_slices.yaml ${mpi_programs}/p2p_slices)
  set_tests_properties(mpi.p2p_slices.${way} PROPERTIES LABELS "mpi;${way}" TIMEOUT 60
    PASS_REGULAR_EXPRESSION "after ${slices} slices, 12 looks in vain: [0-9]?[0-9] us")
endforeach()

# The rest of MPI
mpi_case(info_attributes 2)
mpi_program(errors errors.c)
mpi_test(errors NP 4 ARGUMENTS 100)
# mtl portals4 waits for ever for the rest of a long message that was truncated
mpi_test(errors_long PROGRAM errors NP 4 ARGUMENTS 100000 WAYS ob1)
mpi_case(io_basic 4)
mpi_case(io_shared 4)
# By locks of a file, whichever the library would have chosen
mpi_test(io_shared_locked PROGRAM io_shared NP 4 WAYS ob1 workers node OPTIONS --mca sharedfp lockedfile)
mpi_case(io_nonblocking 4)

# Ranks that start others, or find each other
mpi_program(spawn_exchange spawn_exchange.c)
set(spawns ENVIRONMENT UMWELT_TEST_SPAWNS=yes)
mpi_test(spawn_exchange NP 1 3 ${spawns})
mpi_program(spawn_multiple spawn_multiple.c)
if(mpi_runs_mpmd)
  mpi_test(spawn_multiple NP 2 WAYS ob1 workers ${spawns})
else()
  mpi_checks(spawn_multiple 2 ob1 workers)
endif()
mpi_program(spawn_threads spawn_threads.c)
foreach(who IN ITEMS parent child)
  mpi_test(spawn_threads_${who} PROGRAM spawn_threads NP 2 ARGUMENTS ${who} WAYS ob1 workers ${spawns})
endforeach()
foreach(script IN ITEMS determinism "../workers/agree")
  cmake_path(GET script FILENAME name)
  add_test(NAME mpi.${name}-spawn_exchange
    COMMAND ${UMWELT_BASH} ${CMAKE_CURRENT_SOURCE_DIR}/${script}.sh $<TARGET_FILE:umwelt> 3 --
      ${mpi_programs}/spawn_exchange)
  set_tests_properties(mpi.${name}-spawn_exchange PROPERTIES LABELS mpi TIMEOUT 200)
endforeach()
mpi_case(connect 2 5)
mpi_program(spawn_refused spawn_refused.c)
# natively with as many slots as a file of hosts has, without --oversubscribe
set(spawn_refused_ways hosts universe workers)
set(spawn_refused_hosts --host a:2,b:1)
set(spawn_refused_universe --universe 3)
set(spawn_refused_workers --universe 3 --workers 1)
foreach(way IN LISTS spawn_refused_ways)
  add_test(NAME mpi.spawn_refused.${way} COMMAND umwelt run --cpu none -np 1 ${spawn_refused_${way}}
    ${mpi_programs}/spawn_refused 3)
  set_tests_properties(mpi.spawn_refused.${way} PROPERTIES LABELS mpi TIMEOUT 60
    PASS_REGULAR_EXPRESSION "room for 3 ranks: expected as many free slots, got 2.*29 checks passed, 0 failed"
      FAIL_REGULAR_EXPRESSION "FAILED")
endforeach()

# Threads
mpi_program(threads_multiple threads_multiple.c FLAGS -pthread)
mpi_test(threads_multiple NP 2 4)
mpi_program(threads_windows threads_windows.c FLAGS -pthread)
mpi_test(threads_windows NP 3)
mpi_program(threads_queue threads_queue.c FLAGS -pthread)
mpi_test(threads_queue NP 2 5)
mpi_program(hybrid_openmp hybrid_openmp.f90 FLAGS -fopenmp)
mpi_test(hybrid_openmp NP 3 OPTIONS --cpus-per-rank 4)

# What a rank sees of itself and of the machine
mpi_case(world_startup 2)
mpi_case(world_globals 4)
mpi_case(world_output 4)
mpi_case(world_directory 4)
mpi_case(world_time 3)
mpi_case(world_polling 3)
mpi_program(world_floating world_floating.c FLAGS -lm)
mpi_test(world_floating NP 4)
mpi_program(world_counting world_counting.c)
mpi_test(world_counting NP 2 WAYS ob1 workers node) # over TCP each look is a system call,
mpi_test(world_counting_tests PROGRAM world_counting NP 2 ARGUMENTS test WAYS ob1 cm)
  # over cm MPI_Iprobe asks the NIC each time
# one node for both, as mpirun has it
mpi_program(world_signals world_signals.c)
mpi_test(world_signals NP 2 OPTIONS -N 2)
mpi_case(world_launcher 4)
mpi_program(world_environment world_environment.c)
mpi_test(world_environment NP 3 ARGUMENTS one "two words" "" "--np" "a=b" ENVIRONMENT UMWELT_TEST_GIVEN=passed)
mpi_program(world_stdin world_stdin.c)
mpi_test(world_stdin NP 2 INPUT input.txt)
# A launcher that becomes the program, a shell, env; on nodes of their own, on shared ones and in worker processes
mpi_program(world_exec world_exec.c)
mpi_test(world_exec NP 2 4)
mpi_program(world_exec_after world_exec_after.c)
foreach(what IN ITEMS shell mpi after "shell;3")
  list(JOIN what _ name)
  if(mpi_ends_after_exec OR NOT name STREQUAL "mpi")
    mpi_test(world_exec_after_${name} PROGRAM world_exec_after NP 3 ARGUMENTS ${what})
  endif()
endforeach()
mpi_program(world_mpmd world_mpmd.c)
if(mpi_runs_mpmd)
  mpi_test(world_mpmd NP 2 ARGUMENTS first : -np 3 ${mpi_programs}/world_mpmd second)
else()
  mpi_checks(world_mpmd 2 ob1 cm workers tcp node ARGUMENTS first : -np 3 ${mpi_programs}/world_mpmd second)
endif()
mpi_program(world_end world_end.c)
foreach(how IN ITEMS return exit _exit MPI_Abort early-exit error abort segv)
  mpi_test(world_end_${how} PROGRAM world_end NP 3 ARGUMENTS ${how})
endforeach()

# Libraries and plug-ins
mpi_library(libumwelttest.so library.cpp)
set(beside_the_program FLAGS -Wl,-rpath,$ORIGIN)
mpi_program(world_library world_library.c DEPENDS libumwelttest.so ${beside_the_program})
mpi_test(world_library NP 4)
mpi_library(plugin_provider.so plugin_provider.c)
mpi_library(plugin_user.so plugin_user.c)
mpi_program(world_plugin world_plugin.c FLAGS -rdynamic)
mpi_test(world_plugin NP 3 ARGUMENTS ${mpi_programs}/plugin_provider.so ${mpi_programs}/plugin_user.so)

# Not position-independent
mpi_program(fixed_sendrecv p2p_sendrecv.c FLAGS -fno-pie -no-pie -s)
mpi_test(fixed_sendrecv NP 1)
mpi_test(fixed_sendrecv_beside_the_runtime PROGRAM fixed_sendrecv NP 1 WAYS ob1 OPTIONS --workers 0)
mpi_program(fixed_library world_library.c DEPENDS libumwelttest.so ${beside_the_program} -fno-pie -no-pie)
mpi_test(fixed_library NP 1)
# Programs that a namespace cannot host, alone and beside one that it can
mpi_program(no_pie_sendrecv p2p_sendrecv.c FLAGS -no-pie -s)
mpi_test(no_pie_sendrecv NP 5 WAYS workers)
mpi_program(no_pie_mpmd world_mpmd.c FLAGS -no-pie -s)
if(mpi_runs_mpmd)
  mpi_test(no_pie_mpmd NP 2 WAYS workers ARGUMENTS first : -np 3 ${mpi_programs}/world_mpmd second)
else()
  mpi_checks(no_pie_mpmd 2 workers ARGUMENTS first : -np 3 ${mpi_programs}/world_mpmd second)
endif()

# C++
mpi_program(world_constructors world_constructors.cpp DEPENDS libumwelttest.so ${beside_the_program})
mpi_test(world_constructors NP 3)
mpi_program(cxx_exceptions cxx_exceptions.cpp DEPENDS libumwelttest.so ${beside_the_program})
mpi_test(cxx_exceptions NP 4)
mpi_program(cxx_streams cxx_streams.cpp)
mpi_test(cxx_streams NP 3)
if(mpi_has_cxx)
  mpi_program(cxx_bindings cxx_bindings.cpp)
  mpi_test(cxx_bindings NP 3)
endif()

# Fortran
mpi_program(f08_messages f08_messages.f90)
mpi_test(f08_messages NP 4)
mpi_program(f08_collectives f08_collectives.f90)
mpi_test(f08_collectives NP 4)
mpi_program(f77_messages f77_messages.f)
mpi_test(f77_messages NP 3)
mpi_program(f90_stop f90_stop.f90)
mpi_test(f90_stop NP 3)

# The same run twice, bit by bit
foreach(program_and_np IN ITEMS "coll_overlap;6" "p2p_incast;8")
  list(GET program_and_np 0 program)
  list(GET program_and_np 1 np)
  foreach(way IN LISTS mpi_ways)
    add_test(NAME mpi.determinism-${program}.${way}
      COMMAND ${UMWELT_BASH} ${CMAKE_CURRENT_SOURCE_DIR}/determinism.sh $<TARGET_FILE:umwelt> ${np}
              ${mpi_options_${way}} -- ${mpi_programs}/${program})
    set_tests_properties(mpi.determinism-${program}.${way} PROPERTIES LABELS "mpi;${way}" TIMEOUT 120)
  endforeach()
endforeach()

# Likewise with several ranks on a node
foreach(program_and_np IN ITEMS "coll_overlap;6" "win_shared;8")
  list(POP_FRONT program_and_np program np)
  add_test(NAME mpi.determinism-${program}.node
    COMMAND ${UMWELT_BASH} ${CMAKE_CURRENT_SOURCE_DIR}/determinism.sh $<TARGET_FILE:umwelt> ${np} -N 4 --
      ${mpi_programs}/${program})
  set_tests_properties(mpi.determinism-${program}.node PROPERTIES LABELS "mpi;node" TIMEOUT 120)
endforeach()
foreach(program_and_np IN ITEMS "coll_overlap;6;3" "p2p_incast;8;2" "icoll_reduce;6;3" "icoll_reduce;16;8")
  list(POP_FRONT program_and_np program np per_node)
  set(test mpi.workers-${program}-${np}.node)
  add_test(NAME ${test} COMMAND ${UMWELT_BASH} ${PROJECT_SOURCE_DIR}/tests/workers/agree.sh $<TARGET_FILE:umwelt> ${np}
    -N ${per_node} -- ${mpi_programs}/${program})
  set_tests_properties(${test} PROPERTIES LABELS "mpi;workers;node" PROCESSORS 2 TIMEOUT 300)
endforeach()

# The NIC's fabrics beside each other
mpi_program(fabric_times fabric_times.c)
add_test(NAME mpi.fabrics COMMAND ${UMWELT_BASH} ${CMAKE_CURRENT_SOURCE_DIR}/fabric.sh $<TARGET_FILE:umwelt>
  ${mpi_programs}/fabric_times)
set_tests_properties(mpi.fabrics PROPERTIES LABELS mpi TIMEOUT 300)
set(adaptive --platform dragonfly --fabric packet --nic fabric_routing=ugal --nic fabric_buffer=4KiB)
foreach(script IN ITEMS determinism "../workers/agree")
  cmake_path(GET script FILENAME name)
  add_test(NAME mpi.${name}-coll_overlap.packet
    COMMAND ${UMWELT_BASH} ${CMAKE_CURRENT_SOURCE_DIR}/${script}.sh $<TARGET_FILE:umwelt> 6 ${adaptive} --
      ${mpi_programs}/coll_overlap)
  set_tests_properties(mpi.${name}-coll_overlap.packet PROPERTIES LABELS mpi TIMEOUT 200)
endforeach()

# The same run in one process and in many, bit by bit
set(options_rma_fence --mca pml cm --mca mtl portals4)
foreach(program_and_np IN ITEMS "p2p_sendrecv;15;64" "p2p_incast;15" "coll_overlap;15;20" "icoll_reduce;16"
  "rma_fence;9" "rma_atomics;20"
        "threads_multiple;14;16" "hybrid_openmp;15;20")
  list(POP_FRONT program_and_np program)
  foreach(np IN LISTS program_and_np)
    set(test mpi.workers-${program}-${np})
    add_test(NAME ${test} COMMAND ${UMWELT_BASH} ${PROJECT_SOURCE_DIR}/tests/workers/agree.sh $<TARGET_FILE:umwelt>
      ${np}
      ${options_${program}} -- ${mpi_programs}/${program})
    set_tests_properties(${test} PROPERTIES LABELS "mpi;workers" PROCESSORS 2 TIMEOUT 600)
  endforeach()
endforeach()
set_property(TEST mpi.workers-p2p_sendrecv-64 mpi.workers-rma_fence-9 mpi.workers-icoll_reduce-16
  mpi.workers-icoll_reduce-16.node mpi.workers-coll_overlap-20 mpi.workers-threads_multiple-16
  mpi.workers-hybrid_openmp-20 APPEND PROPERTY LABELS long)

# The distribution's components and programs
find_program(UMWELT_OMPI_INFO ompi_info)
find_program(UMWELT_HPCC hpcc)
find_program(UMWELT_NETPIPE NPopenmpi)
mark_as_advanced(UMWELT_OMPI_INFO UMWELT_HPCC UMWELT_NETPIPE)
if(UMWELT_OMPI_INFO)
  add_test(NAME mpi.components
    COMMAND ${UMWELT_BASH} ${CMAKE_CURRENT_SOURCE_DIR}/components.sh ${UMWELT_OMPI_INFO}
      $<TARGET_FILE_DIR:mca_mtl_portals4>)
  set_tests_properties(mpi.components PROPERTIES LABELS mpi TIMEOUT 30)
endif()
foreach(way IN LISTS mpi_ways)
  if(UMWELT_HPCC)
    foreach(cpu IN ITEMS none measured)
      set(test mpi.hpcc_${cpu}.${way})
      add_test(NAME ${test}
        COMMAND ${UMWELT_BASH} ${CMAKE_CURRENT_SOURCE_DIR}/hpcc.sh $<TARGET_FILE:umwelt>
          ${CMAKE_CURRENT_SOURCE_DIR}/hpccinf.txt.in --cpu ${cpu} ${mpi_options_${way}})
      set_tests_properties(${test} PROPERTIES LABELS "mpi;${way}" TIMEOUT 150)
    endforeach()
  endif()
  if(UMWELT_NETPIPE)
    add_test(NAME mpi.netpipe.${way}
      COMMAND ${UMWELT_BASH} ${CMAKE_CURRENT_SOURCE_DIR}/netpipe.sh $<TARGET_FILE:umwelt> ${mpi_options_${way}})
    set_tests_properties(mpi.netpipe.${way} PROPERTIES LABELS "mpi;${way}" TIMEOUT 150)
  endif()
endforeach()

# However busy this machine is, a burst counts for what it computed.
mpi_program(world_bursts world_bursts.c)
add_test(NAME mpi.busy_host
  COMMAND ${UMWELT_BASH} ${CMAKE_CURRENT_SOURCE_DIR}/busy_host.sh $<TARGET_FILE:umwelt> ${mpi_programs}/world_bursts)
set_tests_properties(mpi.busy_host PROPERTIES LABELS mpi PROCESSORS 2 TIMEOUT 300)
