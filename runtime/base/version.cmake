# SPDX-License-Identifier: LGPL-2.1-or-later
# cmake -DSOURCE=DIR -DVERSION=N -DOUTPUT=FILE -P version.cmake: writes the header that says which version a build is,
# with the commit where the source is a git checkout of its own (not an archive that lies inside somebody else's). The
# file is left alone if it says so already, so that a build after a commit compiles the few files that include it.
cmake_minimum_required(VERSION 3.25)
set(text "${VERSION}")
if(EXISTS "${SOURCE}/.git")
  set(ENV{GIT_OPTIONAL_LOCKS} 0) # reads only, whoever else works in the checkout
  execute_process(COMMAND git -C "${SOURCE}" describe --always --dirty=+ --abbrev=12 --exclude=*
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed)
    string(REGEX REPLACE "\\+$" ", changed since" commit "${commit}")
    string(APPEND text " (git ${commit})")
  endif()
endif()
file(CONFIGURE OUTPUT "${OUTPUT}" CONTENT
  "// Made by runtime/base/version.cmake.\n#define UMWELT_VERSION \"@text@\"\n" @ONLY)
