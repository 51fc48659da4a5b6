#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# gdb.sh UMWELT ROUNDS: umwelt debug: symbols and breakpoints of ranks in gdb. Ends with 77 where there is no gdb, or
# it may not trace.
set -u
umwelt=$1 rounds=$2
command -v gdb >/dev/null && gdb -q -batch -ex run --args true 2>&1 | grep -q "exited normally" || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fails() { # CODE EXPECTED COMMAND...
  "${@:3}" >"$work/out" 2>&1 </dev/null
  local code=$?
  [ $code = "$1" ] && grep -q -- "$2" "$work/out" && return
  echo "${*:3}: exit code $code, expected $1 and: $2"
  cat "$work/out"
  exit 1
}
fails 125 'expected gdb in PATH' env PATH=/nowhere "$umwelt" debug -np 2 "$rounds"
fails 121 'expected one run, with all ranks in one process' "$umwelt" debug -np 2 --workers 2 "$rounds"
fails 121 'expected a command of gdb after it' "$umwelt" debug -ex
fails 0 'rank-break N FUNCTION' "$umwelt" debug --help
timeout 150 "$umwelt" debug --batch -ex 'set debuginfod enabled off' -ex 'rank-break 2 add_up' -ex rank -ex run \
  -ex backtrace -ex rank -ex 'rank-break x' -ex 'rank-break 1 nothing' -ex 'rank-break 1 add_up' -ex 'delete 1' \
  -ex continue -ex kill -q --cpu none -np 4 "$rounds" 20 >"$work/out" 2>&1 </dev/null
for expected in "rank 2 is not loaded yet: it will stop in add_up" "no rank is loaded yet" \
  "hit Breakpoint 1, add_up (sum=2, got=1)" "^#1 .*in main (" \
  "^\* rank 2 (bxi2): running, in add_up (rounds.c:11) of $rounds at 0x" \
  "rank-break: expected N FUNCTION, got 'x'" "rank-break 1 nothing: expected a function of $rounds" \
  "hit Breakpoint 2, add_up ("; do
  grep -q -- "$expected" "$work/out" && continue
  echo "expected: $expected"
  cat "$work/out"
  exit 1
done
