# SPDX-License-Identifier: LGPL-2.1-or-later
# Finds the source of the Open MPI that is installed.
#
# A component is bound to the inner structures of the library that loads it, so its source has to be of the very version
# that the distribution's binaries were built from. It is asked from the distribution itself.

# umwelt_openmpi_version(<upstream> <source>): the version of the installed development headers as Open MPI writes it
# ("4.1.4") and the version of the source package they were built from ("4.1.4-3").
function(umwelt_openmpi_version upstream source)
  execute_process(COMMAND dpkg-query --show "--showformat=\${db:Status-Status} \${source:Version}" libopenmpi-dev
                  OUTPUT_VARIABLE answer ERROR_QUIET RESULT_VARIABLE failed)
  if(failed OR NOT answer MATCHES "^installed (.+)$")
    message(FATAL_ERROR
      "Package libopenmpi-dev: expected to be installed (Open MPI's Portals components are built against "
                        "its headers), got: not installed. Install it, or configure with -DUMWELT_OPENMPI=OFF.")
  endif()
  set(version "${CMAKE_MATCH_1}")
  set(${source} "${version}" PARENT_SCOPE)
  string(REGEX REPLACE "^[0-9]+:" "" version "${version}") # epoch
  string(REGEX REPLACE "-[^-]*$" "" version "${version}")  # Debian revision
  set(${upstream} "${version}" PARENT_SCOPE)
endfunction()

# umwelt_openmpi_check(<directory> <upstream>): ends the configuration unless <directory> is Open MPI <upstream>.
function(umwelt_openmpi_check directory upstream)
  set(file "${directory}/VERSION")
  if(NOT EXISTS "${file}")
    message(FATAL_ERROR
      "${directory}: expected the top directory of Open MPI's source, got a directory without a file VERSION.")
  endif()
  set(found "")
  foreach(part IN ITEMS major minor release)
    file(STRINGS "${file}" line REGEX "^${part}=")
    string(REGEX REPLACE "^${part}=" "" line "${line}")
    list(APPEND found "${line}")
  endforeach()
  list(JOIN found "." found)
  string(REGEX MATCH "^[0-9]+\\.[0-9]+\\.[0-9]+" wanted "${upstream}")
  if(NOT found STREQUAL wanted)
    message(FATAL_ERROR "${directory}: expected the source of Open MPI ${wanted}, as it is installed, got ${found}.")
  endif()
endfunction()

# umwelt_openmpi_fetch(<directory> <version> <into>): downloads source package openmpi=<version> and unpacks it below
# <into>, once; <directory> is set to where it is. Needs a deb-src entry, but neither root nor anything installed.
function(umwelt_openmpi_fetch directory version into)
  string(REGEX REPLACE "^[0-9]+:" "" file_version "${version}")
  set(target "${into}/openmpi-${file_version}")
  set(${directory} "${target}" PARENT_SCOPE)
  if(EXISTS "${target}/VERSION")
    return()
  endif()
  find_program(UMWELT_APT_GET apt-get)
  find_program(UMWELT_DPKG_SOURCE dpkg-source)
  mark_as_advanced(UMWELT_APT_GET UMWELT_DPKG_SOURCE)
  if(NOT UMWELT_APT_GET OR NOT UMWELT_DPKG_SOURCE)
    message(FATAL_ERROR
      "Source package openmpi=${version}: expected apt-get and dpkg-source to fetch it, got: at least one is "
      "missing. Install dpkg-dev, or set UMWELT_OPENMPI_SOURCE to the unpacked source package, or configure "
      "with -DUMWELT_OPENMPI=OFF.")
  endif()
  message(STATUS "Fetching the source package openmpi ${version}")
  file(MAKE_DIRECTORY "${into}")
  # apt's own download user may not write into a build directory; the package lists are signed whoever downloads.
  execute_process(COMMAND ${UMWELT_APT_GET} -qq -o APT::Sandbox::User=root source --download-only "openmpi=${version}"
                  WORKING_DIRECTORY "${into}" ERROR_VARIABLE said OUTPUT_VARIABLE said RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "Source package openmpi=${version}: expected apt-get source to fetch it, got:\n${said}"
                        "Add a deb-src entry for the distribution to /etc/apt/sources.list.d and run apt-get update "
                        "(ci/packages does both), or set UMWELT_OPENMPI_SOURCE to the unpacked source package, or "
                        "configure with -DUMWELT_OPENMPI=OFF.")
  endif()
  # Unpacked under another name first, so that an interrupted run leaves nothing that looks complete.
  file(REMOVE_RECURSE "${target}.part")
  execute_process(COMMAND ${UMWELT_DPKG_SOURCE} -x "openmpi_${file_version}.dsc" "${target}.part"
                  WORKING_DIRECTORY "${into}" ERROR_VARIABLE said OUTPUT_VARIABLE said RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "${into}/openmpi_${file_version}.dsc: expected dpkg-source to unpack it, got:\n${said}"
                        "Remove ${into} and configure again.")
  endif()
  file(RENAME "${target}.part" "${target}")
endfunction()
