#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# printers.sh UMWELT PROGRAM OPTIONS...: two ranks and three children of each print while the runtime passes on what
# they print. All lines arrive, whole and once.
set -u
umwelt=$1 program=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
lines=5000
options=()
for option in "$@"; do
  options+=("${option//WORK/$work}")
done
"$umwelt" run -q --cpu none -np 2 "${options[@]}" "$program" 3 $lines >"$work/printed" || exit 1
check() { # check FILE...
  cat "$@" | grep -oE "rank [01] writer [0-3] line [0-9]+ of many, and its end$" | sort >"$work/found"
  [ "$(cat "$@" | wc -l)" = $((8 * lines)) ] && [ "$(uniq "$work/found" | wc -l)" = $((8 * lines)) ] && return
  echo "$*: expected $((8 * lines)) lines, got $(cat "$@" | wc -l), \
of them $(uniq "$work/found" | wc -l) whole and different"
  exit 1
}
check "$work/printed"
[ ! -e "$work/files" ] || check "$work"/files/1/rank.*/stdout
