#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# stack_agrees_with_replay.sh UMWELT MODE: ptlbench through the loader, the gate, the Portals engine and the model
# takes as long as the replay of the mode on the model alone: `umwelt calibrate --no-fit` takes ptlbench's output for
# measurements.
set -euo pipefail
umwelt=$1 mode=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$umwelt" run -q -np 2 --cpu none ptlbench "$mode" --sizes 1,8,64,65,416,417,4096,65536,1200000 --count 1000 \
  --duration 5ms >"$work/stack.csv"
"$umwelt" calibrate --no-fit --verbose --messages 1000 "$mode=$work/stack.csv" | tee "$work/judged"
awk -v mode="$mode" '
  $1 == mode { seen = 1 }
  $2 == "B" { ++sizes; off = $9 < 0 ? -$9 : $9; if (off > 0.3) bad = 1 }
  END { exit !(seen && sizes == 9 && !bad) }' "$work/judged"
