#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# run.sh CASE UMWELT DIRECTORY: --fold, with the programs in the directory.
set -u
case=$1 umwelt=$2 directory=$3
program=$directory/fold_program
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
rule='at_least=1MiB,keep=0..100,keep=floor(size/2)..floor(size/2)+5000,keep=size-64..size'
fail() {
  echo "FAILED: $*"
  tail -n 40 stdout stderr
  exit 1
}
run() { # CODE ARGUMENTS OF umwelt run...
  local expected=$1
  shift
  timeout --kill-after=5 100 "$umwelt" run "$@" >stdout 2>stderr </dev/null
  local code=$?
  [ $code = "$expected" ] || fail "$*: exit code $code, expected $expected"
}
everywhere() { # PROGRAM...: the output that it has natively, and the same report however it is run
  "$@" 2>/dev/null >native || fail "natively"
  sort -u native >expected
  for how in "--workers 0" "--workers 0" "--workers 2"; do
    # shellcheck disable=SC2086
    run 0 -q --cpu none -np 2 $how --report report.json --fold "$rule" "$@"
    sort -u stdout >got
    cmp expected got || fail "$how: expected what it says natively"
    [ -e first.json ] || cp report.json first.json
    cmp first.json report.json || fail "$how: expected the same report"
  done
}
all_lost() { # all that was checked has lost something
  grep -q ' lost ' stderr || fail "expected to be told what is lost"
  ! grep -q ' lost 0$' stderr || fail "expected that the runtime forgets something of each"
}
allocations() { # NUMBER
  grep -q "\"allocations\": $1,\$" report.json || fail "expected $1 allocations: $(grep allocations report.json)"
}
lost() { # WHAT 0|some
  grep -qE "^$1 lost $([ "$2" = 0 ] && echo 0 || echo '[1-9][0-9]*')\$" stderr || fail "expected that $1 loses $2"
}
told() { # CODE PATTERN ARGUMENTS...
  local code=$1 pattern=$2
  shift 2
  run "$code" --cpu none -np 1 "$@" "$program" functions
  tr '\n' ' ' <stderr | grep -qE -- "$pattern" || fail "$*: expected: $pattern"
}
case $case in
ways)
  everywhere "$program" ways
  all_lost
  allocations 18
  grep -q '"results_are_those_of_the_program": false' report.json || fail "expected that results may be others"
  ;;
reallocations | mappings)
  everywhere "$program" $case
  all_lost
  ;;
impossible | maps | children | threads | many | freed)
  everywhere "$program" $case
  ;;
exec)
  everywhere "$program" exec
  all_lost
  allocations 10
  ;;
cpp)
  everywhere "$directory/fold_program_cpp"
  all_lost
  ;;
plugin) # the C++ library belongs to what the program opens, only
  everywhere "$directory/fold_opener" "$directory/libfold_plugin.so"
  allocations 0
  run 0 -q --cpu none -np 1 --fold at_least=1MiB,in=libfold_plugin.so --report report.json "$directory/fold_opener" \
    "$directory/libfold_plugin.so"
  allocations 1
  ;;
kept) # all, or none
  run 0 -q --cpu none -np 1 --fold 'at_least=1MiB,keep=0..size' "$program" ways
  ! grep -E ' lost [1-9]' stderr || fail "expected that nothing is lost"
  run 1 -q --cpu none -np 1 --fold 'at_least=1MiB' "$program" ways
  grep -qE '^malloc: [1-9][0-9]* bytes wrong' stdout || fail "expected that all may be lost"
  ;;
