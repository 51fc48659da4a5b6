#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# check_run.sh UMWELT MPI_LOOPS: `run` on measurements made here. What was predicted exactly is off by nothing, a row
# that has become worse fails, and what makes no sense is refused.
set -euo pipefail
umwelt=$1 loops=$2
run=$(realpath "$(dirname "$0")/run")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
data=$work/data
mkdir -p "$data/bxi" "$data/osu"

# What a cluster that is exactly as simulated would have measured; an S4BXI that is, too, but for one mode.
for mode in put_waitack put_nowait get_waitreply get_nowait ack match reply; do
  file=$mode
  [[ $mode != ack && $mode != match ]] || file=ptlperf_$mode
  "$umwelt" run -q -np 2 --cpu none ptlbench "$mode" --sizes 8,4096 --count 10000 --volume 256MB --duration 10ms \
    >"$data/bxi/real_$file.csv"
  sed 's/^0,/1,/' "$data/bxi/real_$file.csv" >"$data/bxi/s4bxi_$file.csv"
  sed -i 's/^0,/1032,/' "$data/bxi/real_$file.csv"
done
awk -F, -v OFS=, 'NR > 1 { $6 /= 2 } { print }' "$data/bxi/real_put_waitack.csv" | sed 's/^1032,/1,/' \
  >"$data/bxi/s4bxi_put_waitack.csv"
{
  echo "size_bytes,real_us,s4bxi_us"
  awk -F, -v OFS=, 'NR > 1 { print $1, $2, $2 * 1.5 }' "$data/bxi/real_reply.csv"
} >"$data/bxi/ptlperf_reply_half.csv"
rm "$data/bxi/real_reply.csv" "$data/bxi/s4bxi_reply.csv"
{
  echo "benchmark,ranks,size_bytes,series,value,unit"
  for of in "2 latency" "2 bw" "4 alltoall" "4 ireduce"; do
    "$umwelt" run -q --cpu none -np "${of% *}" "$loops" "${of#* }" --sizes 8,4096 --repetitions 10 --warm-up 3 |
      awk -F, -v OFS=, 'NR > 1 { print $1, $2, $3, "real", $4, $5; print $1, $2, $3, "smpi", $4 * 3, $5 }'
  done
} >"$data/osu/osu_bxi.csv"

judge() { "$run" "$umwelt" "$data" --loops "$loops" "$@" 2>"$work/error"; }
refused() { # PATTERN ARGUMENT...: exit code 2, and why
  local code=0
  "$run" "${@:2}" >"$work/out" 2>"$work/error" || code=$?
  [[ $code == 2 ]] || { echo "expected exit code 2, got $code: ${*:2}" && exit 1; }
  grep -q "$1" "$work/error" || { echo "expected '$1', got:" && cat "$work/error" && exit 1; }
}

baseline=$work/baseline.csv
judge --page "$work/FIGURES.md" --baseline "$baseline" --update-baseline | tee "$work/table"
[[ $(wc -l <"$baseline") == 12 ]]
[[ $(grep -c ',none,0\.00$' "$baseline") == 11 ]]
grep -q '^| \[put_waitack\](plots/put_waitack.svg) | 2 | 2 | 0.0 % | +0.0 % | 100.0 % |  |' "$work/table"
grep -q '^| \[reply\].* | 0.0 % | +0.0 % | 50.0 % |  |' "$work/table"
grep -q '^| \[ireduce\](plots/ireduce.svg) | 4 | 2 | 0.0 % | +0.0 % |  | 200.0 % |' "$work/table"
grep -q '^| \[bw\]' "$work/FIGURES.md"
[[ $(grep -l '<svg' "$work"/plots/*.svg | wc -l) == 11 ]]

# The cluster was twice as slow: only that row fails, by name, and not if that is how it was.
judge --only latency,alltoall --baseline "$baseline"
awk -F, -v OFS=, '$1 == "latency" && $4 == "real" { $5 *= 2 } { print }' "$data/osu/osu_bxi.csv" >"$work/twice"
mv "$work/twice" "$data/osu/osu_bxi.csv"
code=0
judge --only latency,alltoall --baseline "$baseline" || code=$?
[[ $code == 1 ]]
grep -q 'worse by more than a tenth: latency --cpu none: 100.00 %, was 0.00 %' "$work/error"
[[ $(grep -c 'worse' "$work/error") == 1 ]]
judge --only latency --baseline "$baseline" --update-baseline
[[ $(wc -l <"$baseline") == 12 ]]
judge --only latency --baseline "$baseline"
# Rows of measured are judged on demand.
measured=(--only ireduce --mode measured --repeat 2 --repetitions 2 --warm-up 0 --baseline "$baseline")
judge "${measured[@]}" | grep '`--cpu measured`'
refused 'expected a row ireduce,measured, got none. Add it with --update-baseline' "$umwelt" "$data" --loops "$loops" \
  "${measured[@]}" --judge-measured

# A program that takes 1 s on one rank and 5 s on 8; on the cluster twice as long on 8 ranks as on one
printf '%s\n' ranks,size,real_s,s4bxi_s,s4bxi_wall_s,smpi_s,smpi_wall_s 1,10,1.5,1,9,1,9 8,10,3,4,9,2,9 \
  >"$data/bxi/lulesh_some.csv"
cat >"$work/lulesh" <<'END'
#!/bin/sh
[ "$1 $2" = "-s 10" ] && echo "Elapsed time         =       $((OMPI_COMM_WORLD_SIZE / 2 + 1)).00 (s)"
END
chmod +x "$work/lulesh"
judge --lulesh "$work/lulesh" --only lulesh --mode measured --repeat 1 >"$work/table"
grep -q '^| \[lulesh_8\].* | 8 | 1 | 150.0 % | +150.0 % | 100.0 % | 0.0 % | -s 10: 2 / 5 |$' "$work/table"
refused '\-\-lulesh: expected --mode measured' "$umwelt" "$data" --lulesh "$work/lulesh"
refused "expected 'Elapsed time = SECONDS'" "$umwelt" "$data" --only lulesh --mode measured --lulesh /bin/true

refused "real_put_waitack.csv: expected measurements, got: No such file" "$umwelt" "$work/nothing"
refused '\-\-only latenzy: expected some of .*latency' "$umwelt" "$data" --only latenzy
refused '\-\-mode fixed: expected none, measured' "$umwelt" "$data" --mode fixed
refused '\-\-update-baseline: expected a file' "$umwelt" "$data" --update-baseline
refused '\-\-page: expected all benchmarks, got --only' "$umwelt" "$data" --only bw --page "$work/FIGURES.md"
refused '\-\-repeat: expected a number of runs, got 0' "$umwelt" "$data" --repeat 0
refused "$work/no_loops: expected a program, got none" "$umwelt" "$data" --loops "$work/no_loops" --only bw
refused 'expected exit code 0, got 1' /bin/false "$data" --loops "$loops" --only bw
sed -i 's/^bw,2,8,real,[0-9.]*/bw,2,8,real,fast/' "$data/osu/osu_bxi.csv"
refused "osu_bxi.csv:[0-9]*: expected a number in column 'value', got 'fast'" "$umwelt" "$data" --loops "$loops"
sed -i '1s/series/serie/' "$data/osu/osu_bxi.csv"
refused "osu_bxi.csv:1: expected a column 'series'" "$umwelt" "$data" --loops "$loops"
