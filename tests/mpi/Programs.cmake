# SPDX-License-Identifier: LGPL-2.1-or-later
# How the programs are built. CMake's own MPI support is not used: what runs here is what a user gets from the wrapper,
# a PIE without any flag of this project.
set(mpi_programs ${CMAKE_CURRENT_BINARY_DIR}/bin)
file(MAKE_DIRECTORY ${mpi_programs})
add_custom_target(umwelt_mpi_programs ALL)

# Warnings that Open MPI's own headers cause: empty arrays as special arguments, casts in the C++ bindings, unused
# constants.
set(mpi_warnings_c -Wall -Wextra -Wshadow -Wno-stringop-overread -Wno-stringop-overflow)
set(mpi_warnings_cpp -Wall -Wextra -Wno-cast-function-type)
set(mpi_warnings_f90 -Wall -Wextra -Wno-compare-reals -Wno-unused-parameter)
set(mpi_warnings_f ${mpi_warnings_f90})
if(UMWELT_WERROR)
  foreach(language IN ITEMS c cpp f90 f)
    list(APPEND mpi_warnings_${language} -Werror)
  endforeach()
endif()
set(mpi_compiler_c ${UMWELT_MPICC})
set(mpi_compiler_cpp ${UMWELT_MPICXX})
set(mpi_compiler_f90 ${UMWELT_MPIFORT})
set(mpi_compiler_f ${UMWELT_MPIFORT})

# mpi_program(<name> <source> [DEPENDS <library>...] [FLAGS <flag>...]): bin/<name>. <library> is another output of this
# directory.
function(mpi_program name source)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "DEPENDS;FLAGS")
  cmake_path(GET source EXTENSION LAST_ONLY language)
  string(SUBSTRING "${language}" 1 -1 language)
  set(output ${mpi_programs}/${name})
  set(input ${CMAKE_CURRENT_SOURCE_DIR}/${source})
  list(TRANSFORM arg_DEPENDS PREPEND ${mpi_programs}/)
  set(dependencies "")
  if(language MATCHES "^c") # Fortran sources include nothing of ours
    set(dependencies -MD -MF ${output}.d -MT ${output})
    set(depfile DEPFILE ${output}.d)
  else()
    file(MAKE_DIRECTORY ${output}.modules)
    set(dependencies -J ${output}.modules)
    set(depfile "")
  endif()
  add_custom_command(OUTPUT ${output}
    COMMAND ${mpi_compiler_${language}} -O2 -g ${mpi_warnings_${language}} ${dependencies} -o ${output} ${input}
      ${arg_DEPENDS}
            ${arg_FLAGS}
    DEPENDS ${input} ${arg_DEPENDS} ${depfile}
    COMMENT "Building MPI program ${name}" VERBATIM COMMAND_EXPAND_LISTS)
  add_custom_target(mpi_${name} DEPENDS ${output})
  add_dependencies(umwelt_mpi_programs mpi_${name})
endfunction()

# mpi_library(<file> <source>): a shared library for the programs to be linked with or to open.
function(mpi_library file source)
  set(input ${CMAKE_CURRENT_SOURCE_DIR}/${source})
  cmake_path(GET source EXTENSION LAST_ONLY language)
  set(compiler ${CMAKE_C_COMPILER})
  if(language STREQUAL ".cpp")
    set(compiler ${CMAKE_CXX_COMPILER})
  endif()
  add_custom_command(OUTPUT ${mpi_programs}/${file}
    COMMAND ${compiler} -O2 -g -Wall -Wextra -fPIC -shared -MD -MF ${mpi_programs}/${file}.d -MT ${mpi_programs}/${file}
            -Wl,-soname,${file} -o ${mpi_programs}/${file} ${input}
    DEPENDS ${input} DEPFILE ${mpi_programs}/${file}.d
    COMMENT "Building library ${file} of the MPI programs" VERBATIM)
  string(MAKE_C_IDENTIFIER ${file} target)
  add_custom_target(mpi_${target} DEPENDS ${mpi_programs}/${file})
  add_dependencies(umwelt_mpi_programs mpi_${target})
endfunction()