rules) # by function, call, size; the first one counts
  run 0 -q --cpu none -np 1 --fold "$rule,function=by_one" "$program" functions
  lost by_one some && lost by_another 0 && lost 'by_one, larger' some
  run 0 -q --cpu none -np 1 --fold "$rule,function=by_another" "$program" functions
  lost by_one 0 && lost by_another some
  run 0 -q --cpu none -np 1 --fold "$rule,at_most=4MiB" "$program" functions
  lost by_one some && lost by_another some && lost 'by_one, larger' 0
  run 0 -q --cpu none -np 1 --fold 'at_least=4MiB,keep=0..size' --fold "$rule" "$program" functions
  lost by_one some && lost 'by_one, larger' 0
  printf '# rules\nat_least=4MiB,keep=0..size # all of it\n\n%s\n' "$rule" >rules
  run 0 -q --cpu none -np 1 --fold @rules "$program" functions
  lost by_one some && lost 'by_one, larger' 0
  address=$(objdump -d --no-show-raw-insn "$program" | awk '/^[0-9a-f]+ <by_another>:/ { inside = 1 }
    inside && /call.*<malloc@plt>/ { sub(":", "", $1); print $1; exit }')
  [ -n "$address" ] || fail "no call of malloc in by_another"
  run 0 -q --cpu none -np 1 --fold "$rule,call=0x$address" "$program" functions
  lost by_one 0 && lost by_another some
  run 0 -q --cpu none -np 1 --fold "$rule,call=fold_program+0x$address" "$program" functions
  lost by_one 0 && lost by_another some
  ;;
burst) # without a call: sometime
  run 0 -q --cpu measured -np 1 --fold "$rule" --report report.json "$program" burst
  grep -qE '"forgotten": [1-9]' report.json || fail "expected that it is forgotten: $(grep forgotten report.json)"
  ;;
budget) # what is there, and a little for what is written between two looks, in huge pages
  for budget in 2 16; do
    run 0 -q --cpu none -np 1 --fold "$rule" --fold-budget ${budget}MiB "$program" steps
    most=$(sed -n 's/^most present //p' stderr)
    [ "$most" -gt 100000 ] && [ "$most" -le $(((budget + 4) << 20)) ] || fail "$budget MiB: $most bytes were there"
  done
  run 0 -q --cpu none -np 2 --fold "$rule" --fold-budget 4MiB "$program" steps
  awk '/^most present/ && $3 > 6 * 2 ^ 20 { exit 1 }' stderr || fail "expected half of it for either rank"
  ;;
told)
  told 0 'may be forgotten +allocations +bytes +forgotten +function=by_one,\S+ +2 .*if they depend on that memory' \
    --fold function=by_one,keep=0..size
  told 0 'function=by_on fitted no allocation: .*\(nearest: by_one\)' --fold function=by_on
  told 0 'at_least=1GiB fitted no allocation ' --fold at_least=1GiB
  ! grep -q 'ranks have loaded nothing' stderr || fail "expected no such reason"
  told 0 'in=libc.so.6 fitted no allocation ' --fold in=libc.so.6
  ! grep -q 'ranks have loaded nothing' stderr || fail "expected no such reason"
  told 0 'in=libnone.so fitted no allocation: ranks have loaded nothing of that name' --fold in=libnone.so
  ;;
refused)
  told 121 'Did you mean at_least' --fold at_lest=1MiB
  told 121 'expected a size, got .much' --fold at_least=much
  told 121 'OBJECT\+0xOFFSET' --fold call=main
  told 121 'BEGIN\.\.END' --fold at_least=1MiB,keep=4096
  told 121 'bytez' --fold at_least=1MiB,keep=0..bytez
  told 121 'at_most of 2MiB or more' --fold at_least=2MiB,at_most=1MiB
  told 121 'fold-budget.*expected --fold beside it' --fold-budget 64MiB
  told 121 'fold-budget.*Give at least 64KiB' --fold at_least=1MiB --fold-budget 4KiB
  told 121 'fold-budget.*expected a size' --fold at_least=1MiB --fold-budget much
  told 121 'nowhere.*expected a file of rules' --fold @nowhere
  ! grep -q simulated stderr || fail "expected that it did not start"
  # only known when it is asked for
  told 121 'number of bytes for size = 3145851' --fold 'at_least=1MiB,keep=0..1/(size-3145851)'
  ;;
*)
  fail "no such case: $case"
  ;;
esac
