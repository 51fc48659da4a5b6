#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
#   speed.sh UMWELT PAIR LATENCY BANDWIDTH [OPTION...]
#
# A plain TCP pair gets LATENCY (us) within 10 % and BANDWIDTH (GB/s) within 5 %.
set -euo pipefail
umwelt=$1 pair=$2 latency=$3 bandwidth=$4
shift 4
output=$(timeout --kill-after=5 100 "$umwelt" run -q --cpu none -N 1 -x UMWELT_NODES=bxi0,bxi1 \
  -np 2 "$@" "$pair" 5201 64 1000 2>&1 >/dev/null)
read -r got_latency got_bandwidth < \
  <(sed -n 's/^latency \([0-9.]*\) us, bandwidth \([0-9.]*\) GB.*/\1 \2/p' <<<"$output")
if ! awk -v l="$got_latency" -v b="$got_bandwidth" -v el="$latency" -v eb="$bandwidth" \
  'BEGIN { exit !(l >= el * 0.9 && l <= el * 1.1 && b >= eb * 0.95 && b <= eb * 1.05) }'; then
  echo "expected $latency us within 10 % and $bandwidth GB/s within 5 %, got: $output"
  exit 1
fi
