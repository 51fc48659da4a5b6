#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# tidy.sh BUILD [DIRECTORY...]: clang-tidy 14 (.clang-tidy) finds nothing in the C and C++ files of these directories
# that BUILD compiles; default: all of ours. Each file once, on all processors.
set -euo pipefail
build=$(realpath "$1")
shift
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
(($# > 0)) || set -- net_models platforms loader preload runtime tests

files=$(python3 - "$build/compile_commands.json" "$PWD" "$@" <<'END'
import json, pathlib, sys

root = pathlib.Path(sys.argv[2])
wanted = [root / directory for directory in sys.argv[3:]]
built = {pathlib.Path(entry["file"]) for entry in json.load(open(sys.argv[1]))}
for file in sorted(built):
    if file.suffix in (".c", ".cpp") and any(file.is_relative_to(directory) for directory in wanted):
        print(file)
END
)
[[ -n $files ]] || { echo "tidy.sh: expected files of $* in $build/compile_commands.json, got none" >&2; exit 1; }
# Options and attributes that only GCC has; functions that are interposed get the null that their headers forbid.
xargs --max-procs="$(nproc)" --max-args=1 clang-tidy-14 -p "$build" --quiet --extra-arg=-Wno-unknown-warning-option \
  --extra-arg=-Wno-ignored-optimization-argument --extra-arg=-Wno-unknown-attributes \
  --extra-arg=-Wno-pointer-bool-conversion <<<"$files" 2> >(grep -vE '^[0-9]+ warnings? ' >&2)
