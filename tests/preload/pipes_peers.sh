#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# pipes_peers.sh UMWELT PROGRAM: ranks that talk through FIFOs and sockets of their node, each at its time, in one
# process and in worker processes, twice; then ranks that do what the program does alone, children and all, at the same
# time.
set -u
umwelt=$1 program=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/expected" <<END
0 failures
0 failures
0 failures
accept after 4.000 s
all after 4.500 s
closed after 7.500 s
end after 3.000 s
passed after 6.500 s
read after 2.000 s
written after 4.500 s
END
for options in "--workers 0" "--workers 0" "--ranks-per-worker 1" "--ranks-per-worker 1" "--ranks-per-worker 2" \
  "--ranks-per-worker 1 -j 2"; do
  read -ra how <<<"$options"
  timeout -k 2 60 "$umwelt" run -q --cpu none "${how[@]}" -np 3 -host a:2,b:1 --platform crossbar \
    "$program" peers "$work" >"$work/output" 2>&1 </dev/null ||
    { echo "$options: exit code $?"; cat "$work/output"; exit 1; }
  LC_ALL=C sort "$work/output" | diff "$work/expected" - || { echo "$options: not as expected"; exit 1; }
done
"$program" >"$work/native" 2>&1 </dev/null
for options in "--workers 0" "--ranks-per-worker 2"; do
  read -ra how <<<"$options"
  timeout -k 2 60 "$umwelt" run -q --cpu none "${how[@]}" -np 4 -N 2 "$program" >"$work/output" 2>&1 </dev/null
  diff <(cat "$work/native" "$work/native" "$work/native" "$work/native" | LC_ALL=C sort) \
    <(LC_ALL=C sort "$work/output") ||
    { echo "$options: four at a time are not as one"; exit 1; }
done
