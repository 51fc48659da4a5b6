#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# completion.sh UMWELT: sources what `umwelt completion bash` prints, and asks it as readline does.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$1" completion bash >"$work/script" && bash -n "$work/script" || exit 1
source "$work/script"
cd "$work" || exit 1
mkdir directory
touch run.json
status=0
# offers LINE EXPECTED: what is offered for the last word of the line, sorted, between blanks.
offers() {
  COMP_LINE=$1 COMP_POINT=${#1} COMPREPLY=()
  read -ra COMP_WORDS <<<"$1"
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
  _umwelt
  local got
  got=$(printf '%s\n' "${COMPREPLY[@]}" | sort -u | paste -sd ' ')
  [[ $got == "$2" ]] && return
  echo "FAILED: '$1': expected '$2', got '$got'"
  status=1
}
offers "umwelt doc" "doctor"
offers "umwelt --v" "--version"
offers "umwelt run --ranks-per-" "--ranks-per-worker" # not its former name
offers "umwelt run --cells 2 --tag" "--tag-output"          # which is known all the same
offers "umwelt run --ranks-per-w" "--ranks-per-worker"
offers "umwelt mpirun --tag" "--tag-output"
offers "umwelt run -np 2 --mca pml cm --tag" "--tag-output" # behind one value, and behind two
offers "umwelt run -np 2 --cpu=none --tag" "--tag-output"
offers "umwelt run -np " ""                                 # a number
offers "umwelt run --report r" "run.json"
offers "umwelt run -report r" "run.json"
offers "umwelt run --report=r" "run.json"
offers "umwelt run -wdir d" "directory"
offers "umwelt run --nic @r" "@run.json"
offers "umwelt run --workers a" "auto"
offers "umwelt run --platform cross" "crossbar"
offers "umwelt run --model log" "loggp"
offers "umwelt run ./app --tag" ""                          # the program's own
offers "umwelt run -np 1 ./a : --tag" "--tag-output"
offers "umwelt help cov" "coverage"
offers "umwelt completion b" "bash"
offers "umwelt doctor --j" "--json"
exit $status
