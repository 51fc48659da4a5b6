#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
#   statistics.sh UMWELT PAIR PORT
#
# Summary and report tell what went over sockets: 100 round trips of one byte, 1 MiB and one byte as answer.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "$*"; cat "$work/stderr" "$work/report"; exit 1; }
for how in "-N 1 -x UMWELT_NODES=bxi0,bxi1" "-N 2 -x UMWELT_NODES=bxi0,bxi0" \
  "-N 1 --workers 2 -x UMWELT_NODES=bxi0,bxi1"; do
  # shellcheck disable=SC2086
  timeout --kill-after=5 50 "$1" run --cpu none $how --report "$work/report" -np 2 "$2" "$3" 1 100 \
    >/dev/null 2>"$work/stderr" </dev/null ||
    fail "$how: does not run"
  python3 - "$work/report" <<'CHECK' || fail "$how: wrong figures"
import json, sys
report = json.load(open(sys.argv[1]))
MiB = 1 << 20
bytes = [(r["segment_bytes_sent"], r["segment_bytes_received"]) for r in report["ranks"]]
assert bytes == [(101, MiB + 100), (MiB + 100, 101)], bytes
assert [r["segments_sent"] for r in report["ranks"]] == [r["segments_received"] for r in report["ranks"]][::-1]
assert report["ranks"][0]["segments_sent"] == 101, report
assert report["totals"]["segment_bytes"] == MiB + 201 and report["totals"]["segments"] > 201 + 15, report["totals"]
assert report["totals"]["messages"] == 0
CHECK
  grep -q "sockets: [0-9]* segments, 1.000 MiB" "$work/stderr" || fail "$how: not in the summary"
  ! grep -q "0 messages" "$work/stderr" || fail "$how: messages in the summary"
done
