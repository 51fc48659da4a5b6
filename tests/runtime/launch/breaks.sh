#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# breaks.sh CASE UMWELT ROUNDS BARRIERS: --break in whole runs. ROUNDS is a program in C, BARRIERS one in Fortran.
set -u
case=$1 umwelt=$2 rounds=$3 barriers=$4
. "$(dirname "$(readlink -f "$0")")/../cases.sh"
start() { # OPTIONS... PROGRAM...: in the background, until it stands still
  "$umwelt" run -q -np 4 --cpu none --report r.json "$@" >stdout 2>stderr </dev/null &
  run=$!
  stands_still 1
}
stands_still() { # N: for the N-th time
  for ((i = 0; i < 300; ++i)); do
    [ "$(grep -c 'The run stands still' stderr)" -ge "$1" ] && return
    kill -0 $run 2>/dev/null || fail "it has ended"
    sleep 0.1
  done
  fail "expected it to stand still"
}
says() { grep -q -- "$1" stderr || fail "expected: $1"; }
goes_on() { "$umwelt" ctl $run continue >answer 2>&1 || fail "umwelt ctl: $(cat answer)"; }
finish() { # CODE
  wait $run
  local code=$?
  [ $code = "$1" ] || fail "exit code $code, expected $1"
}
case $case in
mpi) # time stands still, and nothing else changes
  "$umwelt" run -q -np 4 --cpu none --mpi-calls --report alone.json "$rounds" 200 >expected </dev/null || fail alone
  for workers in 0 2; do
    start --workers $workers --mpi-calls --break rank=2:MPI_Wait:10 --break rank=0:MPI_Allreduce:3 "$rounds" 200
    says '--break rank=2:MPI_Wait:10: rank 2 (bxi2) is about to call MPI_Wait for the 10th time, at simulated time'
    [ $workers = 2 ] || says 'main+' # who calls it
    says "umwelt ctl $run continue"
    first=$("$umwelt" ctl $run) || fail "umwelt ctl"
    sleep 1
    [ "$first" = "$("$umwelt" ctl $run)" ] || fail "time goes on"
    [[ $first == *'stands still at --break rank=2:MPI_Wait:10'* ]] || fail "status: $first"
    "$umwelt" ctl $run model=zero >answer 2>&1 && fail "a change without --ctl"
    grep -q 'expected a run that was started with umwelt run --ctl' answer || fail "$(cat answer)"
    goes_on
    stands_still 2
    says 'rank 0 (bxi0) is about to call MPI_Allreduce for the 3rd time'
    goes_on
    finish 0
    cmp stdout expected || fail "what it prints"
    # The calls that are told are crossings, no more.
    python3 - <<'END' || fail "expected the figures of a run without"
import json
def figures(name):
    report = json.load(open(name))
    return report["simulated_ps"], [{key: rank[key] for key in ("finished_ps", "waiting_ps", "communication_ps",
        "messages_sent", "bytes_received")} for rank in report["ranks"]]
one, other = figures("r.json"), figures("alone.json")
if one != other:
    raise SystemExit(f"{one}\n{other}")
END
  done
  ;;
function)
  start --break rank=1:add_up:7 "$rounds" 200
  says 'rank 1 (bxi1) is about to call add_up for the 7th time'
  goes_on
  finish 0
  ;;
fortran)
  start --break rank=3:MPI_Barrier:2 "$barriers"
  says 'rank 3 (bxi3) is about to call MPI_Barrier for the 2nd time'
  goes_on
  finish 0
  ;;
gdb) # stops there by itself, in the rank
  command -v gdb >/dev/null && gdb -q -batch -ex run --args true 2>&1 | grep -q "exited normally" || exit 77
  timeout 120 gdb -q -batch -ex 'set debuginfod enabled off' -ex 'handle SIG62 SIG63 SIGSYS nostop noprint pass' \
    -ex run -ex backtrace -ex continue --args "$umwelt" run -q -np 4 --cpu none --workers 0 \
    --break rank=2:MPI_Wait:10 "$rounds" 200 >stdout 2>stderr </dev/null
  says '--break rank=2:MPI_Wait:10: rank 2 (bxi2) is about to call MPI_Wait for the 10th time'
  grep -q 'received signal SIGTRAP' stdout || fail "no trap"
  grep -q 'umw_rank_stopped' stdout && grep -q 'in MPI_Wait ()' stdout || fail "the stack"
  grep -q 'exited normally' stdout || fail "it goes on"
  ;;
ended) # Ctrl-C
  start --break rank=0:MPI_Send "$rounds" 200
  kill -INT $run
  finish 130
  ;;
not_reached)
  expect 0 "$umwelt" run -np 2 --cpu none --break rank=1:MPI_Send:1000 --break rank=0:add_upp "$rounds" 10
  says '--break rank=1:MPI_Send:1000: never reached, rank 1 has called MPI_Send 10 times'
  says '--break rank=0:add_upp: never reached, rank 0 has called add_upp 0 times'
  says add_up
  ;;
misuse)
  expect 121 "$umwelt" run -np 2 --break rank=2:MPI_Send "$rounds" 10
  says 'expected a rank below 2, the number of ranks, got 2'
  expect 121 "$umwelt" run -np 2 --break rank=0:MPI_Recvv "$rounds" 10
  says "got 'MPI_Recvv'" && says "The nearest known one is 'MPI_Recv'"
  expect 121 "$umwelt" run -np 2 --break rank=0:MPI_Recv:0 "$rounds" 10
  says 'the number of a call, from 1 on'
  for bad in MPI_Recv rank=0 rank=x:MPI_Recv rank=0: rank=0:7 rank=0:MPI_Recv:x rank=-1:MPI_Recv; do
    expect 121 "$umwelt" run -np 2 --break $bad "$rounds" 10
  done
  expect 121 "$umwelt" run -np 2 --repeat 2 --break rank=0:MPI_Recv "$rounds" 10
  "$umwelt" run -q -np 2 --cpu none --ctl "$rounds" 100000000 >stdout 2>stderr </dev/null &
  run=$!
  for ((i = 0; i < 100; ++i)); do "$umwelt" ctl $run >answer 2>&1 && break || sleep 0.1; done
  "$umwelt" ctl $run continue >answer 2>&1 && fail "it goes on"
  grep -q 'expected a run that stands still at a --break, but it goes on' answer || fail "$(cat answer)"
  kill -INT $run
  finish 130
  ;;
*) fail "unknown case $case" ;;
esac
