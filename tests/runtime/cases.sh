# SPDX-License-Identifier: LGPL-2.1-or-later
# For scripts to source: a directory of their own, and runs in it that end as is said.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
fail() {
  echo "FAILED: $*"
  tail -n 40 stdout stderr
  exit 1
}
expect() { # CODE COMMAND...: its output goes to stdout and stderr; at most $seconds
  local expected=$1
  shift
  timeout --kill-after=5 "${seconds:-60}" "$@" >stdout 2>stderr
  local code=$?
  [ $code = "$expected" ] || fail "$*: exit code $code, expected $expected"
}
