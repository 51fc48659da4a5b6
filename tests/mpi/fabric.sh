#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
#   fabric.sh UMWELT PROGRAM     PROGRAM: fabric_times.c
#
# The same program on the fabrics of the NIC: equal within percents where nothing is in the way, and not where full
# buffers hold what does not go to the busy node.
set -euo pipefail
umwelt=$1
program=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

run() { # NAME OPTION...
  local name=$1
  shift
  timeout --kill-after=5 "${UMWELT_TEST_TIMEOUT:-60}" "$umwelt" run --cpu none -q --report "$work/$name.json" -np 8 \
    "$@" "$program" </dev/null >"$work/$name"
}

# compare NAME NAME AWK-CONDITION: over lines of the two files, as `one` and `other` (ns)
compare() {
  paste -d' ' "$work/$1" "$work/$2" | awk -v what="$1 and $2" '
    { name = $1; bytes = $2; one = $3; other = $6; ratio = other / one; seen++ }
    '"$3"' { print what ": " name " of " bytes " bytes: " one " and " other " ns"; wrong = 1 }
    END { if (!seen) { print what ": no lines"; wrong = 1 } exit wrong }'
}

# A full fat tree: no route meets another one in a ping-pong, and few in an all-to-all.
full=(--platform fat_tree:down=4x2,up=1x4)
run occupancy "${full[@]}"
run packet "${full[@]}" --fabric packet
compare occupancy packet 'name == "pingpong" && (ratio < 0.97 || ratio > 1.03)'
compare occupancy packet 'name == "alltoall" && (ratio < 0.8 || ratio > 1.25)'

# One cable between two switches, and little room in them: what goes to the busy node fills them.
thin=(--platform bxi:leaf=4,spines=1)
run thin_occupancy "${thin[@]}"
run thin_packet "${thin[@]}" --fabric packet --nic fabric_buffer=4KiB
compare thin_occupancy thin_packet 'name == "incast" && ratio < 1.2'
run thin_channels "${thin[@]}" --fabric packet --nic fabric_buffer=4KiB --nic fabric_vcs=2 # the busy node has its own
compare thin_packet thin_channels 'name == "incast" && ratio > 0.7'

run again "${thin[@]}" --fabric packet --nic fabric_buffer=4KiB
cmp "$work/thin_packet" "$work/again"
run workers "${thin[@]}" --fabric packet --nic fabric_buffer=4KiB --workers 3
cmp "$work/thin_packet" "$work/workers"
grep -q '"model": "bxi, fabric packet"' "$work/packet.json"
grep -q '"model": "bxi"' "$work/occupancy.json"

# SimGrid's solver under the same NIC: no packets, so nothing fills.
run flow "${full[@]}" --fabric flow
compare occupancy flow 'name == "pingpong" && (ratio < 0.97 || ratio > 1.03)'
compare occupancy flow 'name == "alltoall" && (ratio < 0.8 || ratio > 1.25)'
run flow_again "${full[@]}" --fabric flow
cmp "$work/flow" "$work/flow_again"
run flow_workers "${full[@]}" --fabric flow --workers 3
cmp "$work/flow" "$work/flow_workers"
grep -q '"model": "bxi, fabric flow"' "$work/flow.json"
