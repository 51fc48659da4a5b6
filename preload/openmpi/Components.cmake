# SPDX-License-Identifier: LGPL-2.1-or-later
# The components themselves, whoever builds them: Umwelt for the distribution's Open MPI (CMakeLists.txt), or
# `umwelt openmpi` for one that somebody has built (own/CMakeLists.txt). Wanted before: targets `portals` and
# `umwelt_openmpi_component` (whose flags and libraries are those of that Open MPI), and the variables
# openmpi_source        its unpacked source
# openmpi_upstream      its version, "4.1.4"
# openmpi_output        where the components go
# openmpi_rpath         where they look for libportals.so.4
# Sets openmpi_targets.

# Code of others: compiled as its own makefiles compile it, not by this project's rules.
set_directory_properties(PROPERTIES COMPILE_OPTIONS "" INCLUDE_DIRECTORIES "")
target_compile_options(umwelt_openmpi_component INTERFACE
  -w -O2 -pthread -fno-strict-aliasing
  -mcx16 # Open MPI's lock-free lists are laid out for it
  "SHELL:-idirafter \"${openmpi_source}\"")
    # the few headers that a development package lacks; whatever it has comes from there
target_compile_definitions(umwelt_openmpi_component INTERFACE NDEBUG PIC)
target_link_options(umwelt_openmpi_component INTERFACE -Wl,-z,relro)

set(openmpi_corrections ${CMAKE_CURRENT_LIST_DIR})

# component(<framework> <project> <kind>): all sources of <project>/mca/<framework>/<kind> as mca_<framework>_<kind>.so.
function(component framework project kind)
  set(name mca_${framework}_${kind})
  set(directory "${openmpi_source}/${project}/mca/${framework}/${kind}")
  file(GLOB sources CONFIGURE_DEPENDS "${directory}/*.c")
  if(NOT sources)
    message(FATAL_ERROR
      "${directory}: expected the sources of Open MPI's component, got none. Is that its whole source?")
  endif()
  add_library(${name} SHARED ${sources}) # not MODULE: osc and coll link against the mtl
  target_include_directories(${name} PRIVATE "${directory}")
  target_link_libraries(${name} PRIVATE umwelt_openmpi_component portals)
  set_target_properties(${name} PROPERTIES
    PREFIX "" C_STANDARD 99 C_EXTENSIONS ON EXPORT_COMPILE_COMMANDS OFF
    LIBRARY_OUTPUT_DIRECTORY ${openmpi_output}
    BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN;${openmpi_rpath}")
endfunction()

component(mtl ompi portals4)
component(btl opal portals4)
component(osc ompi portals4)
component(coll ompi portals4)
set(openmpi_components mtl_portals4 btl_portals4 osc_portals4 coll_portals4)
if(openmpi_upstream VERSION_LESS 5) # its successor there, osc rdma, works over all BTLs
  component(osc ompi pt2pt)
  list(APPEND openmpi_components osc_pt2pt)
endif()
foreach(name IN LISTS openmpi_components)
  if(NOT name MATCHES "^btl_")
    target_link_libraries(mca_${name} PRIVATE mpi)
  endif()
endforeach()
# osc and coll call into the mtl; linked to it, the linker says what is missing.
foreach(framework IN ITEMS osc coll)
  target_link_libraries(mca_${framework}_portals4 PRIVATE mca_mtl_portals4)
endforeach()
# corrected(<name> <header>): <header> is included in front of every source of component <name>.
function(corrected name header)
  get_target_property(sources mca_${name} SOURCES)
  # In one word: of options in two, CMake drops a first one that is there already.
  set_property(SOURCE ${sources} APPEND PROPERTY COMPILE_OPTIONS -include${openmpi_corrections}/${header})
endfunction()

foreach(name IN ITEMS mtl osc coll)
  corrected(${name}_portals4 mtl_portals4_slot.h)
endforeach()
if(openmpi_upstream VERSION_LESS 5) # right since then
  corrected(mtl_portals4 mtl_portals4_datatype.h)
endif()
corrected(btl_portals4 btl_portals4_fragments.h)
if(NOT openmpi_upstream VERSION_LESS 5)
  corrected(btl_portals4 btl_portals4_origins.h)
  target_sources(mca_btl_portals4 PRIVATE ${openmpi_corrections}/btl_portals4_origins.c)
endif()
target_sources(mca_mtl_portals4 PRIVATE ${openmpi_corrections}/mtl_portals4_status.c)
foreach(what IN ITEMS end refused sends threads)
  target_sources(mca_btl_portals4 PRIVATE ${openmpi_corrections}/btl_portals4_${what}.c)
endforeach()
target_link_options(mca_btl_portals4 PRIVATE -Wl,--wrap=mca_btl_portals4_component_progress -Wl,--wrap=PtlEQPoll
  -Wl,--wrap=PtlMDBind -Wl,--wrap=PtlMDRelease -Wl,--wrap=PtlPut)
if(TARGET mca_osc_pt2pt)
  corrected(osc_pt2pt osc_pt2pt_answers.h) # the distribution's own deadlocks over btl portals4
  foreach(what IN ITEMS answers nocheck threads)
    target_sources(mca_osc_pt2pt PRIVATE ${openmpi_corrections}/osc_pt2pt_${what}.c)
  endforeach()
endif()

foreach(name IN LISTS openmpi_components)
  target_sources(mca_${name} PRIVATE ${openmpi_corrections}/build_check.c)
endforeach()

list(TRANSFORM openmpi_components PREPEND mca_ OUTPUT_VARIABLE openmpi_targets)
