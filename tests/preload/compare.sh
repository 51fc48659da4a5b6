#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# compare.sh UMWELT PROGRAM...: runs the program as it is and under Umwelt, in the runtime's process and in one of its
# own that loads ranks with dlmopen; output and exit code must be the same, and there must be some. With --cpu none
# UMWELT_TEST_EXACT is set: nothing takes time but calls. UMWELT_TEST_WITHOUT: a mode that takes minutes.
# UMWELT_TEST_LOADER: "linker" for programs that dlmopen has no room for.
set -u
umwelt=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$@" >"$work/native" 2>/dev/null </dev/null
native=$?
[ $native -lt 126 ] || [ $native -gt 128 ] || exit 1 # it did not start
if ! [ -s "$work/native" ]; then
  echo "$*: expected something on standard output natively, to compare, got nothing and exit code $native"
  exit 1
fi
for mode in "--cpu measured" "--cpu none" "--workers 1 --loader ${UMWELT_TEST_LOADER:-dlmopen}"; do
  [ "$mode" != "${UMWELT_TEST_WITHOUT:-}" ] || continue
  read -ra options <<<"$mode"
  exact=()
  [ "$mode" != "--cpu none" ] || exact=(env UMWELT_TEST_EXACT=1)
  "${exact[@]}" "$umwelt" run -q "${options[@]}" -np 1 "$@" >"$work/simulated" 2>"$work/error" </dev/null
  simulated=$?
  if [ $native != $simulated ] || ! diff "$work/native" "$work/simulated"; then
    echo "$mode: exit code $simulated, natively $native"
    cat "$work/error"
    exit 1
  fi
done
