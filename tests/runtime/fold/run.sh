#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# run.sh CASE UMWELT PROGRAM...: --fold, with the programs beside it.
set -u
case=$1 umwelt=$2 program=$3
shift 3
. "$(dirname "$(readlink -f "$0")")/../cases.sh"
run() { # CODE OPTIONS...
  seconds=100 expect "$1" "$umwelt" run "${@:2}" </dev/null
}
refused() { # PATTERN OPTIONS...
  local pattern=$1
  shift
  run 121 --cpu none -np 2 "$@" "$program"
  tr '\n' ' ' <stderr | grep -qE -- "$pattern" || fail "expected: $pattern"
}
forgotten() { # the only rule's, in the summary
  awk '/memory that may be forgotten/ { getline; print $NF }' stderr
}
keep=keep=0..4096,keep=size-64..size
budget="--fold-budget 1MiB"
case $case in
ways) # every way to allocate: what is to be kept is kept, in one process and in two
  "$program" ways >native || fail "natively"
  for workers in 0 2; do
    # shellcheck disable=SC2086
    run 0 --cpu none -np 1 --workers $workers $budget --fold "at_least=1MiB,$keep" "$program" ways
    cmp native stdout || fail "expected what it says natively, with --workers $workers"
    [ "$(forgotten)" -gt 8 ] || fail "expected memory to be forgotten"
    grep -q 'results of this run are not those of the program if they depend on that memory' stderr ||
      fail "expected a warning"
  done
  ;;
places) # by function, and by the address of a call
  call=$(objdump -d "$program" | awk '/<at_call>:/ { inside = 1 } inside && /call.*malloc/ { print $1; exit }')
  for rule in function=at_call "call=0x${call%:}" "call=$(basename "$program")+0x${call%:}"; do
    # shellcheck disable=SC2086
    run 0 --cpu none -np 1 $budget --fold "$rule,at_least=2MiB,$keep" "$program" ways
    awk '/memory that may be forgotten/ { getline; exit $(NF - 3) != 1 }' stderr || fail "$rule"
  done
  # shellcheck disable=SC2086
  run 0 --cpu none -np 1 $budget --fold function=make_vector "$1"
  [ "$(cat stdout)" = "0 wrong" ] && [ "$(forgotten)" -gt 0 ] || fail "operator new"
  ;;
budget) # never more there than that; also of one that makes no calls for long
  # shellcheck disable=SC2086
  run 0 --cpu none -np 1 $budget --fold function=at_call "$program" budget $((2 << 20))
  [ "$(cat stdout)" = "within the limit" ] || fail "expected less memory"
  # shellcheck disable=SC2086
  run 0 --cpu none -np 1 $budget --fold function=at_call "$program" burst
  [ "$(forgotten)" -gt 0 ] || fail "expected memory to be forgotten during a burst"
  ;;
child) # fork(2)
  "$program" child >native || fail "natively"
  # shellcheck disable=SC2086
  run 0 --cpu none -np 1 $budget --fold "function=at_call,$keep" "$program" child
  cmp native stdout || fail "expected what it says natively"
  ;;
messages) # copy what is to be kept; the same twice and in two processes
  for workers in 0 0 2; do
    run 0 --cpu none -np 2 --workers $workers --fold-budget 2MiB --fold function=make_piece,keep=1000..5000 \
      --report report.json "$program"
    [ "$(cat stdout)" = "0 wrong" ] || fail "expected what is to be kept, with --workers $workers"
    grep -q '"rule": "function=make_piece' report.json || fail "expected the rule in the report"
    [ ! -f first.json ] || cmp first.json report.json || fail "expected the same report, with --workers $workers"
    mv report.json first.json
  done
  ;;
refused)
  refused "--fold: expected one of at_least, .* got 'at_most_' .*mean at_most\?" --fold at_most_=1MiB
  refused "keep: expected BEGIN..END" --fold at_least=1MiB,keep=4
  refused "--fold-budget: expected --fold beside it" --fold-budget 1MiB
  refused "--fold-budget: expected 64KiB or more for each of 2 ranks" --fold-budget 100KiB --fold at_least=1MiB
  refused "--fold @none: expected a file of rules" --fold @none
  printf '# comment\n\nat_least=1MiB,call=here\n' >rules
  refused "rules:3, call: expected OBJECT\+0xOFFSET" --fold @rules
  run 0 --cpu none -np 1 --fold function=at_cal "$program" child
  grep -q 'fold function=at_cal fitted no allocation.*(nearest: at_call)' stderr || fail "expected to be told"
  ;;
esac
