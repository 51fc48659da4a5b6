#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# rank_files.sh DIRECTORY COMMAND...: a rank under Open MPI's mpirun, what it writes to DIRECTORY/RANK/{stdout,stderr}.
# mpirun 5.0.7 does not do so for ranks that write to both.
directory=$1/$OMPI_COMM_WORLD_RANK
shift
mkdir -p "$directory"
exec "$@" >"$directory/stdout" 2>"$directory/stderr"
