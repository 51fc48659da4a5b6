#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# command.sh CASE UMWELT LIBRARY PROGRAM: `umwelt openmpi`, and runs with another Open MPI than that of this build.
umwelt=$2 library=$3 program=$4
. "$(dirname "$0")/../cases.sh"
export XDG_CACHE_HOME=$work/cache
own=$(ldconfig -p | awk '/libmpi\.so\.40 / { print $NF; exit }')

cmake_runs() { grep -qs "OPENMPI_SOURCE=$work/openmpi-3[.]9" /proc/[0-9]*/cmdline; } # what grep has itself does not fit

case $1 in
own) # the library that Umwelt is built with
  expect 0 "$umwelt" openmpi "$own"
  grep -q "^components: .*/umwelt/openmpi$" stdout || fail "expected Umwelt's own components"
  [ ! -e cache ] || fail "expected nothing to be kept for it"
  ;;
programs)
  expect 0 "$umwelt" openmpi "$(command -v hpcc)"
  grep -q "^Open MPI [0-9.]*: .*libmpi.so.40" stdout || fail "expected the library of hpcc"
  expect 121 "$umwelt" openmpi /bin/true
  grep -q "expected a program that is linked to Open MPI" stderr || fail "expected it to say what it wants"
  expect 127 "$umwelt" openmpi ./nothing
  grep -q "^umwelt openmpi: ./nothing: expected" stderr || fail "expected it to say what is not there"
  expect 121 "$umwelt" openmpi
  ;;
other) # of a series that there are no components for
  expect 126 "$umwelt" openmpi "$library"
  grep -q "^Open MPI 3.9.9: $(realpath "$library")$" stdout || fail "expected its version"
  grep -q "umwelt openmpi --source" stdout || fail "expected what to do next"
  expect 126 "$umwelt" run -np 2 "$program"
  grep -q "expected an Open MPI that Umwelt has Portals components for.*got 3.9.9" stderr || fail "expected a refusal"
  ! grep -q "has begun" stdout || fail "expected it not to start"
  ;;
opened) # by a program that is not linked to it: the components look themselves
  expect 0 env LD_PRELOAD="$(dirname "$umwelt")/../lib/umwelt/openmpi/mca_btl_portals4.so" /bin/true
  expect 126 env LD_PRELOAD="$library" /bin/true
  grep -q "expected the Open MPI .* that they were built with, got another (its opal_object_t has" stderr ||
    fail "expected it to tell what differs"
  ;;
failures)
  expect 126 "$umwelt" openmpi --source ./nowhere "$library"
  grep -q "nowhere: expected the source of Open MPI" stderr || fail "expected it to say that there is no source"
  mkdir empty
  expect 126 "$umwelt" openmpi --source empty "$library"
  log=$(grep -o "[^ ]*\.log" stderr | head -n 1)
  [ -s "$log" ] || fail "expected the log that the message names"
  UMWELT_OPENMPI_SOURCE=$work/empty expect 126 "$umwelt" run -np 2 "$program"
  [ -z "$(find cache -name '.building*')" ] || fail "expected nothing of the attempt to be left"
  ;;
interrupted) # what it has begun is removed, and what it has started ends
  mkdir -p openmpi-3.9.9
  mkfifo openmpi-3.9.9/VERSION # CMake waits for somebody who writes it
  mkdir bin
  printf '#!/bin/sh\nprintf "ompi:version:full:3.9.9\\npath:incdir:/none\\nconfig:cli: \\n"\n' >bin/ompi_info
  chmod +x bin/ompi_info
  PATH=$work/bin:$PATH "$umwelt" openmpi --source openmpi-3.9.9 "$library" >stdout 2>stderr &
  for ((i = 0; i < 300; ++i)); do
    cmake_runs && [ -n "$(find cache -name '.building*')" ] && break
    sleep 0.1
  done
  sleep 1
  kill -TERM $!
  wait $!
  code=$?
  [ $code = 143 ] || fail "expected to end by SIGTERM, got exit code $code"
  [ -z "$(find cache -name '.building*')" ] || fail "expected nothing of the attempt to be left"
  ! cmake_runs || fail "expected CMake to have ended"
  ;;
outdated) # what another Umwelt has made is not taken
  expect 126 "$umwelt" openmpi "$library"
  identity=$(sed -n 's/^identity: //p' stdout)
  mkdir -p "cache/umwelt/openmpi/$identity"
  echo "recipe 0" >"cache/umwelt/openmpi/$identity/made"
  expect 126 "$umwelt" openmpi "$library"
  expect 126 "$umwelt" run -np 2 "$program"
  ;;
*) fail "unknown case $1" ;;
esac
