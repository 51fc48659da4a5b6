# Run by cpack on what has been installed for a package: what Debian wants of it beside what `cmake --install` makes.
# Licences of what has become part of it, changelog, compressed manual page, and the SBOM.
set(root ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr)
set(documents ${root}/share/doc/umwelt)

function(compress file)
  execute_process(COMMAND gzip -9nf ${file} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# Open MPI's components are compiled from its source, the page of reports has D3 in it.
file(READ ${CMAKE_CURRENT_LIST_DIR}/copyright copyright)
file(GLOB openmpi ${root}/lib*/umwelt/openmpi/*.so ${root}/lib/*/umwelt/openmpi/*.so)
if(openmpi)
  file(GLOB of_openmpi /usr/share/doc/libopenmpi3*/copyright /usr/share/doc/libopenmpi40*/copyright)
  if(NOT of_openmpi)
    message(FATAL_ERROR "ci/package: expected /usr/share/doc/libopenmpi*/copyright, got none: the package would lack "
      "Open MPI's licence. Install libopenmpi3 (Debian 12) or libopenmpi40 (13) with its documentation.")
  endif()
  list(GET of_openmpi 0 of_openmpi)
  file(READ ${of_openmpi} text)
  string(APPEND copyright "\n\nOpen MPI (lib/umwelt/openmpi), as its package has it:\n\n${text}")
endif()
file(READ ${documents}/d3-licence.txt text)
string(APPEND copyright "\n\nD3 (bin/umwelt), as its packages have it:\n\n${text}")
file(WRITE ${documents}/copyright "${copyright}")
file(REMOVE ${documents}/d3-licence.txt)

string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
configure_file(${CMAKE_CURRENT_LIST_DIR}/changelog.in ${documents}/changelog @ONLY
  FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
compress(${documents}/changelog)
compress(${root}/share/man/man1/umwelt.1)

# cpack strips what CMake has linked itself.
file(GLOB programs ${root}/lib*/umwelt/collbench-* ${root}/lib/*/umwelt/collbench-*)
execute_process(COMMAND strip --strip-unneeded ${programs} COMMAND_ERROR_IS_FATAL ANY)

execute_process(COMMAND ${CMAKE_CURRENT_LIST_DIR}/sbom.py ${root} --version ${CPACK_PACKAGE_VERSION}
  OUTPUT_FILE ${documents}/umwelt.spdx.json COMMAND_ERROR_IS_FATAL ANY)
compress(${documents}/umwelt.spdx.json)
