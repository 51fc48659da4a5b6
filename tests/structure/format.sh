#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# format.sh CLANG_FORMAT ROOT: every C and C++ file is as clang-format would write it (.clang-format).
set -euo pipefail
cd "$2"
files=$(find loader net_models platforms preload runtime tests -name '*.[ch]' -o -name '*.cpp')
[[ $(wc -l <<<"$files") -gt 100 ]] || { echo "expected the project's sources below $2, got: $files"; exit 1; }
# shellcheck disable=SC2086
"$1" --dry-run --Werror $files || { echo "Next step: $1 -i on those files"; exit 1; }
