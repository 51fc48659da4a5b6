#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# installation.sh UMWELT PROGRAM: a copy of the installation without one of its files, or with another build's: what
# `umwelt run` fails without, `umwelt doctor` fails for, too, and both say what to do.
set -u
program=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/lib"
cp "$1" "$work/bin"
cp -rL "$(dirname "$(dirname "$1")")/lib/umwelt" "$work/lib"
umwelt=$work/bin/umwelt libraries=$work/lib/umwelt
fail() {
  echo "FAILED: $*"
  cat "$work/out"
  exit 1
}
finding() { grep -A 1 "^$1 *$2" "$work/out" | tr '\n' ' '; } # finding HEALTH SUBJECT: with its advice
"$umwelt" doctor >"$work/out" || fail "the whole installation"
"$umwelt" run -q --cpu none -np 2 "$program" >"$work/out" 2>&1 || fail "run of the whole installation"
for library in libumwelt-preload.so libumwelt-wrapper.so libportals.so.4 libportals.so.1; do
  mv "$libraries/$library" "$work/saved"
  "$umwelt" doctor >"$work/out" && fail "doctor is content without $library"
  finding FAIL $library | grep -q "No such file.*-> Install Umwelt again" || fail "no advice about $library"
  "$umwelt" run -np 2 "$program" >"$work/out" 2>&1
  [ $? = 125 ] && grep -q "$library: expected a part of Umwelt, got: No such file.*Next step" "$work/out" ||
    fail "run without $library"
  LC_ALL=C sed 's/@(#)umwelt ./@(#)umwelt x/' "$work/saved" >"$libraries/$library"
  "$umwelt" doctor >"$work/out" && fail "doctor is content with another $library"
  finding FAIL $library | grep -q "version x.*, but this is umwelt .*->" || fail "no word about the other $library"
  mv "$work/saved" "$libraries/$library"
done
rm "$libraries/openmpi/mca_btl_portals4.so"
"$umwelt" doctor >"$work/out" && fail "doctor is content without a component"
finding FAIL "Portals components" | grep -q "mca_btl_portals4.so is missing.*->" || fail "no advice about the component"
rm "$libraries/umwelt-calibrate"
"$umwelt" doctor >"$work/out"
finding WARN "umwelt calibrate" | grep -q "No such file.*->" || fail "no word about umwelt calibrate"
