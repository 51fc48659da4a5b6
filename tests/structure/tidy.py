#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""clang-tidy 14 (.clang-tidy) finds nothing in the C and C++ files of these directories that BUILD compiles. Each file
once, on all processors. Without the analyzer (--no-analyzer, as ci/test does it) in half the time.

Most of that time goes into the headers a file includes, so files compiled alike are looked at together: as one source
that includes them all (--together). Files that do not compile so because two use one name are kept apart; if there is a
finding, the files it is in are looked at without the rest, down to the single file whose finding then counts.

With --minutes, what has not been begun by then is left out, and said to be; files that were changed last come first.
"""
import argparse
import concurrent.futures
import itertools
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
OURS = ("net_models", "platforms", "loader", "preload", "runtime", "tests")
# Functions that are interposed get the null that their headers forbid.
LENIENT = ("-Wno-unknown-warning-option", "-Wno-ignored-optimization-argument", "-Wno-unknown-attributes",
           "-Wno-pointer-bool-conversion")


def for_clang(words: list[str]) -> list[str]:
    """GCC's precompiled headers are no use to clang, which takes them for its own and gives up."""
    left: list[str] = []
    for word in words[1:] if words[0].endswith("ccache") else words:
        if left and left[-1] == "-include" and word.endswith("cmake_pch.hxx"):
            left.pop()
        elif word != "-Winvalid-pch":
            left.append(word)
    return left


def compiled_together(file: pathlib.Path) -> list[str]:
    """Files that one of CMake's unity sources (UMWELT_TOGETHER) includes."""
    return re.findall(r'^#include "(.+)"$', file.read_text(), re.MULTILINE)


def database(build: pathlib.Path, wanted: list[pathlib.Path]) -> list[dict]:
    entries: dict[str, dict] = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        compiled = pathlib.Path(entry["file"])
        words = for_clang(shlex.split(entry["command"]))
        for name in compiled_together(compiled) if compiled.parent.name == "Unity" else [entry["file"]]:
            file = pathlib.Path(name)
            if file.suffix in (".c", ".cpp") and any(file.is_relative_to(directory) for directory in wanted):
                entries[name] = {"directory": entry["directory"], "file": name,
                                 "arguments": [name if word == entry["file"] else word for word in words]}
    return [entries[file] for file in sorted(entries)]


def last_changed(root: pathlib.Path) -> dict[str, int]:
    """When a commit has last changed each file, as far as git knows."""
    log = subprocess.run(["git", "log", "--format=%n%ct", "--name-only"], cwd=root, capture_output=True, text=True,
                         check=False)
    times: dict[str, int] = {}
    when = 0
    for line in log.stdout.splitlines():
        if line.isdigit():
            when = int(line)
        elif line:
            times.setdefault(str(root / line), when)
    return times


def groups(entries: list[dict], most: int) -> list[list[dict]]:
    """At most so many entries each, of one language and the same arguments but for the names of source and object."""
    alike: dict[tuple, list[dict]] = {}
    for entry in entries:
        words = entry["arguments"]
        object_name = words.index("-o") + 1
        key = tuple(word for i, word in enumerate(words) if i != object_name and word != entry["file"])
        alike.setdefault((entry["directory"], pathlib.Path(entry["file"]).suffix, key), []).append(entry)
    return [same[i:i + most] for same in alike.values() for i in range(0, len(same), most)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("paths", nargs="*", default=OURS, help="directories or files; default: all of ours")
    parser.add_argument("--no-analyzer", action="store_true")
    parser.add_argument("--together", type=int, default=8, metavar="FILES", help="at most so many (default: 8)")
    parser.add_argument("--minutes", type=float, default=0, help="for all of it (default: as many as it takes)")
    arguments = parser.parse_intermixed_args()
    deadline = time.monotonic() + 60 * arguments.minutes if arguments.minutes else float("inf")
    wanted = [ROOT / path for path in arguments.paths]
    entries = database(arguments.build, wanted)
    if not entries:
        sys.exit(f"tidy.py: expected files of {' '.join(arguments.paths)} in {arguments.build}/compile_commands.json, "
                 "got none. Next step: cmake --preset release, and paths relative to the project")
    with tempfile.TemporaryDirectory() as temporary:
        directory = pathlib.Path(temporary)
        command = ["clang-tidy-14", "--quiet", f"--header-filter=^{ROOT}/({'|'.join(OURS)})/"]
        names = itertools.count()

        def look(group: list[dict], checks: list[str]) -> subprocess.CompletedProcess:
            first = group[0]
            file = first["file"]
            options: list[str] = []
            if len(group) > 1:
                together, overlay = (directory / f"{next(names)}.{what}" for what in ("source", "overlay"))
                together.write_text("".join(f'#include "{entry["file"]}"\n' for entry in group))
                # Seen beside its first file, where clang-tidy looks for a .clang-tidy.
                file = str(pathlib.Path(file).with_name("together" + pathlib.Path(file).suffix))
                overlay.write_text(json.dumps({"version": 0, "roots": [
                    {"type": "file", "name": file, "external-contents": str(together)}]}))
                options = [f"--vfsoverlay={overlay}"]
                checks = [*checks, "-bugprone-suspicious-include"]
            if checks:
                options.append("--checks=" + ",".join(checks))
            compiler = [word for word in first["arguments"][1:] if word != first["file"]]
            return subprocess.run([*command, *options, file, "--", *compiler, *LENIENT], cwd=first["directory"],
                                  capture_output=True, text=True, check=False)

        def apart(group: list[dict], output: str) -> tuple[list[dict], list[dict]]:
            """Those that errors are in, or else a half, and the rest."""
            places = {line[:line.index(":")] for line in output.splitlines() if ": error: " in line}
            named = [entry for entry in group if entry["file"] in places]
            if len(named) in (0, len(group)):
                named = group[len(group) // 2:]
            return [entry for entry in group if entry not in named], named

        def compatible(group: list[dict]) -> list[list[dict]]:
            """Parts that compile together; compiling takes a fifth of the time of looking."""
            if len(group) == 1 or not (result := look(group, ["-*", "modernize-use-override"])).returncode:
                return [group]
            rest, named = apart(group, result.stdout)
            return [*compatible(rest), *compatible(named)]

        def findings(group: list[dict]) -> int:
            """How many of the group's files have some."""
            result = look(group, ["-clang-analyzer-*"] if arguments.no_analyzer else [])
            if result.returncode == 0:
                return 0
            if len(group) == 1:
                print(result.stdout + (result.stderr if not result.stdout else ""), end="", flush=True)
                return 1
            return sum(findings(part) for part in apart(group, result.stdout))

        def in_time(group: list[dict]) -> tuple[int, int]:
            """How many of the group's files have findings, and how many have not been looked at."""
            found = left = 0
            for part in compatible(group) if time.monotonic() < deadline else [group]:
                if time.monotonic() < deadline:
                    found += findings(part)
                else:
                    left += len(part)
            return found, left

        changed = last_changed(ROOT)
        in_order = sorted(groups(entries, arguments.together), reverse=True,
                          key=lambda group: max(changed.get(entry["file"], 0) for entry in group))
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            results = list(pool.map(in_time, in_order))
    found, left = (sum(column) for column in zip(*results))
    print(f"{len(entries)} files, {found} with findings"
          + (f", {left} not looked at within {arguments.minutes:g} minutes" if left else ""))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
