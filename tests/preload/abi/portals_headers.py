#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""portals_headers.py ROOT: the constants of the three portals4.h are those of preload/abi/portals_constants.def, every
constant of the canonical one has its row there, and structures have the sizes that programs are compiled with."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

root = pathlib.Path(sys.argv[1])
abi = root / "preload/abi"
directories = {"4.3": abi, "4.2": abi / "portals_4_2", "BXI": abi / "portals_bxi"}
sizes = {"4.3": (32, 32, 64, 80), "4.2": (32, 32, 64, 80), "BXI": (40, 64, 64, 96)}
alike = {"ptl_process_t": 8, "ptl_iovec_t": 16, "ptl_ct_event_t": 16, "ptl_ni_limits_t": 96}
# handles, masks of options and ends of ranges; what 4.3 calls PTL_INTERRUPTED
no_rows = re.compile(r"PTL_(EQ_NONE|CT_NONE|INVALID_HANDLE|ABORTED|.*_MASK|.*_LAST)$")

rows = {}
for line in (abi / "portals_constants.def").read_text().splitlines():
    if row := re.match(r"UMW_PTL_(\w+)\((\w+), ([^,]+), ([^,]+), ([^)]+)\)", line):
        group, name, *columns = row.groups()
        names = ["PTL_ME_" + name, "PTL_LE_" + name] if group == "ENTRY_OPTION" else [name]
        for each in names:
            assert each not in rows, each + " twice"
            rows[each] = dict(zip(directories, columns))
assert len(rows) > 150, len(rows)

header = re.sub(r"/\*.*?\*/", "", (abi / "portals4.h").read_text(), flags=re.S)
constants = set(re.findall(r"#define (PTL_\w+)", header)) | set(re.findall(r"\b(PTL_\w+) = ", header))
missing = sorted(name for name in constants if name not in rows and not no_rows.match(name))
assert not missing, "without a row: " + " ".join(missing)

for name, directory in directories.items():
    text = "#include <portals4.h>\n"
    text += "#define BITS(constant) (sizeof(constant) == 4 ? 0xffffffffULL : ~0ULL)\n"
    text += "#define SAME(constant, value) ((unsigned long long)(constant) & BITS(constant)) == value\n"
    for constant, columns in rows.items():
        value = columns[name]
        if value != "UMW_ABSENT":
            text += f'_Static_assert(SAME({constant}, {value}ULL), "{constant}");\n'
    structures = dict(zip(("ptl_md_t", "ptl_le_t", "ptl_me_t", "ptl_event_t"), sizes[name])) | alike
    for structure, size in structures.items():
        text += f'_Static_assert(sizeof({structure}) == {size}, "{structure}");\n'
    with tempfile.TemporaryDirectory() as work:
        source = pathlib.Path(work) / "constants.c"
        source.write_text(text)
        subprocess.run([os.environ.get("CC", "cc"), "-fsyntax-only", f"-I{directory}", f"-I{root}", source], check=True)
print(len(rows), "constants")
