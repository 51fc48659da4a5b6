#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# collectives.sh UMWELT MPI: `umwelt tune collectives` for one MPI library. With the file that it writes, calls take as
# long as with the best algorithm, to the nanosecond.
set -u
umwelt=$1 mpi=$2
. "$(dirname "$(readlink -f "$0")")/../cases.sh"
seconds=150
bench=$(dirname "$umwelt")/../lib/umwelt/collbench-$mpi
[ -x "$bench" ] || bench=$(find "$(dirname "$umwelt")/.." -name "collbench-$mpi" -print -quit)

case $mpi in
  openmpi)
    function=alltoall ranks=3 file=openmpi.rules
    with_file=(--mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_dynamic_rules_filename "out/$file")
    refused='two_proc: MPI_ERR_UNSUPPORTED_OPERATION'
    ;;
  mpich)
    function=allreduce ranks=3 file=mpich.json
    with_file=(-x "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE=$PWD/out/$file")
    refused='smp: User set collective algorithm is not usable'
    ;;
esac
sizes='8 32768'
expect 0 "$umwelt" tune collectives --mpi "$mpi" --functions "$function" --ranks "$ranks" --sizes 8,32KiB -o out
grep -q "left out: $refused" stdout || fail "expected what was left out"
grep -q "With $file, 2 of 2 points take as long as was measured" stdout || fail "expected equal times"
[ "$(head -n 1 out/collectives.csv)" = 'mpi,function,ranks,bytes,number,algorithm,segment,fanout,time [ns],problem' ] ||
  fail "columns"
if command -v gnuplot >/dev/null; then
  grep -q '</svg>' "out/$mpi.svg" || fail "expected a plot"
fi

# The same by hand: as a user runs a program with the file, and from the figures that were written.
# shellcheck disable=SC2086
expect 0 "$umwelt" run -q --cpu none -np "$ranks" "${with_file[@]}" "$bench" "$function" 1 $sizes
for size in $sizes; do
  best=$(awk -F, -v size="$size" '$4 == size && $9 != "" { print $9 }' out/collectives.csv | sort -n | head -n 1)
  grep -qx "time $size $best" stdout || fail "$size bytes: expected $best ns, the best of collectives.csv"
done
worst=$(awk -F, '$4 == 32768 { print $9 }' out/collectives.csv | sort -n | tail -n 1)
[ "$worst" != "$best" ] || fail "expected algorithms that differ"

expect 121 "$umwelt" tune collectives --mpi "$mpi" --functions "$function" --ranks "$ranks" -o out
grep -q -- '--force' stderr || fail "expected advice to use --force"
expect 121 "$umwelt" tune collectives --mpi "$mpi" --functions "$function" --platform nowhere -o other
grep -q 'nowhere' stderr || fail "expected what umwelt run says about its options"
