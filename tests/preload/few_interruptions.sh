#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# few_interruptions.sh UMWELT MOST OPTION... -- PROGRAM...: the program ends well, and there have been at most MOST
# events of the simulation, crossings and interruptions of threads that go on without a call. (A report that is to be
# the same every time does not count the last.)
set -eu
umwelt=$1
most=$2
shift 2
options=()
while [ "$1" != -- ]; do
  options+=("$1")
  shift
done
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$umwelt" run -q --report "$work/report" "${options[@]}" -np 1 "$@"
count() { awk -F: -v key="\"$1\"" '$1 ~ key { found = $2 + 0; exit } END { print found + 0 }' "$work/report"; }
total=$(($(count timeline_events) + $(count crossings) + $(count interruptions)))
echo "$total: $(count timeline_events) events, $(count crossings) crossings, $(count interruptions) interruptions"
[ $total -le "$most" ]
