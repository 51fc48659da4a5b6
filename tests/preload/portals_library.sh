#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# portals_library.sh LIBRARY SOURCE_ROOT: libportals.so.4 is what a program links against with `cc program.c
# -lportals`: its SONAME, all functions and nothing else, unversioned as in the reference, and a clear error where
# there is no simulation.
set -euo pipefail
library=$1
root=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
readelf -d "$library" | grep -q 'SONAME.*\[libportals\.so\.4\]'
[ "$(readelf -d "$library" | grep -c NEEDED)" = 1 ] # libc
nm -D --defined-only "$library" | awk '{ print $3 }' | sort >"$work/exported"
grep -oE 'UMW_CALL(_VOID)?\((int, )?Ptl[A-Za-z]+' "$root/preload/abi/tables/portals.def" |
  grep -oE 'Ptl[A-Za-z]+' | sort >"$work/listed"
diff "$work/listed" "$work/exported"
${CC:-cc} -I"$root" -o "$work/program" "$root/tests/preload/portals_library.c" -L"$(dirname "$library")" -lportals
calls=$(LD_LIBRARY_PATH=$(dirname "$library") "$work/program" 2>"$work/errors")
[ "$calls" = "$(wc -l <"$work/listed")" ]
[ "$(grep -c 'called outside a simulation' "$work/errors")" = 1 ]
grep -q 'Next step: start the program with `umwelt run' "$work/errors"
echo "$calls functions"
