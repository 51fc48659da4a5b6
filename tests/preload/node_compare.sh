#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
#   node_compare.sh UMWELT NP PROGRAM [ARGUMENT...]
#
# A program of several processes on one node (node_peers.h) says and returns the same natively and as NP ranks of a
# simulated node, in one process and in several, measured and with --cpu none; two runs with --cpu none write the same
# report. None of them leaves anything in this machine's /dev/shm.
set -euo pipefail
umwelt=$1
np=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# check NAME COMMAND...: its lines, process by process, and its exit code
check() {
  local name=$1 code=0
  shift
  timeout --kill-after=5 60 "$@" </dev/null >"$work/output" 2>"$work/errors" || code=$?
  { grep -E '^\[[0-9]+\] ' "$work/output" || true; } | LC_ALL=C sort -s -k1.2,1n >"$work/$name"
  echo "exit code $code" >>"$work/$name"
  if grep -q FAILED "$work/errors" "$work/output" || [[ $code == 124 || $code == 137 ]]; then
    echo "$*: expected all checks to hold within a minute, got exit code $code and:"
    cat "$work/output" "$work/errors"
    exit 1
  fi
}

check native "$@"
[[ $(wc -l <"$work/native") -gt 1 ]]
ls /dev/shm >"$work/before"
number=0
for way in "--cpu none" "--cpu none --ranks-per-worker 1" "--cpu measured" "--cpu measured --ranks-per-worker 2"; do
  read -ra options <<<"$way"
  number=$((number + 1))
  check "$number" "$umwelt" run -q "${options[@]}" --report "$work/$number.json" -np "$np" -N "$np" "$@"
  diff -u --label native --label "umwelt run $way" "$work/native" "$work/$number"
done
check again "$umwelt" run -q --cpu none --report "$work/again.json" -np "$np" -N "$np" "$@"
diff -u "$work/1.json" "$work/again.json"
diff -u --label "in one process" --label "in $np" "$work/1.json" "$work/2.json"
if ls /dev/shm | grep -vxFf "$work/before" | grep umwelt; then
  echo "expected nothing new in /dev/shm, got the above"
  exit 1
fi
