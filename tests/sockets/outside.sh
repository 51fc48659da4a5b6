#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
#   outside.sh UMWELT PROGRAM
#
# The program finds what it expects, and what it tried to reach outside is said once.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
timeout --kill-after=5 50 "$1" run --cpu none -np 2 "$2" >"$work/stdout" 2>"$work/stderr" </dev/null ||
  { cat "$work"/std*; exit 1; }
if [[ $(<"$work/stdout") != "as expected" ]]; then
  echo "expected 'as expected', got:"
  cat "$work"/std*
  exit 1
fi
said=$(grep -c "socket to 192.0.2.1: expected an address of the simulated machine" "$work/stderr" || true)
if [[ $said != 1 ]]; then
  echo "expected one line about 192.0.2.1, got $said:"
  cat "$work/stderr"
  exit 1
fi
