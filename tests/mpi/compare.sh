#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Runs an MPI program natively, or under Umwelt and compares it with the native run.
#
#   compare.sh native   DIRECTORY NP PROGRAM [ARGUMENT...]
#   compare.sh emulated DIRECTORY UMWELT NP [OPTION...] -- PROGRAM [ARGUMENT...]
#
# DIRECTORY keeps the native result (one native run serves several emulated ones) and the files of each emulated run.
# Compared are the exit code and what the ranks wrote to stdout and stderr: lines that begin with "[rank] ", rank by
# rank in the order in which each rank wrote them; between ranks MPI promises no order. Other lines are the launchers'
# own.
#
# Environment: UMWELT_TEST_INPUT file for stdin (default: empty), UMWELT_TEST_TIMEOUT seconds until a run is ended
# (default 60), UMWELT_TEST_SPAWNS set if ranks start others: natively these are reached through TCP only, and have no
# files of their own.
set -euo pipefail

# Open MPI as a user gets it, told that the test machine has fewer cores than ranks; what a rank writes to a file of its
# own. Of 4.1 without cross-memory attach, which containers forbid; one-sided over messages and shared memory, since its
# osc rdma crashes in MPI_Compare_and_swap over vader. Of 5.0 over loopback alone, since its btl tcp finds no way from
# another interface to itself; files are made by the ranks (rank_files.sh), whose results are in them where they spawn
# nobody.
native_mpirun() { # DIRECTORY NP PROGRAM [ARGUMENT...] [: -np NP PROGRAM [ARGUMENT...]]...
  local files=$1 own=()
  shift
  mpirun=(mpirun.openmpi --allow-run-as-root --oversubscribe --bind-to none)
  if [[ $(mpirun.openmpi --version) == *"(OpenRTE) 4."* ]]; then
    mpirun+=(--mca btl "self,vader${UMWELT_TEST_SPAWNS:+,tcp}" --mca btl_vader_single_copy_mechanism none
      --mca osc "sm,pt2pt" --output-filename "$files" -np "$@")
    return
  fi
  mpirun+=(--mca btl "self,sm${UMWELT_TEST_SPAWNS:+,tcp}" --mca btl_tcp_if_include lo)
  [[ ${UMWELT_TEST_SPAWNS:-} ]] || own=("$(dirname "${BASH_SOURCE[0]}")/rank_files.sh" "$files")
  mpirun+=(-np "$1" "${own[@]}")
  shift
  while (($# > 0)); do
    if [[ $1 == : ]]; then
      mpirun+=(: "$2" "$3" "${own[@]}")
      shift 3
    else
      mpirun+=("$1")
      shift
    fi
  done
}

input=${UMWELT_TEST_INPUT:-/dev/null}
limit=${UMWELT_TEST_TIMEOUT:-60}

# run PREFIX COMMAND...: leaves PREFIX.{stdout,stderr,exit} and, of the ranks alone, PREFIX.{stdout,stderr}.ranks
run() {
  local prefix=$1 code=0 stream
  shift
  timeout --kill-after=5 "$limit" "$@" <"$input" >"$prefix.stdout" 2>"$prefix.stderr" || code=$?
  echo "$code" >"$prefix.exit"
  for stream in stdout stderr; do
    rank_lines "$prefix.$stream"
  done
}

rank_lines() { # FILE: its lines that ranks wrote, rank by rank, to FILE.ranks
  { grep -aE '^\[[0-9]+\] ' "$1" || true; } | LC_ALL=C sort -s -k1.2,1n >"$1.ranks"
}

# of_ranks PREFIX DIRECTORY: the same from the files of --output-filename. Where ranks write at the same time, a
# line that one of them writes in pieces may have others' pieces in it.
of_ranks() {
  local stream
  for stream in stdout stderr; do
    find "$2" -name "$stream" -print0 | xargs -0r cat >"$1.$stream"
    rank_lines "$1.$stream"
  done
}

show() { # what a failed run wrote
  local stream
  for stream in stdout stderr; do
    echo "--- $1.$stream"
    tail -n 40 "$1.$stream"
  done
}

mode=$1
directory=$2
shift 2
mkdir -p "$directory"
case $mode in
native)
  np=$1
  shift
  rm -rf "$directory"/native.*
  native_mpirun "$directory/native.ranks" "$np" "$@"
  run "$directory/native" "${mpirun[@]}"
  [[ ${UMWELT_TEST_SPAWNS:-} ]] || of_ranks "$directory/native" "$directory/native.ranks"
  # A program that finds a mistake, or nothing to say, is no reference.
  if grep -q FAILED "$directory/native.stdout" || ! [[ -s $directory/native.stdout.ranks ]] ||
    [[ $(<"$directory/native.exit") == 124 ]]; then
    echo "$1: expected a native run with all checks passed, got exit code $(<"$directory/native.exit") and:"
    show "$directory/native"
    exit 1
  fi
  ;;
emulated)
  umwelt=$1
  np=$2
  shift 2
  options=()
  while [[ $1 != -- ]]; do
    options+=("$1")
    shift
  done
  shift
  if ! [[ -e $directory/native.exit ]]; then
    echo "$directory: expected the result of a native run, got none." \
      "Run the test of the same name that ends in .native first."
    exit 1
  fi
  work=$(mktemp -d "$directory/emulated.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  if [[ " ${options[*]} " == *" --ranks-per-worker "* ]]; then # several processes
    run "$work/emulated" "$umwelt" run -q -np "$np" "${options[@]}" --output-filename "$work/ranks" "$@"
    of_ranks "$work/emulated" "$work/ranks"
  else
    run "$work/emulated" "$umwelt" run -q -np "$np" "${options[@]}" "$@"
  fi
  same=true
  for part in exit stdout.ranks stderr.ranks; do
    diff -u --label "native $part" --label "emulated $part" "$directory/native.$part" "$work/emulated.$part" ||
      same=false
  done
  if ! $same; then
    echo "$*: expected the native result under Umwelt too, got the differences above, and this:"
    show "$work/emulated"
    exit 1
  fi
  ;;
*)
  echo "compare.sh: expected 'native' or 'emulated', got '$mode'. See the head of $0." >&2
  exit 2
  ;;
esac
