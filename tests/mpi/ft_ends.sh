#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
#   ft_ends.sh UMWELT PROGRAM
#
# Exit code and output of jobs some of whose ranks do not end well, with --with-ft ulfm and without.
set -euo pipefail
umwelt=$1
program=$2
failed=0

expect() { # HOW EXIT_CODE SAID [OPTION...]: SAID: how many ranks say how it went, and what; or empty
  local how=$1 exit_code=$2 expected=$3 code=0 output said
  shift 3
  output=$(timeout --kill-after=5 60 "$umwelt" run -q --cpu none -np 4 "$@" "$program" "$how" 2>/dev/null) || code=$?
  said=$(sed -nE 's/^\[[0-9]+\] //p' <<<"$output" | sort | uniq -c | sed -E 's/^ +//')
  if [[ $code != "$exit_code" || $said != "$expected" ]]; then
    echo "umwelt run $* $program $how: expected exit code $exit_code and '$expected', got $code and:"
    echo "$output"
    failed=1
  fi
}

ft=(--with-ft ulfm)
expect all 0 '' "${ft[@]}"
expect status 3 "3 a failure" "${ft[@]}"
expect finalized 5 "3 well" "${ft[@]}"
expect fatal 75 '' "${ft[@]}" # MPI_ERRORS_ARE_FATAL: MPI_Abort with MPIX_ERR_PROC_FAILED
expect abort 7 '' "${ft[@]}"
expect all 137 ''
expect status 3 ''
expect all 137 '' --with-ft no
exit $failed
