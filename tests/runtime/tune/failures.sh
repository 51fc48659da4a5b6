#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# failures.sh UMWELT-TUNE: what becomes of runs that fail. A script stands in the place of umwelt: it answers as
# collbench does, or does not.
set -u
tune=$1
. "$(dirname "$(readlink -f "$0")")/../cases.sh"

cat >umwelt <<'END'
#!/usr/bin/env bash
case "$*" in
  *--algorithms)
    [[ $* == *--nowhere* ]] && { echo 'umwelt: nowhere' >&2; exit 121; }
    echo "version Open MPI v${VERSION:-4.1.4}"
    for algorithm in '0 ignore' '1 good' '2 dead' '3 wrong' '4 crash' '5 half'; do
      echo "algorithm bcast $algorithm"
    done
    ;;
  *filename*) echo "time 8 ${AGAIN:-100}"; echo 'time 64 150' ;;
  *--narrow*) echo 'umwelt: too few nodes' >&2; exit 121 ;;
  *_algorithm\ 1*) echo 'time 8 100'; echo 'time 64 200' ;;
  *_algorithm\ 2*) exit 122 ;;
  *_algorithm\ 3*) echo 'wrong 8'; echo 'wrong 64' ;;
  *_algorithm\ 4*) echo 'umwelt: rank 1 died' >&2; exit 139 ;;
  *_algorithm\ 5*) echo 'time 64 150'; exit 122 ;;
  *) [ -z "${HANG:-}" ] || { echo "$$" >pid; exec sleep 60; }
     echo 'time 8 300'; echo 'time 64 300' ;;
esac
END
chmod +x umwelt
run() { expect "$1" "$tune" "$PWD/umwelt" collectives --mpi openmpi --functions bcast --sizes 8,64 --ranks 4 "${@:2}"; }
said() { grep -q -- "$1" stdout || fail "expected: $1"; }

run 0 -o out
said '8 B  good .* 0.100 us .* 0.300 us .* 66.7 %'
said '64 B  half .* 0.150 us'
said 'left out: dead: deadlock'
said 'left out: wrong: the result is wrong'
said 'left out: crash: exit code 139: umwelt: rank 1 died'
said 'left out: half of 8 B: deadlock'
said '2 of 2 points'
[ "$(find out -type f | wc -l)" -ge 2 ] || fail "expected files"
grep -q '^openmpi,bcast,4,8,2,dead,0,0,,deadlock$' out/collectives.csv || fail "expected problems in the figures"

# What is promised and does not come true is said.
AGAIN=110 run 0 -o out --force
said '1 of 2 points take as long as was measured; the largest difference is 10 % (bcast of 8 B on 4 ranks'

# Options of umwelt run that it refuses: at once, or when there are too many ranks.
run 121 -o other -- --nowhere
grep -q 'umwelt tune: umwelt: nowhere' stderr || fail "expected what umwelt run has said"
run 121 -o other -- --narrow
grep -q 'too few nodes' stderr || fail "expected what umwelt run has said"
grep -q 'said by: umwelt run --narrow --cpu none' stderr || fail "expected its options"

# Another Open MPI, whose files nobody here knows.
VERSION=5.0.1 run 125 -o other
grep -q 'expected Open MPI 4, .* got Open MPI v5.0.1' stderr || fail "expected its version"
[ -z "$(ls -A other)" ] || fail "expected no file"

# Stopped: the run ends, too, and nothing is left but what was there.
HANG=1 "$tune" "$PWD/umwelt" collectives --mpi openmpi --functions bcast --sizes 8 --ranks 4 -o stopped --jobs 1 \
  >stdout 2>stderr &
process=$!
for ((i = 0; i < 100; ++i)); do
  [ -s pid ] && break
  sleep 0.1
done
kill -TERM $process
wait $process
[ $? = 143 ] || fail "expected exit code 143"
! kill -0 "$(cat pid)" 2>/dev/null || fail "expected no process to be left"
[ -z "$(ls -A stopped)" ] || fail "expected no file"
