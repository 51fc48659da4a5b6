#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
#   kill.sh UMWELT KIND ROUNDS SEED [OPTION...] -- PROGRAM
#
# Starts the job `umwelt run OPTIONS PROGRAM FILE`, which runs until the file exists, and sends SIGKILL to one of its
# processes at a random moment; again, ROUNDS times. By KIND of the process:
#   runtime  the one that was started: it ends with 137
#   worker   any that carries ranks: the job ends with 137 and one message with worker process, ranks, hosts and signal
#   janitor  the one that tidies up: nothing happens, the job ends well once the file is there
# Within forty seconds no process, no private directory and no shared memory of the job is left.
set -u
umwelt=$1 kind=$2 rounds=$3 seed=$4
shift 4
options=()
while [[ $1 != -- ]]; do
  options+=("$1")
  shift
done
program=$2
RANDOM=$seed
timeout=400 # tenths of a second: whether it ends is asked, not how fast this machine is

work=$(mktemp -d)
job=0
status=0

# Those of the job still alive; each has the directory in its environment.
processes() {
  local pid
  grep -lzs -e "UMWELT_TEST_MARK=$work" /proc/[0-9]*/environ | cut -d/ -f3 | while read -r pid; do
    [[ ! -e /proc/$pid/exe ]] || echo "$pid"
  done
}
name_of() { cat "/proc/$1/comm" 2>/dev/null; }
tidy_up() {
  local pid
  for pid in $(processes); do
    kill -KILL "$pid" 2>/dev/null
  done
  rm -rf "$work"
}
trap tidy_up EXIT

candidates() {
  local pid
  case $kind in
  runtime) echo "$job" ;;
  janitor) for pid in $(processes); do [[ $(name_of "$pid") != umwelt-janitor ]] || echo "$pid"; done ;;
  worker)
    for pid in $(processes); do # not what the start of the job runs for a moment
      [[ $(name_of "$pid") != umwelt-worker* ]] || echo "$pid"
    done
    ;;
  *)
    echo "kill.sh: expected runtime, worker or janitor, got '$kind'" >&2
    exit 2
    ;;
  esac
}
# Files of shared memory that any process of the job has mapped or open.
shared_memory() {
  local pid
  for pid in $(processes); do
    grep -ho '/dev/shm/[^ ]*' "/proc/$pid/maps" 2>/dev/null
    find "/proc/$pid/fd" -lname '/dev/shm/*' -printf '%l\n' 2>/dev/null
  done | sort -u
}
still_there() {
  local file
  for file; do
    [[ ! -e $file ]] || echo "$file"
  done
}

one_round() {
  local victims=() shared=() victim delay code left begin
  rm -rf "${work:?}"/*
  mkdir "$work/tmp"
  env TMPDIR="$work/tmp" UMWELT_TEST_MARK="$work" "$umwelt" run -q "${options[@]}" "$program" "$work/over" \
    >"$work/stdout" 2>"$work/stderr" </dev/null &
  job=$!
  for ((i = 0; i < timeout; ++i)); do
    mapfile -t victims < <(candidates)
    ((${#victims[@]} == 0)) || break
    sleep 0.1
  done
  ((${#victims[@]} > 0)) || { complain "expected a process to kill, got none in forty seconds"; return; }
  delay=$((RANDOM % 3000))
  sleep "$(printf '%d.%03d' $((delay / 1000)) $((delay % 1000)))"
  mapfile -t victims < <(candidates) # there may be more by now
  victim=${victims[RANDOM % ${#victims[@]}]}
  what="round $round, $(name_of "$victim") (pid $victim) killed after $delay ms"
  mapfile -t shared < <(shared_memory)
  kill -KILL "$victim" || complain "expected it to be alive still"
  [[ $kind != janitor ]] || touch "$work/over"

  begin=$SECONDS
  for ((i = 0; i < timeout; ++i)); do
    kill -0 "$job" 2>/dev/null || break
    sleep 0.1
  done
  if kill -0 "$job" 2>/dev/null; then
    complain "expected the job to end within forty seconds"
    return
  fi
  wait "$job" 2>/dev/null
  code=$?
  while left=$(processes; ls -A "$work/tmp"; still_there "${shared[@]}"); [[ -n $left ]] && ((SECONDS - begin < 40)); do
    sleep 0.1
  done
  [[ -z $left ]] || complain "expected nothing to be left after forty seconds, got $left"

  case $kind in
  runtime) ((code == 137)) || complain "expected exit code 137, got $code" ;;
  janitor)
    ((code == 0)) || complain "expected exit code 0, got $code"
    [[ $(<"$work/stdout") == "over, as told" ]] ||
      complain "expected 'over, as told' from rank 0, got '$(<"$work/stdout")'"
    ;;
  worker)
    ((code == 137)) || complain "expected exit code 137, got $code"
    for word in 'worker process [0-9]+' 'ranks? [0-9]+' 'bxi[0-9]+' 'signal 9'; do
      grep -qE "$word" "$work/stderr" || complain "expected a message that matches '$word'"
    done
    (($(grep -c 'signal 9' "$work/stderr") == 1)) || complain "expected one message of signal 9"
    ;;
  esac
}

complain() {
  echo "FAILED: $what: $*"
  tail -n 30 "$work/stderr"
  status=1
}

for ((round = 1; round <= rounds; ++round)); do
  what="round $round"
  one_round
  ((status == 0)) || exit "$status"
  echo "ok: $what"
done
