#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# kernels.sh UMWELT LIBRARY: `umwelt calibrate kernels` with a library that has two functions (blas.c), and again from
# the file of what it measured. Nothing depends on how long calls take.
set -u
umwelt=$1 library=$2
. "$(dirname "$(readlink -f "$0")")/../cases.sh"
calibrate() { expect "$1" "$umwelt" calibrate kernels "${@:2}" </dev/null; } # CODE ARGUMENTS...
told() {
  tr '\n' ' ' <stderr | grep -qE -- "$1" || fail "expected: $1"
}

calibrate 0 dgemm daxpy --library "$library" --count 12 --repeat 2 --cores one --sizes 4:64 --sizes N=8:64 --fix K=32 \
  --node 3 -o out.yaml --csv calls.csv
[ "$(grep -c '^dgemm,3,' calls.csv)" = 24 ] || fail "expected 12 sizes, twice"
[ "$(grep -c '^daxpy,3,' calls.csv)" = 24 ] || fail "expected 12 sizes, twice"
head -n 1 calls.csv | grep -qx 'kernel,node,socket,core,M,N,K,duration \[s\]' || fail "columns"
[ "$(awk -F, '/^dgemm/ { print $7 }' calls.csv | sort -u)" = 32 ] || fail "expected K=32 everywhere"
[ "$(awk -F, '/^daxpy/ && ($6 < 8 || $6 > 64)' calls.csv)" = "" ] || fail "expected 8 <= N <= 64"
[ "$(grep -c '^- name: ' out.yaml)" = 2 ] || fail "expected two kernels"
[ "$(grep -c '^\* ' stdout)" = 2 ] || fail "expected a choice for each"
head -n 1 out-dgemm.csv | grep -q '^node,socket,core,intercept \[s\]' || fail "expected a table of parameters"
"$umwelt" run -q --cpu none -np 1 --kernels out.yaml true || fail "expected a kernels file that can be read"

calibrate 0 dgemm --from calls.csv --pool --action skip -o again.yaml
grep -q '^  action: skip$' again.yaml || fail "expected action skip"
grep -q 'dgemm: 24 calls, ' stdout || fail "expected the calls of the file"
"$umwelt" run -q --cpu none -np 1 --kernels again.yaml true || fail "expected a kernels file that can be read"
if command -v gnuplot >/dev/null; then
  calibrate 0 dgemm --from calls.csv --pool --plots figures
  grep -q '</svg>' figures/dgemm.svg || fail "expected a figure"
fi

calibrate 121 dgem --library "$library"
told "kernel 'dgem': expected .*nearest known one is dgemm"
calibrate 121 dtrsm --library "$library"
told "kernel dtrsm: expected dtrsm_ in .*, got none"
calibrate 121 dgemm --library ./none.so
told "--library ./none.so: expected a library to load"
calibrate 121 dgemm --from none.csv
told "none.csv: expected a readable CSV file, got No such file"
calibrate 121 --from calls.csv
told "expected the kernels that were measured, got none"
calibrate 121 dgemm --from calls.csv --count 3
told "--count: expected no --from with it"
calibrate 121 dgemm --library "$library" --fix Q=3
told "--fix Q: expected one of TRANSA TRANSB M N K"
calibrate 121 dgemm --library "$library" --sizes 9:3
told "--sizes 9:3: expected 1 <= LOW <= HIGH"
calibrate 121 dgemm --library "$library" --count 0
told "--count"
calibrate 125 dscal --library "$library" --count 1 --cores one
told "kernel dscal: expected the library's function to return, got: signal 6"
exit 0
