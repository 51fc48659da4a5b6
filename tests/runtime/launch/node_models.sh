#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# node_models.sh CASE UMWELT PTLBENCH: --nodes, --model-at, --ctl in whole runs, on simulated time.
set -u
case=$1 umwelt=$2 ptlbench=$3
. "$(dirname "$(readlink -f "$0")")/../cases.sh"
run() { expect "$1" "$umwelt" run -np 2 --report r.json "${@:2}" </dev/null; } # CODE OPTIONS...
value() { python3 -c "import json; r = json.load(open('r.json')); print($1)"; } # EXPRESSION of the report r
round_trip() { # OPTIONS...: ns, half of it
  run 0 --cpu none "$@" "$ptlbench" reply --sizes 8 --duration 1ms
  tail -n 1 stdout | awk -F, '{print int($NF * 1000 + 0.5)}'
}
near() { # GOT EXPECTED PERCENT WHAT
  python3 -c "import sys; sys.exit(abs($1 - $2) > $2 * $3 / 100)" || fail "$4: $1 instead of $2"
}
case $case in
nodes)
  slow=delay:latency=3us
  near "$(round_trip --nodes 0=delay:latency=1us --nodes "rest=$slow")" 2001 3 "1 us there and 3 us back"
  grep -q '  models: delay:latency=1us on 1 node, delay:latency=3us on 1 node' stderr || fail "the summary"
  [ "$(value "r['models']['handed_over'] == r['totals']['messages']")" = True ] || fail "all messages change models"
  cp r.json first.json
  round_trip --nodes 0=delay:latency=1us --nodes "rest=$slow" >/dev/null
  cmp first.json r.json || fail "expected the same bytes twice"
  expect 0 "$umwelt" run --cpu none -np 2 --workers 2 --report r.json --nodes 0=delay:latency=1us --nodes "rest=$slow" \
    "$ptlbench" reply --sizes 8 --duration 1ms </dev/null
  cmp first.json r.json || fail "expected the same bytes in two processes"
  near "$(round_trip --model delay --nic latency=1us --nodes 0-1=delay)" 1001 3 "the run's own model"
  [ "$(value "'models' in r")" = False ] || fail "nothing is to be said of that"
  ;;
at) # half of the millisecond that is measured is at 3 us a message
  near "$(round_trip --model delay --nic latency=1us)" 1001 3 "to begin with"
  switch=4500us:delay:latency=3us # it measures from 4 to 5 ms
  near "$(round_trip --model delay --nic latency=1us --model-at "$switch")" 1500 10 "half of the time"
  grep -q '; delay:latency=3us on 2 at ' stderr || fail "the summary"
  [ "$(value "[c['nodes'] for c in r['models']['changes']]")" = "[2]" ] || fail "the report"
  cp r.json first.json
  round_trip --model delay --nic latency=1us --model-at "$switch" >/dev/null
  cmp first.json r.json || fail "expected the same bytes twice"
  near "$(round_trip --model delay --nic latency=1us --model-at 1us:zero --model-at 2ms:delay)" 1001 3 "and back"
  round_trip --model-at 1s:zero >/dev/null
  grep -q -- '--model-at 1s:zero: never came to that' stderr || fail "expected to hear that it did not come to it"
  [ "$(value "r['models']['not_reached']")" = "['--model-at 1s:zero']" ] || fail "nor does the report say so"
  ;;
cpu) # half of the millisecond that is measured computing takes something, in the NIC's program twice a round
  none=$(round_trip --model delay --nic latency=1us)
  expect_fixed() { # OPTIONS...
    expect 0 "$umwelt" run -np 2 --report r.json --model delay --nic latency=1us "$@" "$ptlbench" reply --sizes 8 \
      --duration 1ms </dev/null
    tail -n 1 stdout | awk -F, '{print int($NF * 1000 + 0.5)}'
  }
  all=$(expect_fixed --cpu fixed=1us)
  [ "$all" -gt $((none + 900)) ] || fail "fixed: $all, none: $none"
  half=$(expect_fixed --cpu none --cpu-at 4500us:fixed=1us)
  [ "$half" -gt $((none + 200)) ] && [ "$half" -lt $((all - 200)) ] || fail "half: $half of $none to $all"
  grep -q '  computing: none; fixed=1000 on 2 at ' stderr || fail "the summary: $(cat stderr)"
  [ "$(value "[c['nodes'] for c in r['cpus']['changes']]")" = "[2]" ] || fail "the report"
  cp r.json first.json
  expect_fixed --cpu none --cpu-at 4500us:fixed=1us --workers 2 >/dev/null
  cmp first.json r.json || fail "expected the same bytes in two processes"
  expect_fixed --cpu none --cpu-at 1s:fixed=1us >/dev/null
  grep -q -- '--cpu-at 1s:fixed=1us: never came to that' stderr || fail "expected to hear that it did not come to it"
  ;;
