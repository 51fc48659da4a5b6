#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# run.sh CASE UMWELT DIRECTORY: --fold, with the programs in the directory.
set -u
case=$1 umwelt=$2 directory=$3
program=$directory/fold_allocations
. "$(dirname "$(readlink -f "$0")")/../cases.sh"
rule='at_least=1MiB,keep=0..100,keep=floor(size/2)..floor(size/2)+5000,keep=size-64..size'
run() { # CODE ARGUMENTS OF umwelt run...
  seconds=100 expect "$1" "$umwelt" run "${@:2}" </dev/null
}
everywhere() { # PROGRAM...: the output that it has natively, and the same report however it is run
  "$@" 2>/dev/null >native || fail "natively"
  sort -u native >expected
  for how in "--workers 0" "--workers 0" "--workers 2"; do
    # shellcheck disable=SC2086
    run 0 -q --cpu none -np 2 $how --report report.json --fold "$rule" --fold-budget 2MiB "$@"
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
lost_in_functions() { # BY_ONE BY_ANOTHER BY_ONE_LARGER, each 0|some, RULE...
  local by_one=$1 by_another=$2 larger=$3 rules=() each
  for each in "${@:4}"; do
    rules+=(--fold "$each")
  done
  run 0 -q --cpu none -np 1 "${rules[@]}" --fold-budget 1MiB "$program" functions
  lost by_one "$by_one"
  lost by_another "$by_another"
  lost 'by_one, larger' "$larger"
}
most_present() { # MiB, ARGUMENTS OF umwelt run...
  run 0 -q --cpu none --fold "$rule" "${@:2}" "$program" steps
  awk -v limit=$(($1 << 20)) '/^most present / { ++lines; bad += $3 <= 100000 || $3 > limit }
    END { exit !lines || bad }' stderr || fail "${*:2}: expected at most $1 MiB: $(grep present stderr)"
}
told() { # CODE PATTERN ARGUMENTS...
  local code=$1 pattern=$2
  shift 2
  run "$code" --cpu none -np 2 "$@" "$program" functions
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
  everywhere "$program" "$case"
  all_lost
  ;;
impossible | maps | children | threads | many | freed)
  everywhere "$program" "$case"
  ;;
exec)
  everywhere "$program" exec
  all_lost
  allocations 10
  ;;
operator_new) # who calls it allocates
  everywhere "$directory/fold_operator_new"
  all_lost
  run 0 -q --cpu none -np 1 --fold "$rule,function=make_array" --fold-budget 1MiB "$directory/fold_operator_new"
  lost 'new\[\]' some
  lost 'operator new' 0
  lost vector 0
  ;;
plugin) # the C++ library belongs to what the program opens, only
  everywhere "$directory/fold_opener" "$directory/libfold_plugin.so"
  allocations 0
  run 0 -q --cpu none -np 1 --fold at_least=1MiB,in=libfold_plugin.so --report report.json "$directory/fold_opener" \
    "$directory/libfold_plugin.so"
  allocations 1
  ;;
kept) # all, or none
  run 0 -q --cpu none -np 1 --fold 'at_least=1MiB,keep=0..size' --fold-budget 1MiB "$program" ways
  ! grep -E ' lost [1-9]' stderr || fail "expected that nothing is lost"
  run 1 -q --cpu none -np 1 --fold at_least=1MiB --fold-budget 1MiB "$program" ways
  grep -qE '^malloc: [1-9][0-9]* bytes wrong' stdout || fail "expected that all may be lost"
  ;;
rules) # by function, call, size; the first one counts
  lost_in_functions some 0 some "$rule,function=by_one"
  lost_in_functions 0 some 0 "$rule,function=by_another"
  lost_in_functions some some 0 "$rule,at_most=4MiB"
  lost_in_functions some some 0 'at_least=4MiB,keep=0..size' "$rule"
  printf '# rules\nat_least=4MiB,keep=0..size # all of it\n\n%s\n' "$rule" >rules
  lost_in_functions some some 0 @rules
  address=$(objdump -d --no-show-raw-insn "$program" | awk '/^[0-9a-f]+ <by_another>:/ { inside = 1 }
    inside && /call.*<malloc@plt>/ { sub(":", "", $1); print $1; exit }')
  [ -n "$address" ] || fail "no call of malloc in by_another"
  lost_in_functions 0 some 0 "$rule,call=0x$address"
  lost_in_functions 0 some 0 "$rule,call=fold_allocations+0x$address"
  ;;
burst) # without a call: sometime
  for cpu in none measured; do
    run 0 --cpu $cpu -np 1 --fold "$rule" "$program" burst
    awk '/memory that may be forgotten/ { getline; forgotten = $NF } END { exit !forgotten }' stderr ||
      fail "--cpu $cpu: expected that it is forgotten"
  done
  ;;
budget) # what is there, and a little for what is written between two looks, in huge pages
  most_present 2 -np 1 --fold-budget 1MiB
  most_present 19 -np 1 --fold-budget 16MiB
  most_present 5 -np 2 --fold-budget 4MiB # half of it for either rank
  ;;
told)
  told 0 'may be forgotten +allocations +bytes +forgotten +function=by_one,\S+ +4 .*if they depend on that memory' \
    --fold function=by_one,keep=0..size
  told 0 'function=by_on fitted no allocation: .*\(nearest: by_one\)' --fold function=by_on
  told 0 'at_least=1GiB fitted no allocation ' --fold at_least=1GiB
  ! grep -q 'ranks have loaded nothing' stderr || fail "expected no such reason"
  told 0 'in=libc.so.6 fitted no allocation ' --fold in=libc.so.6
  ! grep -q 'ranks have loaded nothing' stderr || fail "expected no such reason"
  told 0 'in=libnone.so fitted no allocation: ranks have loaded nothing of that name' --fold in=libnone.so
  ;;
refused)
  told 121 'expected one of at_least, .* got .at_lest.*Did you mean at_least' --fold at_lest=1MiB
  told 121 'expected a size, got .much' --fold at_least=much
  told 121 'OBJECT\+0xOFFSET' --fold call=main
  told 121 'BEGIN\.\.END' --fold at_least=1MiB,keep=4096
  told 121 'bytez' --fold at_least=1MiB,keep=0..bytez
  told 121 'at_most of 2MiB or more' --fold at_least=2MiB,at_most=1MiB
  told 121 'fold-budget.*expected --fold beside it' --fold-budget 64MiB
  told 121 'fold-budget: expected 64KiB or more for each of 2 ranks.*Give at least 128KiB' --fold at_least=1MiB \
    --fold-budget 100KiB
  told 121 'fold-budget.*expected a size' --fold at_least=1MiB --fold-budget much
  told 121 'nowhere.*expected a file of rules' --fold @nowhere
  printf '# comment\n\nat_least=1MiB,call=here\n' >rules
  told 121 'rules:3, call: expected OBJECT\+0xOFFSET' --fold @rules
  ! grep -q simulated stderr || fail "expected that it did not start"
  # only known when it is asked for
  told 121 'number of bytes for size = 3145851' --fold 'at_least=1MiB,keep=0..1/(size-3145851)'
  ;;
*)
  fail "no such case: $case"
  ;;
esac
