#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# results.sh CASE UMWELT PROGRAM: what --report, --output-filename and the like write to. Devices are the test's own
# (mknod, which needs root).
set -u
case=$1 umwelt=$2 program=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
fail() {
  echo "FAILED: $*"
  ls -l "$work"
  exit 1
}
device() { # NAME MINOR
  mknod -m 666 "$1" c 1 "$2" 2>/dev/null || { echo "skipped: mknod needs root"; exit 77; }
}
run() { # CODE PATTERN OPTIONS...
  local expected=$1 pattern=$2
  shift 2
  timeout --kill-after=5 60 "$umwelt" run --cpu none -np 2 "$@" "$program" ${argument:-} </dev/null >stdout 2>stderr
  local code=$?
  [ $code = "$expected" ] || { cat stderr; fail "$*: exit code $code, expected $expected"; }
  tr '\n' ' ' <stderr | grep -qE -- "$pattern" || { cat stderr; fail "$*: standard error does not match $pattern"; }
}
only() { # files that may be there
  [ "$(ls -A | grep -v '^std' | tr '\n' ' ')" = "$* " ] || fail "expected $* and nothing else"
}
is_report() { grep -q '"report_version": [0-9]' "$1" || fail "$1 is no report"; }
case $case in
null)
  device null 3
  ln -s null link
  run 0 completed --report null
  run 0 completed --report link --trace null --trace-format csv
  [ -c null ] && [ -L link ] || fail "replaced"
  only link null
  ;;
full)
  device full 7
  run 125 "completed.*--report full: expected all of it to be written, got: No space left.*Make room" --report full
  run 125 "--trace full: expected all of it to be written, got: No space left.*Make room.*--trace-ranks" \
    --trace full --trace-format csv
  program="$program exit" # an exit code of its own counts more
  timeout 60 "$umwelt" run --trace full --trace-format perfetto --report full -np 2 $program 2>stderr
  [ $? = 3 ] && grep -q -- "--trace full: expected" stderr && grep -q -- "--report full: expected" stderr ||
    { cat stderr; fail "exit code"; }
  "$umwelt" platforms >full 2>stderr
  [ $? = 125 ] && grep -q "standard output: expected all of it to be written" stderr || fail "platforms"
  [ -c full ] || fail "replaced"
  only full
  ;;
link)
  mkdir far
  ln -s far/report.json link
  run 0 completed --report link
  [ -L link ] && [ ! -L far/report.json ] && is_report far/report.json || fail "no link"
  run 0 completed --report link # once more: there is one now
  [ "$(ls -A far)" = report.json ] || fail "left in far"
  ;;
fifo)
  mkfifo fifo
  cat fifo >copy &
  run 0 completed --report fifo
  wait
  is_report copy
  [ -p fifo ] || fail "replaced"
  # Nobody reads: it says so, and can be interrupted.
  timeout -s INT 2 "$umwelt" run --report fifo -np 2 "$program" 2>stderr
  grep -q "fifo: a FIFO; waiting for somebody to read it" stderr || fail "does not say that it waits"
  only copy fifo
  ;;
stdout)
  program=${program%misbehave}report
  run 0 "rank 1 to stderr" -q --report /dev/stdout
  is_report stdout
  grep -q '^rank 1 of 2' stdout || fail "output of the program is gone"
  timeout 60 "$umwelt" run --cpu none -np 2 --report >(cat >copy) "$program" >/dev/null 2>&1 ||
    fail "process substitution"
  sleep 0.2
  is_report copy
  ;;
refused)
  run 121 \
    "--report absent/r.json: expected a file that can be written, got: No such file or directory.*Check the directory" \
    --report absent/r.json
  run 121 "--report .: expected a file that can be written, got: Is a directory" --report .
  run 121 "--report a: expected a file of its own, got that of --trace ./a" --report a --trace ./a --trace-format csv
  run 121 "--html ./a: expected a file of its own, got that of --trace a" --html ./a --trace a --trace-format csv
  ln -s b c
  touch b
  run 121 "--report b: expected a file of its own, got that of --html c" --report b --html c
  rm b c
  # before a wrapper runs
  timeout 60 "$umwelt" run -np 1 --report absent/r.json sh -c "touch ran; exec $program" 2>stderr
  [ $? = 121 ] || fail "exit code with a wrapper"
  [ ! -e ran ] || fail "the wrapper has run"
  run 121 "speeed" --report r.json --nic speeed=1
  [ -z "$(ls -A | grep -v '^std')" ] || fail "something is left"
  ;;
