#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
#   determinism.sh UMWELT NP [OPTION...] -- PROGRAM [ARGUMENT...]
#
# With --cpu none, nothing of the real machine may show in a run, nor how ranks are loaded (loader/README.md): two runs,
# one with a dynamic linker for each rank and one with dlmopen namespaces, must write the same bytes to stdout, also
# between ranks, and the same report.
set -euo pipefail
umwelt=$1
np=$2
shift 2
options=()
while [[ $1 != -- ]]; do
  options+=("$1")
  shift
done
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for run in linker dlmopen; do
  timeout --kill-after=5 "${UMWELT_TEST_TIMEOUT:-60}" "$umwelt" run --cpu none -q --loader "$run" \
    --report "$work/$run.json" -np "$np" "${options[@]}" "$@" </dev/null >"$work/$run.stdout"
done
if ! [[ -s $work/linker.stdout && -s $work/linker.json ]]; then
  echo "$*: expected output and a report, got an empty file"
  exit 1
fi
diff -u "$work/linker.stdout" "$work/dlmopen.stdout"
diff -u "$work/linker.json" "$work/dlmopen.json"
