#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# build.sh UMWELT SOURCE PINGPONG: components are built for a library that is the distribution's but for its build-id,
# so as if somebody had built it; a run with them takes the simulated time that one with Umwelt's own takes.
umwelt=$1 source=$2 pingpong=$3
. "$(dirname "$0")/../cases.sh"
export XDG_CACHE_HOME=$work/cache
seconds=500
own=$(ldconfig -p | awk '/libmpi\.so\.40 / { print $NF; exit }')
mkdir lib
objcopy --remove-section .note.gnu.build-id "$own" lib/libmpi.so.40 || exit 1

run=("$umwelt" run -np 2 --cpu none "$pingpong" 100 8)
components=$(ompi_info --path pkglibdir --parsable | cut -d: -f3)
export OMPI_MCA_mca_base_component_path=$components
expect 0 "${run[@]}"
cp stdout own.txt
export LD_LIBRARY_PATH=$work/lib
UMWELT_OPENMPI_SOURCE=$source expect 0 "${run[@]}"
grep -q "builds Portals components" stderr || fail "expected the run to build them"
cmp stdout own.txt || fail "expected the same simulated time"
expect 0 "${run[@]}"
! grep -q "builds" stderr || fail "expected the second run to find them"
cmp stdout own.txt || fail "expected the same simulated time again"
expect 0 "$umwelt" openmpi lib/libmpi.so.40
grep -q "^components: $work/cache/" stdout || fail "expected those that were built"
expect 0 "$umwelt" openmpi --source "$source" lib/libmpi.so.40
