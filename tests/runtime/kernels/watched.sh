#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# watched.sh UMWELT PROGRAM: `umwelt kernels`, and that what it writes is read by `umwelt run --kernels`. Of how
# long calls take nothing is asked but that it is some time.
set -u
umwelt=$1 program=$2
. "$(dirname "$(readlink -f "$0")")/../cases.sh"
kernels() { expect "$1" "$umwelt" kernels "${@:2}" </dev/null; } # CODE ARGUMENTS...
told() {
  tr '\n' ' ' <stderr | grep -qE -- "$1" || fail "expected: $1"
}

"$program" >native || fail "natively"
kernels 0 -np 1 --least 0.0001 --functions own_work --report r.json "$program"
cmp native stdout || fail "expected what it says natively"
told ' dgemm +24 .* 12  M 4\.\.24\.\.48  N 14\.\.29\.\.47  K 8\.\.10\.\.12'
told ' daxpy +3 .* 1  N 64 '
told ' own_work +5 '
grep -q 'dcopy' stderr && fail "expected nothing of a function that only has the name of one"
grep -qE 'never called|neither the program' stderr && fail "expected nothing of functions that are not there"
python3 - <<'END' || fail "report"
import json
kernels = {one["name"]: one for one in json.load(open("r.json"))["kernels"]}
assert set(kernels) == {"dgemm", "daxpy", "own_work"}, kernels
dgemm = kernels["dgemm"]
assert dgemm["action"] == "watch" and dgemm["calls"] == 24 and dgemm["classes"] == 12
assert dgemm["sizes"][0] == {"name": "M", "least": 4, "median": 24, "most": 48}
assert dgemm["time_ps"] > 0
END
[ "$(grep -c '^- name: ' kernels.yaml)" = 3 ] || fail "expected three kernels"
grep -q '^# 24 calls, .* % of computing' kernels.yaml || fail "expected how often it was called"
grep -A 2 '^- name: own_work' kernels.yaml | grep -qE '^  duration: [0-9.e-]+ s$' || fail "expected a constant"
cp kernels.yaml first.yaml
expect 0 "$umwelt" run --cpu none -np 2 --kernels first.yaml "$program"
grep -qE '^ *own_work +model +10 ' stderr || fail "expected calls of own_work to be modelled"

kernels 121 -np 1 "$program"
told '--output kernels.yaml: expected a file that is not there yet, got one that is .*--force'
cmp -s kernels.yaml first.yaml || fail "expected it as it was"
kernels 0 -np 1 --force "$program"
cmp -s kernels.yaml first.yaml && fail "expected it to be replaced"
kernels 0 -np 3 --workers 2 -o three.yaml --least 0.0001 --functions nobody_has_this "$program"
grep -q '^# 72 calls, ' three.yaml || fail "expected the calls of all ranks"
told 'neither the program nor its libraries have: nobody_has_this'
kernels 0 -q -np 1 -o most.yaml --least 100 "$program"
grep -qE '^# Less than 100 % of computing: (daxpy, dgemm|dgemm, daxpy)$' most.yaml ||
  fail "expected to be told what is not in it"
expect 0 "$umwelt" run -q --cpu none -np 1 --kernels most.yaml "$program" # without kernels
[ ! -s stderr ] || fail "expected nothing to be said"

kernels 121 --cpu none -np 1 -o other.yaml "$program"
told 'umwelt kernels: expected --cpu measured or scale'
kernels 121 --kernels first.yaml -np 1 "$program"
told 'umwelt kernels: expected no --kernels'
kernels 121 --repeat 2 -np 1 "$program"
told 'umwelt kernels: expected one run'
kernels 121 --least 101 -np 1 "$program"
told '--least: expected a percentage up to 100'
kernels 121 -o /no/such/directory/k.yaml -np 1 "$program"
told '/no/such/directory/k.yaml: expected a file'
kernels 121 -np 1 -o other.yaml --functions own_work,own_work "$program"
told '--functions own_work: expected each function once'
expect 121 "$umwelt" run -o k.yaml -np 1 "$program"
told '-o: expected umwelt kernels in front of it'
[ ! -e other.yaml ] || fail "expected no file of a run that was refused"
exit 0
