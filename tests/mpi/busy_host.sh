#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# busy_host.sh UMWELT PROGRAM: runs PROGRAM (world_bursts.c) beside others that want the processor all the time.
set -u
umwelt=$1
program=$2
hogs=()
trap 'kill "${hogs[@]}" 2>/dev/null; wait "${hogs[@]}" 2>/dev/null' EXIT
for _ in $(seq $((2 * $(nproc)))); do
  (while :; do :; done) &
  hogs+=($!)
done
run() {
  # shellcheck disable=SC2086
  "$umwelt" run -q -np 2 $1 "$program" "$2" || { echo "failed: $1"; exit 1; }
}
run "--workers 0" 20
kill "${hogs[@]:1}" # all but one: workers wait for each other
wait "${hogs[@]:1}" 2>/dev/null
run "--workers 2" 3
