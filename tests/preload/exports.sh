#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# exports.sh UMWELT LIBRARY...: every symbol that what is preloaded exports has its row in the tables, and every row its
# symbol.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# symbols with a leading umw_ are Umwelt's own
nm -D --defined-only "${@:2}" | awk '$2 == "T" || $2 == "W" { print $3 }' | sed 's/@.*//' | grep -v '^umw_' | sort -u \
  >"$work/exported"
"$1" coverage | awk -F'|' 'NF > 4 && $2 !~ /Symbol|---/ { gsub(/[ `]/, "", $2); print $2 }' | sort -u >"$work/listed"
[ -s "$work/listed" ]
diff "$work/listed" "$work/exported" && echo "$(wc -l <"$work/listed") symbols"