killed)
  echo old >r.json
  timeout --preserve-status -s KILL 3 "$umwelt" run --report r.json --trace t.csv -np 2 "$program" endless 2>stderr
  only r.json
  [ "$(cat r.json)" = old ] || fail "the older report is gone"
  timeout --preserve-status -s INT 3 "$umwelt" run --report r.json --trace t.csv -np 2 "$program" endless 2>stderr
  [ $? = 130 ] || fail "exit code"
  only r.json t.csv
  is_report r.json
  ;;
ranks) # --output-filename: written in place as it grows
  program=${program%misbehave}report
  mkdir -p out/1/rank.0 out/1/rank.1 far
  mkfifo out/1/rank.0/stdout
  ln -s ../../../far/text out/1/rank.1/stdout
  echo old >far/text
  echo old >out/1/rank.1/stderr
  echo mine >out/note
  cat out/1/rank.0/stdout >copy &
  run 0 completed --output-filename out
  wait
  grep -q '^rank 0 of 2' copy && [ -p out/1/rank.0/stdout ] || fail "FIFO"
  grep -q '^rank 1 of 2' far/text && [ -L out/1/rank.1/stdout ] && ! grep -q old far/text || fail "link"
  [ "$(cat out/1/rank.1/stderr out/note)" = "$(printf 'rank 1 to stderr\nmine')" ] || fail "files that were there"
  grep -q '^rank 1 of 2' stdout || fail "not on standard output"
  rm -rf out/1
  # In place from the start, whoever reads it; nothing twice.
  run 0 completed --output-filename out:nojobid,nocopy
  grep -q '^rank 1 of 2' out/rank.1/stdout && [ ! -s stdout ] || fail "nocopy"
  ;;
ranks-full)
  program=${program%misbehave}report
  mkdir -p out/1/rank.0 out/1/rank.1
  device out/1/rank.1/stdout 7
  device out/1/rank.0/stderr 3
  for how in out out:nocopy; do
    run 125 "completed.*--output-filename [^ ]*/out/1/rank.1/stdout: expected all of it to be written, \
got: No space left on device after 0 bytes.*Make room or name another directory" --output-filename $how
    grep -q "rank\.0/" stderr && fail "rank 0 has no such trouble"
  done
  [ -c out/1/rank.1/stdout ] && grep -q '^rank 0 of 2' out/1/rank.0/stdout || fail "replaced"
  argument=3 # an exit code of its own counts more
  run 3 "rank.1/stdout: expected all of it" --output-filename out
  # A reader that goes away
  rm out/1/rank.1/stdout
  mkfifo out/1/rank.1/stdout
  : <out/1/rank.1/stdout &
  argument=
  run 125 "rank.1/stdout: expected all of it to be written, got: Broken pipe" --output-filename out
  ;;
ranks-refused)
  program=${program%misbehave}report
  mkdir -p out/1/rank.0 out/1/rank.1/stdout
  echo old >out/1/rank.0/stdout
  run 121 "--output-filename [^ ]*/out/1/rank.1/stdout: expected a file that can be written, got: Is a directory" \
    --output-filename out
  [ "$(cat out/1/rank.0/stdout)" = old ] && [ ! -e out/1/rank.0/stderr ] || fail "rank 0's has been touched"
  run 121 "--output-filename out/1/rank.0/stdout/x: expected a directory where files can be made, \
got [^ ]*/stdout: Not a directory" --output-filename out/1/rank.0/stdout/x
  # before a wrapper runs
  timeout 60 "$umwelt" run -np 1 --output-filename out/1/rank.0/stdout sh -c "touch ran; exec $program" 2>stderr
  [ $? = 121 ] && [ ! -e ran ] || fail "the wrapper has run"
  ;;
esac
