#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# gdb.sh UMWELT SCRIPT ROUNDS: symbols and breakpoints of ranks in gdb. Ends with 77 where there is no gdb, or it may
# not trace.
set -u
umwelt=$1 script=$2 rounds=$3
command -v gdb >/dev/null && gdb -q -batch -ex run --args true 2>&1 | grep -q "exited normally" || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
timeout 150 gdb -q -batch -ex 'set debuginfod enabled off' -x "$script" -ex 'rank-break 2 add_up' -ex rank -ex run \
  -ex backtrace -ex rank -ex 'rank-break x' -ex 'rank-break 1 nothing' -ex 'rank-break 1 add_up' -ex continue \
  -ex kill --args "$umwelt" run -q --cpu none --workers 0 -np 4 "$rounds" 20 >"$work/out" 2>&1 </dev/null
for expected in "rank 2 is not loaded yet: it will stop in add_up" "no rank is loaded yet" \
  "hit Breakpoint 1, add_up (sum=2, got=1)" "^#1 .*in main (" "^rank 3: $rounds at 0x" \
  "rank-break: expected N FUNCTION, got 'x'" "rank-break 1 nothing: expected a function of $rounds" \
  "hit Breakpoint 2, add_up (sum=1,"; do
  grep -q -- "$expected" "$work/out" && continue
  echo "expected: $expected"
  cat "$work/out"
  exit 1
done