wrong)
  for bad in "--nodes 0-4=zero" "--nodes 0=zeroo" "--model-at zero" "--model-at 1ms:rest=zero" \
    "--cpu-at none" "--cpu-at 1ms:nonne" "--cpu-at 1ms:4=none" \
    "--cpu-region none" "--nodes 0=loggp:M=3" "--nodes 0=flow --nodes 1=flow:e2e=off" "--ctl --repeat 2"; do
    read -ra options <<<"$bad"
    run 121 "${options[@]}" "$ptlbench" reply
    grep -Eq 'expected .*got|Did you mean' stderr || fail "$bad: $(cat stderr)"
  done
  printf '%s\n' 'kernels:' '- name: daxpy' '  action: sample' >kernels.yaml
  run 121 --kernels kernels.yaml --cpu-region 1=none "$ptlbench" reply # it would learn that calls take no time
  grep -q 'since `action: sample` measures calls' stderr || fail "sampling: $(cat stderr)"
  run 0 --cpu none --compute-factor 2 "$ptlbench" reply --sizes 8 --duration 1ms
  grep -q -- '--compute-factor 2 has no effect' stderr || fail "no effect: $(cat stderr)"
  run 0 --cpu none --compute-factor 2 --cpu-at 1ms:fixed=10 "$ptlbench" reply --sizes 8 --duration 1ms
  ! grep -q -- '--compute-factor 2 has no effect' stderr || fail "it has one: $(cat stderr)"
  expect 125 "$umwelt" ctl $$
  grep -q "process $$: expected a run that was started with umwelt run --ctl or --break, got none" stderr ||
    fail "no run"
  expect 121 "$umwelt" ctl 0 model=zero
  expect 121 "$umwelt" ctl
  ;;
ctl)
  begin() {
    "$umwelt" run -np 2 --cpu none --ctl --model delay --report r.json "$ptlbench" reply --sizes 8 --duration 100s \
      </dev/null >out 2>err &
    job=$!
    for ((i = 0; i < 300; ++i)); do
      "$umwelt" ctl "$job" >stdout 2>/dev/null && break
      sleep 0.1
    done
  }
  begin
  grep -q '^simulated time .*; delay on 2 nodes$' stdout || fail "status: $(cat stdout)"
  expect 0 "$umwelt" ctl "$job" model=1=loggp:L=5us
  grep -q '^loggp on 1 node from ' stdout || fail "answer: $(cat stdout)"
  expect 121 "$umwelt" ctl "$job" model=7=loggp
  grep -q 'expected nodes from 0 to 1' stderr || fail "unknown node: $(cat stderr)"
  expect 121 "$umwelt" ctl "$job" speed=2
  expect 0 "$umwelt" ctl "$job" cpu=0=fixed=1us
  grep -q '^cpu fixed=1000 on 1 node from ' stdout || fail "answer: $(cat stdout)"
  expect 121 "$umwelt" ctl "$job" cpu=measured
  grep -q 'in this run nothing is measured' stderr || fail "nothing is measured: $(cat stderr)"
  expect 0 "$umwelt" ctl "$job" model=zero model=delay
  expect 0 "$umwelt" ctl "$job"
  grep -q '; delay on 2 nodes$' stdout || fail "status afterwards: $(cat stdout)"
  kill -INT "$job"
  wait "$job"
  [ $? = 130 ] || fail "the run ended otherwise: $(cat err)"
  [ "$(value "[c['model'] for c in r['models']['changes']]")" = "['loggp:L=5us', 'zero', 'delay']" ] || fail "report"
  begin # and a model that has messages under way outside of the timeline, which this run had not
  expect 0 "$umwelt" ctl "$job" model=flow
  expect 0 "$umwelt" ctl "$job"
  cp stdout before
  for ((i = 0; i < 300; ++i)); do
    sleep 0.1
    expect 0 "$umwelt" ctl "$job"
    cmp -s before stdout || break
  done
  grep -q '; flow on 2 nodes$' stdout || fail "status with flow: $(cat stdout)"
  ! cmp -s before stdout || fail "time stands still: $(cat stdout)"
  kill -INT "$job"
  wait "$job"
  [ $? = 130 ] || fail "the run ended otherwise: $(cat err)"
  ;;
esac
