#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
#   netpipe.sh UMWELT [OPTION...]
#
# The distribution's NetPIPE between two nodes: 8 bytes take 1.2 to 3 us one way on the network alone, and with Open
# MPI's own computing not less (how much more depends on the machine that runs this); a larger message never takes less
# time than a smaller one, and large ones approach the fabric's bandwidth without passing it.
set -euo pipefail
umwelt=$1
shift
options=("$@")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# netpipe FILE OPTION... -- NETPIPE_OPTION...: FILE gets lines of bytes, Mbit/s, seconds for one way (printed with 10
# ns)
netpipe() {
  local file=$1 code=0 run=()
  shift
  while [[ $1 != -- ]]; do
    run+=("$1")
    shift
  done
  shift
  timeout --kill-after=5 "${UMWELT_TEST_TIMEOUT:-120}" "$umwelt" run -q -np 2 "${run[@]}" "${options[@]}" \
    NPopenmpi -p 0 "$@" -o "$file" </dev/null >log 2>&1 || code=$?
  if ((code != 0)); then
    echo "NPopenmpi $*: expected exit code 0, got $code:"
    cat log
    exit 1
  fi
}

# in_range POLICY LEAST MOST, in s: what 8 bytes take
in_range() {
  netpipe small --cpu "$1" -- -l 8 -u 8 -n 500
  awk -v policy="$1" -v least="$2" -v most="$3" '
    { printf "%d bytes, --cpu %s: %.2f us\n", $1, policy, $3 * 1e6 }
    $1 == 8 && $3 >= least && $3 <= most { found = 1 }
    END {
      if (!found) printf "NPopenmpi: expected 8 bytes to take %.2f to %.2f us, got the above\n", least * 1e6, most * 1e6
      exit !found
    }' small
}
in_range none 1.2e-6 3e-6
in_range measured "$(awk '{ print $3 }' small)" 1e-3

# The curve without the noise of the machine that simulates.
netpipe curve --cpu none -- -u 4194304 -n 50
awk '
  function complain(text) { print "NPopenmpi: " text; problems = 1 }
  { points++; bytes[points] = $1; rate[points] = $2; time[points] = $3 }
  # the mtl of Open MPI changes its protocol at 255 bytes and is 4 % faster from there.
  points > 1 && $3 < time[points - 1] * 0.95 - 1e-8 {
    complain("expected " $1 " bytes to take at least as long as " bytes[points - 1] \
      ", got " $3 " s after " time[points - 1] " s")
  }
  END {
    if (points < 30) complain("expected a curve of at least 30 sizes, got " points + 0)
    peak = rate[points] / 8000
    if (peak < 9 || peak > 12.5) complain("expected 9 to 12.5 GB/s at " bytes[points] " bytes, got " peak)
    printf "%d bytes: %.2f GB/s\n", bytes[points], peak
    exit problems
  }' curve
