#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# commands.sh UMWELT: what `umwelt report` and `umwelt compare` say to files that are not reports, and to those that
# are.
set -u
umwelt=$1
here=$(dirname "$(readlink -f "$0")")
. "$here/../cases.sh"
refused() { # PATTERN ARGUMENTS...: exit code 121, and a message like that
  expect 121 "$umwelt" "${@:2}"
  tr '\n' ' ' <stderr | grep -qE -- "$1" || fail "expected: $1"
}
report=$here/synthetic.py
python=/usr/bin/python3
"$python" "$report" --ranks 4 a.json && "$python" "$report" --ranks 4 --scale 2 b.json || fail "synthetic.py"

refused "'no.json': expected a report of umwelt run --report, got No such file.*umwelt run --report FILE" report no.json
refused "'\.': expected a report of umwelt run --report, got Is a directory" report .
echo 'simulated 3 s' >text.json
refused "'text.json': expected a report of umwelt run --report, got no JSON at byte 1" report text.json
head -c 2000 a.json >cut.json
refused "'cut.json': expected a report .*, got no JSON at byte 2001" report cut.json
echo '{"key": 1}' >other.json
refused "'other.json': expected a report .*report_version.*, got other JSON" report other.json
echo '[1, 2]' >list.json
refused "'list.json': expected a report .*, got other JSON" report list.json
echo '{"report_version": 9, "umwelt": "7.0"}' >newer.json
refused "'newer.json': expected report_version 1, got 9  *Use the Umwelt that wrote it \(7.0\)" report newer.json
echo '{"report_version": 1, "simulated_ps": "long", "nodes": 1, "ranks": []}' >wrong.json
refused "'wrong.json': expected a report, with simulated_ps as a number, got '\"long\"'" report wrong.json
echo '{"report_version": 1, "simulated_ps": 1, "nodes": 1, "ranks": [{}]}' >empty.json
refused "expected a report, with compute_ps of every rank, got a rank without it" report empty.json
echo '{"report_version": 1, "runs": []}' >none.json
refused "expected the reports of some runs, got none" report none.json
refused "expected another file than the report, got the same" report a.json -o a.json
refused "/no/such/run.html" report a.json -o /no/such/run.html
refused "FILE is required" report
refused "FILE" compare
refused "umwelt compare: expected two reports or more, got 1 .*before.json after.json" compare a.json
refused "'no.json'" compare a.json no.json --html c.html
[ ! -e c.html ] || fail "expected no page of a comparison that failed"

expect 0 "$umwelt" report a.json
grep -qE '^a.html: [0-9.]+ KiB' stdout || fail "expected the name of the page"
head -n 1 a.html | grep -qx '<!DOCTYPE html>' || fail "expected a page"
expect 0 "$umwelt" report a.json -o elsewhere.htm
cmp -s a.html elsewhere.htm || fail "expected the same page again"
cp a.json report
expect 0 "$umwelt" report report
[ -e report.html ] || fail "expected report.html"
expect 0 "$umwelt" report a.json -o /dev/stdout
grep -q '</html>' stdout || fail "expected the page on standard output"

expect 0 "$umwelt" compare a.json b.json
grep -qE 'simulated time +8.000 ms +16.00 ms +\+100.0 %' stdout || fail "expected what changed"
expect 0 "$umwelt" compare a.json b.json --html c.html
grep -q '</html>' c.html || fail "expected a page"
mkdir other && cp b.json other/a.json
expect 0 "$umwelt" compare a.json other/a.json
grep -q 'other/a.json' stdout || fail "expected names that differ"
expect 0 "$umwelt" report --help
grep -q -- '--output' stdout || fail "expected help"
expect 0 "$umwelt" help compare
grep -q -- '--html' stdout || fail "expected help"

refused "'no.json'" explain no.json
refused "FILE is required" explain
expect 0 "$umwelt" explain a.json
grep -qE '^a.json: 4 ranks on .*, 8.000 ms of simulated time, completed' stdout || fail "expected what was run"
grep -qE '^1\. ' stdout || fail "expected that something stands out"
expect 0 "$umwelt" explain a.json --json
"$python" -c 'import json, sys; [one["what"] + one["next"] for one in json.load(sys.stdin)][0]' <stdout ||
  fail "expected JSON"
"$python" "$report" --ranks 4 --kind hot hot.json && "$python" "$report" --ranks 4 --kind deadlock dead.json
expect 0 "$umwelt" explain hot.json
grep -q 'Hot link' stdout || fail "expected the hot link"
expect 0 "$umwelt" explain dead.json
grep -qE '^1\. Deadlock: ranks .* wait for each other' stdout || fail "expected the deadlock"
