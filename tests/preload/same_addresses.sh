#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# same_addresses.sh UMWELT PROGRAM: ranks have the same addresses if that is asked for, else not.
set -euo pipefail
umwelt=$1 program=$2
fail() {
  echo "FAILED: $*"
  exit 1
}
for cpu in none measured; do
  for command in "--same-addresses -np 4 $program" "-np 4 setarch -R $program" "-np 17 setarch x86_64 -R $program" \
    "-np 4 setarch -R sh -c $program"; do
    lines=$("$umwelt" run -q --cpu $cpu $command)
    [ "$(sort -u <<<"$lines" | wc -l)" = 1 ] || fail "addresses differ: $command: $lines"
    grep -q '^same: .*above' <<<"$lines" || fail "expected same, above: $command: $lines"
  done
  lines=$("$umwelt" run -q --cpu $cpu -np 4 "$program")
  [ "$(sort -u <<<"$lines" | wc -l)" = 4 ] || fail "four ranks in one process, expected four addresses: $lines"
  [ "$(grep -c '^random: .*above' <<<"$lines")" = 4 ] || fail "expected random, above: $lines"
done
message=$("$umwelt" run --workers 0 --same-addresses -np 2 "$program" 2>&1) && fail "--workers 0 is not refused"
grep -q "is to have the same addresses in all ranks" <<<"$message" || fail "the refusal does not say why: $message"
