#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
#   node_messages.sh UMWELT PINGPONG PROGRAM
#
# Messages among ranks of a node go through its memory (btl vader) and take what the node's memory says; those to other
# nodes go through the network; with one rank per node everything is as if there were no such thing.
set -euo pipefail
umwelt=$1 pingpong=$2 program=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  echo "FAILED: $*"
  exit 1
}
run() { timeout --kill-after=5 60 "$umwelt" run -q "$@" </dev/null; }
# half a round trip in us: BYTES OPTION...
half() {
  local bytes=$1
  shift
  run -np 2 -N 2 "$@" "$pingpong" 400 "$bytes" | awk '{ print $3 }'
}
within() { # WHAT VALUE LEAST MOST
  awk -v value="$2" -v least="$3" -v most="$4" 'BEGIN { exit !(value >= least && value <= most) }' ||
    fail "$1: expected $3 to $4 us, got $2"
}

# Nothing of the network between two ranks of a node, something between two nodes.
run --cpu none -np 4 -N 2 --trace "$work/trace.csv" "$program" >/dev/null
awk -F, 'NR > 1 && $1 <= 7 && $2 == $3 && $8 != $9' "$work/trace.csv" >"$work/inside"
[[ ! -s $work/inside ]] || fail "messages of the network within a node: $(head -n 3 "$work/inside")"
awk -F, 'NR > 1 && $1 <= 7 && $2 != $3 { found = 1 } END { exit !found }' "$work/trace.csv" ||
  fail "no message between nodes"

# Seen after two lines, copied out in a third; then what a core copies, which is 12 GB/s unless told otherwise.
within "8 bytes" "$(half 8 --cpu none)" 0.2 0.6
within "8 bytes in two processes" "$(half 8 --cpu none --ranks-per-worker 1)" 0.2 0.6
within "8 bytes over slow lines" "$(half 8 --cpu none --node line=1us)" 3 3.2
within "8 bytes between sockets" "$(half 8 --cpu none --node sockets=128 --node line_far=300ns)" 0.9 1.0
within "8 bytes, measured" "$(half 8)" 0.16 1000
within "1 MiB" "$(half 1048576 --cpu none)" 87.3 92
within "1 MiB, measured" "$(half 1048576)" 87.3 10000
within "1 MiB copied slowly" "$(half 1048576 --cpu none --node copy_bandwidth=1GB/s)" 1048 1060
within "1 MiB on a slow socket" "$(half 1048576 --cpu none --node socket_bandwidth=500MB/s)" 2097 2120

# One rank per node: the same with and without.
for way in "" "--mca btl portals4,self"; do
  read -ra options <<<"$way"
  run --cpu none -np 4 --report "$work/report${#options[@]}.json" "${options[@]}" "$program" >/dev/null
  sed -i '/"wall\|"events_per\|"programs"/d' "$work/report${#options[@]}.json"
done
diff -u "$work/report0.json" "$work/report3.json"

for bad in lines=5ns line=5 sockets=0 copy_bandwidth=0B/s shm=1TiB @/nowhere line; do
  code=0
  run --node "$bad" -np 1 true 2>"$work/error" || code=$?
  [[ $code == 121 ]] && grep -q "expected\|has no parameter" "$work/error" ||
    fail "--node $bad: exit code $code, $(<"$work/error")"
done
code=0
run --shm-size huge -np 1 true 2>"$work/error" || code=$?
[[ $code == 121 ]] && grep -q -- "--shm-size" "$work/error" ||
  fail "--shm-size huge: exit code $code, $(<"$work/error")"
