#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# check_compare.sh BUILD: compare.py runs rows under both, writes what it found, and says what is wrong with its
# arguments. No figure is judged.
set -euo pipefail
build=$1
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
compare() { "$here/compare.py" "$build" --repeat 1 --target 0.02 "$@"; }
compare --rows pingpong,test,compute --ranks 2,8 --bytes 8,1024 \
  --json "$work/json" --markdown "$work/table" --plot "$work/chart.svg"
grep -q '^| pingpong 8 B | 2 | message |.*| 0.8 |' "$work/table"
grep -q '^| test 8 B | 2 | call |' "$work/table"
python3 - "$work/json" <<'END'
import json, sys
rows = json.load(open(sys.argv[1]))["rows"]
assert [row["row"] for row in rows] == ["pingpong 8 B", "pingpong 1 KiB", "test 8 B"], rows
for row in rows:
    for tool in ("umwelt", "smpi"):
        assert row[tool]["memory_mib"] > 1 and row[tool]["simulated_us_per_call"] > 0.4, row
END
grep -q '<svg' "$work/chart.svg"
! compare --rows pingpang 2>"$work/error"
grep -q 'pingpang: expected some of allreduce' "$work/error"
! compare --rows pingpong --ranks 3 2>"$work/error"
grep -q 'no row has these ranks and bytes' "$work/error"
