#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# run.sh CASE UMWELT PROGRAM PLUGIN: --kernels, with program.c.
set -u
case=$1 umwelt=$2 program=$3 plugin=$4
kernels=$(dirname "$(readlink -f "$0")")/program.yaml
. "$(dirname "$(readlink -f "$0")")/../cases.sh"
run() { # CODE OPTIONS...
  SHOW_TIMES=1 expect "$1" "$umwelt" run "${@:2}" "$program" "$plugin" </dev/null
}
refused() { # PATTERN TEXT OF THE FILE
  printf 'kernels:\n%s\n' "$2" >bad.yaml
  run 121 --cpu none -np 2 --kernels bad.yaml
  tr '\n' ' ' <stderr | grep -qE -- "$1" || fail "expected: $1"
}
case $case in
as_is) # nothing but what `run` follows: what the program says natively
  "$program" "$plugin" >native || fail "natively"
  sed -E 's/action: (skip|model).*}/action: run}/; s/action: skip/action: run/; /^  (duration|returns)/d' \
    "$kernels" >run.yaml
  "$umwelt" run -q --cpu none -np 1 --kernels run.yaml "$program" "$plugin" >stdout 2>stderr </dev/null ||
    fail "exit code"
  cmp native stdout || fail "expected what it says natively"
  ;;
skipped) # what is returned and what it takes, of each way a function is found
  cat >expected <<'END'
static               15.0       50 us
library               1.0     1000 us
dlsym                 1.5     1000 us
outer                 6.0       30 us
inner               100.0        7 us
many               1028.9       13 us
fortran              -1.0       21 us
after a jump          6.0       30 us
thread               10.0       30 us
plugin                8.0       80 us
child 0
END
  run 0 --cpu none -np 1 --kernels "$kernels"
  cmp expected stdout || fail "expected other returns and times"
  grep -qE '^ *outer_kernel +model +3 +0 +0 ' stderr || fail "expected three calls of outer_kernel, once each"
  grep -qE '^ *inner_kernel +skip +1 +1 +0 ' stderr || fail "expected one call of inner_kernel that is no other's"
  grep -q 'results of this run are not those of the program: calls of static_kernel, ' stderr ||
    fail "expected a warning"
  grep -q 'never called: nobody_calls_this$' stderr || fail "expected to be told what was not called"
  grep -q 'neither the program nor its libraries have: libary_kernel (nearest: library_kernel)$' stderr ||
    fail "expected to be told of a function that nobody has"
  ;;
measured) # the same where bursts are measured: what kernels take is the model's alone
  run 0 --cpu measured -np 2 --kernels "$kernels"
  [ "$(grep -cE '^(library|dlsym) +[0-9.]+ +10[0-9][0-9] us$' stdout)" = 4 ] || fail "expected a millisecond each"
  ;;
processes) # one process, two, and again: the same bytes
  for how in "--workers 0" "--workers 0" "--workers 3"; do
    run 0 -q --cpu none -np 3 --kernels "$kernels" --seed 7 --report r.json $how
    sort stdout >sorted
    [ -e first.json ] || { cp r.json first.json && cp sorted first; }
    cmp first.json r.json || fail "$how: expected the same report"
    cmp first sorted || fail "$how: expected the same output"
  done
  python3 - <<'END' || fail "report"
import json
report = json.load(open("r.json"))
kernels = {one["name"]: one for one in report["kernels"]}
assert kernels["outer_kernel"]["calls"] == 9 and kernels["outer_kernel"]["skipped"] == 0
assert kernels["library_kernel"]["skipped"] == 6 and kernels["library_kernel"]["time_ps"] == 6 * 10**9
assert kernels["library_kernel"]["most_of_rank_ps"] == 2 * 10**9
assert kernels["nobody_calls_this"]["calls"] == 0
assert report["results_are_those_of_the_program"] is False
END
  ;;
sampled) # the first calls are measured, the others drawn
  cat >sample.yaml <<'END'
kernels:
- {name: inner_kernel, function: int inner_kernel(int n), action: sample, class: n > 0, least: 2, interval: 100%,
   then: skip, returns: 5}
END
  run 0 --cpu measured -np 1 --kernels sample.yaml
  # 11 calls, 3 of them with 0
  awk '$1 == "inner_kernel" && $3 == 11 && $4 + $5 == 11 && $5 >= 4 { found = 1 } END { exit !found }' stderr ||
    fail "expected two or more measured calls of either class, and others not run"
  run 121 --cpu none -np 1 --kernels sample.yaml
  grep -q 'sample.yaml:2:3, kernel inner_kernel: expected --cpu measured' stderr || fail "expected why not"
  ;;
refused)
  run 121 -np 1 --kernels nowhere.yaml
  grep -q 'nowhere.yaml' stderr || fail "expected the file's name"
  refused 'bad.yaml:2:[0-9]+.*never calls nor reads|durations?' '- {name: static_kernel, action: skip}'
  refused 'several, at 0x[0-9a-f]+ and 0x.*at: [a-z_]+\+0x' '- {name: twice, action: skip, duration: 1us}'
  refused 'short_kernel of .*: its entry ends after' '- {name: short_kernel, action: skip, duration: 1us}'
  refused 'static_kernel.*negative|at least 0|not negative' \
    '- {name: static_kernel, function: int static_kernel(int n), action: skip, duration: 1us - n * 1us, returns: 0}'
  refused 'expected values for each of the 2 nodes, got none for node 1' \
    '- {name: static_kernel, function: int static_kernel(int n), action: skip, duration: b, returns: 0,
   parameters: {by_node: [{nodes: 0, b: 1us}]}}'
  ! grep -q simulated stderr || fail "expected that it did not start"
  ;;
*)
  fail "no such case: $case"
  ;;
esac
