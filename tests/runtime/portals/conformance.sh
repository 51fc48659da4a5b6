#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# conformance.sh PAGE PROGRAM: every rule on the page has a test, and every test it names is one of the program.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Parameters of tests (Seeds/Suite.name/7) do not count.
"$2" --gtest_list_tests | sed 's/ *#.*//' |
  awk '/^[^ ]/ { suite = $1; sub(/.*\//, "", suite) } /^ / { name = $1; sub(/\/.*/, "", name); print suite name }' |
  sort -u >"$work/there"
rows=$(grep '^|' "$1" | grep -vE '^\|( rule |---|[^|]*\*\* *\|)')
named=$(grep -oE '`[A-Z][A-Za-z]*\.[a-z_0-9]+`' <<<"$rows" | tr -d '`' | sort -u)
[ -n "$named" ]
if lacking=$(grep -vE '`[A-Z][A-Za-z]*\.[a-z_0-9]+`[` A-Za-z._0-9]* \|$' <<<"$rows"); then
  printf '%s: rules without a test:\n%s\n' "$1" "$lacking"
  exit 1
fi
if missing=$(comm -23 - "$work/there" <<<"$named" | grep .); then
  printf '%s names tests that are not in %s:\n%s\nNext step: correct the names or write the tests.\n' \
    "$1" "$2" "$missing"
  exit 1
fi
echo "$(wc -l <<<"$rows") rules, $(wc -l <<<"$named") tests"
