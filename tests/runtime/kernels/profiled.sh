#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# profiled.sh UMWELT PROGRAM: `umwelt kernels` finds functions that nobody has named. How many ticks there are depends
# on this machine; in which function most are does not.
set -u
umwelt=$1 program=$2
. "$(dirname "$(readlink -f "$0")")/../cases.sh"

"$program" >native || fail "natively"
for processes in 0 2; do
  expect 0 "$umwelt" kernels -np 2 --workers $processes --force --report r.json "$program" </dev/null
  cat native native | cmp - stdout || fail "expected what it says natively"
  python3 - <<'END' || fail "profile"
import json
profile = json.load(open("r.json"))["profile"]
ticks = {(one["object"], one["function"]): one["ticks"] for one in profile}
most = ticks["kernels_profiled", "spend_most"]
assert (profile[0]["function"], profile[0]["ticks"]) == ("spend_most", most), profile
assert most > 10 and most > 2 * ticks.get(("kernels_profiled", "spend_little"), 0), profile
assert most > sum(ticks.values()) / 2, profile
assert profile == sorted(profile, key=lambda one: -one["ticks"]), profile
END
  grep -qE '^ *spend_most +kernels_profiled +[0-9]+ +[0-9.]+ %$' stderr || fail "expected it in the summary"
  grep -qE '^# Other functions, .*: spend_most [0-9.]+ %' kernels.yaml || fail "expected a comment"
  grep -qE '^# To count .* umwelt kernels --functions spend_most' kernels.yaml || fail "expected the next step"
done
expect 0 "$umwelt" kernels -np 1 --force --functions spend_most "$program" </dev/null
grep -q '^- name: spend_most$' kernels.yaml || fail "expected its calls to be counted"
grep -qE '^# (Other|To count).*spend_most' kernels.yaml && fail "expected no comment on what is counted"
expect 0 "$umwelt" run -np 1 --report r.json "$program"
grep -q '"profile"' r.json && fail "expected no profile of an ordinary run"
exit 0
