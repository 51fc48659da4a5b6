#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
#   components.sh OMPI_INFO DIRECTORY
#
# The installed Open MPI opens all four Portals components of DIRECTORY: versions agree and every symbol is found. A
# component that cannot be opened is skipped without a word, so its absence would only show as a slow or failing run.
set -euo pipefail
own=$("$1" --path pkglibdir --parsable | cut -d: -f3)
listed=$(OMPI_MCA_mca_base_component_path=$2:$own "$1")
for framework in mtl btl osc coll; do
  if ! grep -qE "MCA $framework: portals4 " <<<"$listed"; then
    echo "$2/mca_${framework}_portals4.so: expected ompi_info to list it, got none. What the dynamic linker says:"
    LD_BIND_NOW=1 ldd -r "$2/mca_${framework}_portals4.so" 2>&1 | grep -E 'not found|undefined' || true
    exit 1
  fi
done
