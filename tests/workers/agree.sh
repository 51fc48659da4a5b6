#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
#   agree.sh UMWELT NP [OPTION...] -- PROGRAM [ARGUMENT...]
#
# How ranks are spread over processes, and how many of these run at once, must not show in a run with --cpu none: each
# way to spread them writes the same bytes to stdout and stderr, also between ranks, and the same report.
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
ways=("--workers 0" "" "--workers 1" "--workers 4" "--workers 16" "--workers 16 -j 1"
  "--ranks-per-worker 3" "--ranks-per-worker 1 -j 2")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for number in "${!ways[@]}"; do
  read -ra way <<<"${ways[number]}"
  code=0
  timeout --kill-after=5 "${UMWELT_TEST_TIMEOUT:-120}" "$umwelt" run --cpu none -q --report "$work/$number.report" \
    -np "$np" "${way[@]}" "${options[@]}" "$@" </dev/null >"$work/$number.stdout" 2>"$work/$number.stderr" || code=$?
  echo "$code" >"$work/$number.exit"
  if [[ $code != 0 ]] || ! [[ -s $work/$number.report ]]; then
    echo "umwelt run -np $np ${ways[number]} $*: expected exit code 0 and a report, got exit code $code and"
    tail -n 40 "$work/$number.stdout" "$work/$number.stderr"
    exit 1
  fi
  for part in stdout stderr report; do
    if ! diff -u --label "${ways[0]:-no option} $part" --label "${ways[number]:-no option} $part" \
      "$work/0.$part" "$work/$number.$part" >"$work/diff"; then
      echo "umwelt run -np $np $*: expected the same $part with '${ways[0]}' and '${ways[number]}', got"
      head -n 60 "$work/diff"
      exit 1
    fi
  done
done
