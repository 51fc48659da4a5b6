#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# repeat.sh CASE UMWELT DIRECTORY: --repeat, with the programs of that directory.
set -u
case=$1 umwelt=$2 programs=$3
. "$(dirname "$(readlink -f "$0")")/../cases.sh"
run() { expect "$1" "$umwelt" run "${@:2}"; } # CODE OPTIONS...
value() { # EXPRESSION of the report r
  python3 -c "import json; r = json.load(open('r.json')); print($1)"
}
case $case in
report)
  echo old >r.json
  run 0 --cpu none -np 2 --repeat 3 --seed 5 --report r.json "$programs/report" </dev/null
  [ "$(grep -c '^rank 1 of 2' stdout)" = 3 ] || fail "expected three runs"
  [ "$(grep -c 'umwelt: run [123] of 3: completed, simulated' stderr)" = 3 ] || fail "expected a line for each run"
  grep -q 'umwelt: 3 runs' stderr || fail "expected what they say together"
  [ "$(value "[run['seed'] for run in r['runs']]")" = "[5, 6, 7]" ] || fail "seeds"
  [ "$(value "r['simulated_ps']['median'] == r['runs'][0]['simulated_ps']")" = True ] || fail "median"
  cp r.json first.json
  run 0 --cpu none -np 2 --repeat 3 --seed 5 --report r.json "$programs/report" </dev/null
  cmp first.json r.json || fail "expected the same bytes"
  [ "$(ls -A | tr '\n' ' ')" = "first.json r.json stderr stdout " ] || fail "something is left"
  ;;
quiet)
  run 0 -q -np 1 --repeat 2 "$programs/report" </dev/null
  ! grep -q umwelt stderr || fail "expected nothing"
  run 0 -v -np 1 --repeat 2 "$programs/report" </dev/null
  [ "$(grep -c '  simulated .* slowdown ' stderr)" = 2 ] || fail "expected two summaries"
  ;;
fails) # the first that fails is the last, and has its exit code
  run 3 -np 2 --repeat 4 "$programs/misbehave" exit </dev/null
  [ "$(grep -c 'umwelt: run [0-9] of 4' stderr)" = 1 ] || fail "expected one run"
  run 127 -np 2 --repeat 4 "$programs/absent" </dev/null
  [ "$(grep -c 'No such file' stderr)" = 1 ] || fail "expected the message once"
  ;;
input)
  seq 3 >numbers
  run 0 -np 1 --repeat 2 cat <numbers
  [ "$(tr '\n' ' ' <stdout)" = "1 2 3 1 2 3 " ] || fail "expected the file twice"
  ;;
wrapper)
  run 0 -np 2 --repeat 2 "$programs/exec.sh" </dev/null
  [ "$(grep -c 'umwelt: run [12] of 2: completed' stderr)" = 2 ] || fail "expected two runs"
  run 0 -np 2 --workers 2 --repeat 2 "$programs/report" </dev/null
  [ "$(grep -c 'umwelt: run [12] of 2: completed' stderr)" = 2 ] || fail "expected two runs in worker processes"
  ;;
esac
