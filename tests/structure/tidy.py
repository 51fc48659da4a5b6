#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""clang-tidy 14 (.clang-tidy) finds nothing in the C and C++ files of these directories that BUILD compiles. Each file
once, on all processors. Without the analyzer (--no-analyzer, as ci/test does it) in half the time.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
OURS = ("net_models", "platforms", "loader", "preload", "runtime", "tests")
# Functions that are interposed get the null that their headers forbid.
LENIENT = ("-Wno-unknown-warning-option", "-Wno-ignored-optimization-argument", "-Wno-unknown-attributes",
           "-Wno-pointer-bool-conversion")


def without_precompiled(words: list[str]) -> list[str]:
    """GCC's precompiled headers are no use to clang, which takes them for its own and gives up."""
    left: list[str] = []
    for word in words:
        if left and left[-1] == "-include" and word.endswith("cmake_pch.hxx"):
            left.pop()
        elif word != "-Winvalid-pch":
            left.append(word)
    return left


def database(build: pathlib.Path, wanted: list[pathlib.Path]) -> list[dict]:
    entries: dict[str, dict] = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        file = pathlib.Path(entry["file"])
        if file.suffix in (".c", ".cpp") and any(file.is_relative_to(directory) for directory in wanted):
            entries[entry["file"]] = {"directory": entry["directory"], "file": entry["file"],
                                      "arguments": without_precompiled(shlex.split(entry["command"]))}
    return [entries[file] for file in sorted(entries)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("paths", nargs="*", default=OURS, help="directories or files; default: all of ours")
    parser.add_argument("--no-analyzer", action="store_true")
    arguments = parser.parse_intermixed_args()
    wanted = [ROOT / path for path in arguments.paths]
    entries = database(arguments.build, wanted)
    if not entries:
        sys.exit(f"tidy.py: expected files of {' '.join(arguments.paths)} in {arguments.build}/compile_commands.json, "
                 "got none. Next step: cmake --preset release, and paths relative to the project")
    with tempfile.TemporaryDirectory() as directory:
        (pathlib.Path(directory) / "compile_commands.json").write_text(json.dumps(entries))
        command = ["clang-tidy-14", "-p", directory, "--quiet",
                   f"--header-filter=^{ROOT}/({'|'.join(OURS)})/", *(f"--extra-arg={word}" for word in LENIENT)]
        if arguments.no_analyzer:
            command.append("--checks=-clang-analyzer-*")

        def check(entry: dict) -> bool:
            result = subprocess.run([*command, entry["file"]], capture_output=True, text=True, check=False)
            if result.returncode != 0:
                print(result.stdout + (result.stderr if not result.stdout else ""), end="", flush=True)
            return result.returncode == 0

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            found = sum(not clean for clean in pool.map(check, entries))
    print(f"{len(entries)} files, {found} with findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
