#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# completion.sh UMWELT: the completion for bash knows all options and functions of `umwelt tune collectives`.
set -u
umwelt=$1
. "$(dirname "$(readlink -f "$0")")/../cases.sh"

expect 0 "$umwelt" completion bash
. ./stdout
expect 121 "$umwelt" tune collectives --functions nothing
functions=$(sed -n 's/.*expected some of \(.*\), got.*/\1/p' stderr)
expect 0 "$umwelt" tune collectives --help
options=$(grep -oE -- '--[a-z][a-z-]+' stdout | grep -vE -- '--(cpu|platform|nic|mca)$' | sort -u)
[ -n "$functions" ] && [ -n "$options" ] || fail "expected functions and options"

offered() { # LINE: what is offered for the last word of it
  COMP_LINE=$1 COMP_POINT=${#1}
  _umwelt
  echo " ${COMPREPLY[*]} "
}
for option in $options; do
  [[ $(offered "umwelt tune collectives $option") == *" $option "* ]] || fail "expected $option"
done
for function in $functions all; do
  [[ $(offered "umwelt tune collectives --functions $function") == *" $function "* ]] || fail "expected $function"
done
[[ $(offered 'umwelt tune collectives --functions bcast,allr') == ' bcast,allreduce ' ]] ||
  fail "expected bcast,allreduce"
[[ $(offered 'umwelt tune collectives --platform drag') == ' dragonfly ' ]] || fail "expected options of umwelt run"
