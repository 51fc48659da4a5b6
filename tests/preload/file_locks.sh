#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
#   file_locks.sh UMWELT PROGRAM
#
# Locks of files (file_locks.c) are equal natively and between ranks of one node and of several, of one process and of
# worker processes; a wait that nobody can end is a deadlock.
set -euo pipefail
umwelt=$1
program=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# check NAME COMMAND...: with a directory of its own for `@`
check() {
  local name=$1 code=0
  shift
  rm -rf "$work/directory"
  mkdir "$work/directory"
  timeout --kill-after=5 60 "${@/#@/$work/directory}" </dev/null >"$work/output" 2>"$work/errors" || code=$?
  { LC_ALL=C sort -s -k1.2,1n "$work/output" && echo "exit code $code"; } >"$work/$name"
  if grep -q FAILED "$work/errors" || [[ $code != 0 ]]; then
    echo "$*: expected all checks to hold within a minute, got exit code $code and:"
    cat "$work/output" "$work/errors"
    exit 1
  fi
}

for np in 2 3; do
  check native "$program" @ $np
  for way in "--cpu none -N 1" "--cpu none -N 2" "--cpu none --workers 2 -N 2" "--cpu none --workers 2 -N 1" \
    "--cpu measured" "--cpu measured --workers 2"; do
    [[ $np == 2 || $way == *none*workers*"-N 2" ]] || continue
    read -ra options <<<"$way"
    check simulated "$umwelt" run -q "${options[@]}" -np $np "$program" @ $np
    diff -u --label native --label "umwelt run $way" "$work/native" "$work/simulated"
  done
done

for way in "--workers 0" "--workers 2"; do
  read -ra options <<<"$way"
  rm -rf "$work/directory"
  mkdir "$work/directory"
  code=0
  timeout 60 "$umwelt" run -q --cpu none "${options[@]}" -np 2 "$program" "$work/directory" 2 wait 2>"$work/errors" ||
    code=$?
  if [[ $code != 122 ]] || ! grep -q "umw_file_lock\|flock" "$work/errors"; then
    echo "$way: expected a deadlock in a lock (122), got $code and:"
    cat "$work/errors"
    exit 1
  fi
done
