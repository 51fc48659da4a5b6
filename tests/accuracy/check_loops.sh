#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# check_loops.sh UMWELT MPI_LOOPS: every benchmark gives a row per size; rates, overlap and counts of repetitions are
# what they are by definition.
set -euo pipefail
umwelt=$1 loops=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# rows FILE RANKS ARGUMENT...
rows() {
  "$umwelt" run -q --cpu none -np "$2" "$loops" "${@:3}" >"$work/$1"
  sed -n 1p "$work/$1" | grep -qx "benchmark,ranks,size_bytes,value,unit"
  awk -F, 'NR > 1 && !($4 > 0 || $3 == 0 && $5 == "MB/s") { print "expected a value above 0, got " $0; bad = 1 }
    END { exit bad }' "$work/$1"
}
value() { awk -F, -v name="$2" -v size="$3" '$1 == name && $3 == size { print $4 }' "$work/$1"; }
expect() { awk "BEGIN { exit !($1) }" || { echo "expected $1" && exit 1; }; }

rows pairs 2 latency,bw,bibw --sizes 0,8,40000 --repetitions 20 --warm-up 2 --window 8
[[ $(cut -d, -f1,2,3,5 "$work/pairs" | tail -n +2 | paste -sd' ') == "latency,2,0,us latency,2,8,us \
latency,2,40000,us bw,2,0,MB/s bw,2,8,MB/s bw,2,40000,MB/s bibw,2,0,MB/s bibw,2,8,MB/s bibw,2,40000,MB/s" ]]
# Eight at once are faster than one by one, both directions than one; no direction is faster than its link (100 Gbit/s).
expect "$(value pairs bw 8) > 8 / $(value pairs latency 8)"
expect "$(value pairs bibw 40000) > 1.5 * $(value pairs bw 40000) && $(value pairs bibw 40000) < 25000"

# All collectives, on a number of ranks that is no power of two, with fewer floats than ranks. Beside as much
# computation one takes longer than alone; nothing arrives faster than the link carries it.
for collective in allgather allgatherv allreduce alltoall alltoallv alltoallw bcast gather gatherv reduce \
  reduce_scatter scatter scatterv alltoall_pairwise; do
  names=${names:+$names,}$collective,i$collective
done
rows collectives 5 "$names,barrier,ibarrier" --sizes 8,40000 --repetitions 2 --warm-up 1
[[ $(wc -l <"$work/collectives") == 59 ]]
# Turn by turn, nothing but the first beside computation.
expect "$(value collectives ialltoall_pairwise 40000) > 1.5 * $(value collectives alltoall_pairwise 40000)"
expect "$(value collectives ialltoall 40000) > $(value collectives alltoall 40000)"
expect "$(value collectives alltoall 40000) > 4 * 40000 / 12500"

rows powers 2 bcast --sizes 0:16 --repetitions 1 --warm-up 0
[[ $(cut -d, -f3 "$work/powers" | paste -sd' ') == "size_bytes 0 1 2 4 8 16" ]]
