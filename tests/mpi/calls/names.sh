#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# names.sh LIBRARY COUNT: libumwelt-mpi.so has every function of MPI, in C and Fortran, of the distribution's MPI
# libraries, which are at least COUNT: whatever they have a PMPI form of, by all names that they give it.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
exports() { nm -D --defined-only "$@" | awk '$2 == "T" || $2 == "W" { print $3 }' | sed 's/@.*//'; }
libraries=()
for name in libmpi.so.40 libmpi_mpifh.so.40 libmpi_usempif08.so.40 libmpich.so.12 libmpichfort.so.12; do
  for place in /usr/lib/x86_64-linux-gnu /usr/lib64; do
    if [[ -e $place/$name ]]; then libraries+=("$place/$name"); fi
  done
done
exports "${libraries[@]}" | sort -u >"$work/there"
# In C and Fortran: those with a form that begins with P. Those of mpi_f08 have none. No calls of MPI are predefined
# functions of the program's (..._fn), conversions of a status or session, what the compiler is told by MPI_F_SYNC_REG,
# MPI_SIZEOF, what MPICH has of MPI 4.1 (runtime/LIMITATIONS.md), and extensions (MPIX_) that are no collectives.
of_4_1='buffer_i?flush|(comm|session)_(attach|detach)_buffer|(comm|session)_i?flush_buffer|get_hw_resource_info'
of_4_1+='|remove_error_(class|code|string)|request_get_status_(all|any|some)|session_set_info|status_set_elements_c'
of_4_1+='|status_(get|set)_(error|source|tag)|type_get_value_index'
extensions='comm|gpu|grequest|query|info|stream|threadcomm|type|start|stop|wait|waitall|[a-z]*_enqueue'
conversions='session_(c2f|f2c)|status_(c2f08|f082c|f2f08|f082f)'
{
  sed -nE 's/^P(MPIX?_[A-Z].*)$/\1/p; s/^p(mpix?_.*)$/\1/p' "$work/there" |
    grep -vE '_f(08)?$|_large$|^MPIX?_[A-Za-z0-9_]*_F08'
  grep -E '^mpix?_.*_f08(ts)?_$' "$work/there"
} | grep -viE \
  "_fn_*\$|_fn_null_*\$|_f_sync_reg|_sizeof_|_delete_error_|^mpix_($extensions)(_|\$)" |
  grep -viE "^mpi_($of_4_1|$conversions)(_c)?(_*|_f08(ts)?_)\$" |
  sort -u | comm -12 - "$work/there" >"$work/wanted"
exports "$1" | sort -u >"$work/ours"
if (($(wc -l <"$work/wanted") < $2)); then
  echo "expected $2 names or more, got $(wc -l <"$work/wanted")"
  exit 1
fi
comm -23 "$work/wanted" "$work/ours" | tee "$work/missing"
[[ ! -s $work/missing ]]
# and by the name for tools
sed -nE 's/^(MPIX?_[A-Z][a-z].*)$/P\1/p' "$work/wanted" | comm -12 - "$work/there" | comm -23 - "$work/ours" |
  tee "$work/missing"
[[ ! -s $work/missing ]]
echo "$(wc -l <"$work/wanted") names"
