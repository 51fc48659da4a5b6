#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# check_run.sh UMWELT: `run` on measurements made here: of S4BXI it says how far they are off, of Umwelt that it is
# exact.
set -euo pipefail
umwelt=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for mode in put_waitack put_nowait get_waitreply get_nowait ack match; do
  file=$mode
  [[ $mode != ack && $mode != match ]] || file=ptlperf_$mode
  "$umwelt" run -q -np 2 --cpu none ptlbench "$mode" --sizes 8,4096 --count 10000 --volume 256MB --duration 10ms \
    >"$work/real_$file.csv"
  cp "$work/real_$file.csv" "$work/s4bxi_$file.csv"
done
"$umwelt" run -q -np 2 --cpu none ptlbench reply --sizes 8,4096 --volume 256MB --duration 10ms |
  awk -F, 'NR == 1 { print "size_bytes,real_us,s4bxi_us" } NR > 1 { print $1 "," $2 "," $2 }' \
    >"$work/ptlperf_reply_half.csv"
# this S4BXI takes twice as long for Puts
awk -F, -v OFS=, 'NR > 1 { $6 /= 2 } { print }' "$work/real_put_waitack.csv" >"$work/s4bxi_put_waitack.csv"
"$(dirname "$0")/run" "$umwelt" "$work" "$work/plots" | tee "$work/table"
[[ $(grep -c '0\.00 %' "$work/table") == 7 ]]
grep -q '^| put_waitack | 2 | 0.00 % | 100.00 % |' "$work/table"
[[ $(ls "$work/plots" | wc -l) == 7 ]]
