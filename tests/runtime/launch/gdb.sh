#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# gdb.sh UMWELT PROGRAM: the recipe of loader/README.md, with an executable without symbols. Ends with 77 where there
# is no gdb, or it may not trace.
set -u
umwelt=$1 program=$2
command -v gdb >/dev/null && gdb -q -batch -ex run --args true 2>&1 | grep -q "exited normally" || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
strip -o "$work/bin/umwelt" "$umwelt"
ln -s "$(dirname "$(dirname "$umwelt")")/lib" "$work/lib"
gdb -q -batch -ex 'set debuginfod enabled off' -ex 'handle SIG62 SIG63 SIGSYS nostop noprint pass' \
  -ex 'set breakpoint pending on' -ex 'break umw_rank_loaded' -ex run -ex 'print $edi' -ex 'x/s $rsi' \
  -ex "add-symbol-file $program -o \$rdx" -ex 'break main' -ex continue -ex 'print $edi' -ex delete \
  -ex 'break crash' -ex continue -ex backtrace -ex kill \
  --args "$work/bin/umwelt" run --cpu none --workers 0 -np 2 "$program" crash 0 >"$work/out" 2>&1
for expected in "= 0" "\"$program\"" "= 1" "^#1 .*main ("; do
  grep -q -- "$expected" "$work/out" && continue
  echo "expected: $expected"
  cat "$work/out"
  exit 1
done
