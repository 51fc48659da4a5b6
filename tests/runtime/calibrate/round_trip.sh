#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# round_trip.sh UMWELT: measures a NIC of known parameters with ptlbench, calibrates on that, and measures a NIC of the
# fitted parameters: it must be as fast.
set -euo pipefail
umwelt=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
measure() { # mode, then options of umwelt run
  local mode=$1
  shift
  "$umwelt" run -q -np 2 --cpu none "$@" ptlbench "$mode" --sizes 8:64KiB,65,417 --count 100
}
for mode in put_waitack get_waitreply; do
  measure $mode --nic pci_read=800ns --nic ack_time=250ns >"$work/$mode.csv"
done
"$umwelt" calibrate --fit pci_read,ack_time --output "$work/nic.conf" --plots "$work/plots" \
  put_waitack="$work/put_waitack.csv" get_waitreply="$work/get_waitreply.csv"
cat "$work/nic.conf"
for mode in put_waitack get_waitreply; do
  grep -q '</svg>' "$work/plots/$mode.svg"
  measure $mode --nic "@$work/nic.conf" >"$work/$mode.again.csv"
  paste -d, "$work/$mode.csv" "$work/$mode.again.csv" |
    awk -F, 'NR > 1 && ($4 / $11 > 1.002 || $4 / $11 < 0.998) { print "was", $4, "us, is", $11; bad = 1 }
      END { exit bad }'
done
