#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# make_programs.sh DIRECTORY CC: files that cannot be run, one for each reason.
set -euo pipefail
cd "$1"
cc=$2
rm -f static no-pie arm needs-absent set-uid text plain.txt script.sh orphan.sh child.sh exec.sh bad-hosts app.py \
  executable.py libabsent.so liboshmem.so.40 oshmem needs-symbol libsymbol.so nested good made
echo 'int main(void) { return 0; }' >good.c
"$cc" -o good good.c
"$cc" -static -o static good.c
"$cc" -no-pie -o no-pie good.c
cp good arm
printf '\xb7\x00' | dd of=arm bs=1 seek=18 conv=notrunc status=none # e_machine: AArch64
echo 'int absent(void) { return 0; }' | "$cc" -shared -fPIC -o libabsent.so -x c -
echo 'int absent(void); int main(void) { return absent(); }' >needs-absent.c
"$cc" -o needs-absent needs-absent.c -L. -labsent
rm libabsent.so
echo 'int oshmem(void) { return 0; }' | "$cc" -shared -fPIC -Wl,-soname,liboshmem.so.40 -o liboshmem.so.40 -x c -
echo 'int oshmem(void); int main(void) { return oshmem(); }' >oshmem.c
"$cc" -o oshmem oshmem.c ./liboshmem.so.40 -Wl,-rpath,"$PWD"
echo 'int symbol(void) { return 0; }' | "$cc" -shared -fPIC -o libsymbol.so -x c -
echo 'int symbol(void); int main(void) { return symbol(); }' |
  "$cc" -Wl,-z,lazy -Wl,-rpath,"$PWD" -o needs-symbol -x c - -L. -lsymbol
echo 'int other(void) { return 0; }' | "$cc" -shared -fPIC -o libsymbol.so -x c - # another version
echo 'int call(int (*f)(void)) { return f(); }
int main(int n, char** v) { int one(void) { return n; } return call(one) - 1; }' |
  "$cc" -o nested -x c - 2>"$PWD"/warnings # trampolines on an executable stack
cp good set-uid
chmod u+s set-uid
echo 'just text' >text
chmod +x text
echo 'just text' >plain.txt
printf '#!/bin/sh\necho "script $OMPI_COMM_WORLD_RANK of $OMPI_COMM_WORLD_SIZE"\n' >script.sh
printf '#!/bin/sh\n/usr/bin/env true && echo "child done"\n' >child.sh
printf '#!/bin/sh\nexec %s/good\n' "$PWD" >exec.sh
printf '#!/no/such/interpreter\n' >orphan.sh
chmod +x script.sh orphan.sh child.sh exec.sh
echo 'print(1)' >app.py
cp app.py executable.py
chmod +x executable.py
printf 'bxi0 slots=1\nbxi1 slots=many\n' >bad-hosts
touch made
