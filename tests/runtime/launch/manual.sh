#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# manual.sh UMWELT: the manual page is one that groff has nothing to say about, and man shows. Ends with 77 where there
# is neither.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$1" help --man >"$work/umwelt.1" || exit 1
command -v groff >/dev/null || command -v man >/dev/null || exit 77
if command -v groff >/dev/null; then
  groff -man -Tutf8 -P-c -P-b -P-u -ww "$work/umwelt.1" >"$work/shown" 2>"$work/warnings" || exit 1
  if [ -s "$work/warnings" ]; then
    cat "$work/warnings"
    exit 1
  fi
  grep -q "Most used" "$work/shown" || exit 1
fi
if command -v man >/dev/null; then
  MANWIDTH=120 MANOPT='' man -l "$work/umwelt.1" 2>"$work/warnings" | grep -q -- "--ranks-per-worker" || exit 1
  if [ -s "$work/warnings" ]; then
    cat "$work/warnings"
    exit 1
  fi
fi
