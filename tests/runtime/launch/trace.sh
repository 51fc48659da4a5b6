#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
#   trace.sh UMWELT PROTO NP PROGRAM [ARGUMENT...]
#
# Traces of whole runs: two with --cpu none are the same, in both formats; nothing ends before it starts, nothing is
# faster than the wire, and there are as many messages as the report counts; a Perfetto trace is what protoc takes for
# one.
set -euo pipefail
umwelt=$1 proto=$2 np=$3
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
run() { timeout --kill-after=5 60 "$umwelt" run --cpu none -q -np "$np" "$@" </dev/null >/dev/null; }
fail() {
  echo "FAILED: $*"
  exit 1
}
# of all ranks, which come first
count_reported() { awk '$1 == "\"messages\":" { print $2 + 0; exit }' "$1"; }
# of operations: acknowledgements and the requests of gets are parts of them; fields by S4BXI's numbers
count_traced() { awk -F, '$10 == "done" && ($1 == 2 || $1 == 3 || $1 == 5 || $1 == 6 || $1 == 7)' "$1" | wc -l; }

for number in 1 2; do
  run --trace "$work/$number.csv" --report "$work/$number.json" "$@"
  run --trace "$work/$number.pftrace" "$@"
done
cmp "$work/1.csv" "$work/2.csv"
cmp "$work/1.pftrace" "$work/2.pftrace"
[[ -z $(find "$work" -name '*.partial') ]] || fail "a partial file is left"

head -n 1 "$work/1.csv" | grep -q '^operation_type,initiator_nid,target_nid,start_time,end_time,bytes,' || fail "header"
reported=$(count_reported "$work/1.json")
traced=$(count_traced "$work/1.csv")
((reported > 0)) || fail "expected messages in the report, got none"
((traced == reported)) || fail "expected $reported messages as in the report, got $traced"

# The default platform has links of 12.5 GB/s. Without its point a time is a number of picoseconds.
awk -F, '
  function picoseconds(time) { sub(/\./, "", time); return time + 0 }
  NR == 1 { next }
  NF != 10 { print "fields: " $0; bad = 1 }
  { took = picoseconds($5) - picoseconds($4) }
  took < 0 { print "ends before its start: " $0; bad = 1 }
  $1 <= 7 && $2 != $3 && $10 == "done" {
    ++messages
    if (took < $6 / 12.5e9 * 1e12) { print "faster than the wire: " $0; bad = 1 }
  }
  $1 >= 8 && $2 != $3 { print "PCI between two nodes: " $0; bad = 1 }
  END { if (messages == 0) { print "no message between nodes"; bad = 1 }; exit bad }
' "$work/1.csv" || fail "implausible records"

protoc --decode=umwelt.perfetto.Trace -I"$(dirname "$proto")" "$(basename "$proto")" <"$work/1.pftrace" >"$work/decoded"
begun=$(grep -c 'TYPE_SLICE_BEGIN' "$work/decoded")
ended=$(grep -c 'TYPE_SLICE_END' "$work/decoded")
((begun > 0 && begun == ended)) || fail "expected as many ends of slices as begins, got $begun and $ended"
if grep -qE '^ *[0-9]+:' "$work/decoded"; then fail "fields that are not in the proto file"; fi
for name in bxi0 "rank 0" "fabric: messages sent" "PCI: commands" put; do
  grep -qF "name: \"$name\"" "$work/decoded" || fail "expected $name in the trace, got none"
done

# Other models know of messages, and of the same ones; a choice of ranks is a part of the whole.
for model in flow loggp delay; do
  run --model "$model" --trace "$work/$model.csv" --report "$work/$model.json" "$@"
  [[ $(count_traced "$work/$model.csv") == $(count_reported "$work/$model.json") ]] || fail "messages of model $model"
done
run --trace "$work/some.csv" --trace-ranks 0 "$@"
lines() { wc -l <"$1"; }
(($(lines "$work/some.csv") > 1 && $(lines "$work/some.csv") < $(lines "$work/1.csv"))) || fail "--trace-ranks 0"
