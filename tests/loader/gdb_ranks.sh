#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# gdb_ranks.sh UMWELT WAITS: stacks of ranks that do not run, in gdb; the run ends as it does without. Ends with 77
# where there is no gdb, or it may not trace.
set -u
umwelt=$1 waits=$2
command -v gdb >/dev/null && gdb -q -batch -ex run --args true 2>&1 | grep -q "exited normally" || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
expect() { # TEXT... in this order
  local line=1 found
  for text; do
    found=$(tail -n +$line "$work/out" | grep -n -m 1 -- "$text" | cut -d: -f1)
    if [ -z "$found" ]; then
      echo "expected: $text"
      cat "$work/out"
      exit 1
    fi
    ((line += found))
  done
}
debug() {
  timeout 190 "$umwelt" debug --batch -ex 'set debuginfod enabled off' "$@" >"$work/out" 2>&1 </dev/null
}
line() { grep -n -- "$1" "${0%/*}/waits.c" | cut -d: -f1; }

debug -ex "break waits.c:$(line 'sum += i')" -ex run -ex delete -ex rank -ex 'rank 1' -ex bt \
  -ex 'print secret' -ex rank \
  -ex 'rank all print secret + rank' -ex 'backtrace-all 1' -ex 'rank 7' -ex 'rank x' -ex 'rank 0' -ex 'print sum' \
  -ex 'rank 1' -ex next -ex 'print sum' -ex 'rank 1' -ex finish -ex 'rank 1' -ex rank-finish -ex 'print got' \
  -ex 'rank 0' -ex c --cpu none -np 3 "$waits"
expect 'squares (up_to=10)' '^\* rank 0 (bxi0): running, in squares (waits.c:' \
  '^  rank 1 (bxi1): waiting, in .*MPI_Recv, called by main (waits.c:' \
  '^rank 1 (bxi1): waiting' 'in main (.*waits.c:' '^#0 ' 'in .*MPI_Recv' 'in main (' '= 4712' \
  '^  rank 0 (bxi0): running' '^\* rank 1 (bxi1): waiting' \
  '^rank 0 (bxi0): No symbol .secret' '^rank 1 ' '= 4713' '^rank 0 ' '^#0 ' '^rank 1 ' '^#0' \
  'rank 7: expected one that has begun and not ended, which are: 0, 1, 2' \
  "rank: expected the number of a rank, or .all., got 'x'" '^rank 0 (bxi0): running' '= 0' \
  '^rank 1 ' '= 1' '^rank 1 ' 'Value returned is.* 385' '^rank 1 ' 'main (' '= 385' \
  '^rank 0 .*: waiting' 'exited with code 03'
expect '^385 4712'
if grep 'it is disturbed' "$work/out"; then exit 1; fi

# --break shows the caller.
debug -ex run -ex 'print got' -ex 'rank-finish' -ex 'rank 1' -ex 'print got' -ex continue \
  --cpu none -np 2 --break rank=0:MPI_Send "$waits"
expect 'received signal SIGTRAP' 'in main (.*waits.c:' '= 385' 'main (' '^rank 1 ' 'main (' 'exited with code 03'
expect '^385 4712'
