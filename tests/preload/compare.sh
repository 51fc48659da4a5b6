#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# compare.sh UMWELT PROGRAM...: runs the program as it is and under Umwelt; output and exit code must be the same.
set -u
umwelt=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$@" >"$work/native" 2>/dev/null </dev/null
native=$?
for mode in measured none; do
  "$umwelt" run -q --cpu $mode -np 1 "$@" >"$work/simulated" 2>"$work/error" </dev/null
  simulated=$?
  if [ $native != $simulated ] || ! diff "$work/native" "$work/simulated"; then
    echo "--cpu $mode: exit code $simulated, natively $native"
    cat "$work/error"
    exit 1
  fi
done
