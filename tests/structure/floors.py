# SPDX-License-Identifier: LGPL-2.1-or-later
"""The floors of the house: reads every #include "..." and fails on one that the table in runtime/README.md does not
allow.

usage: floors.py ROOT

A row of the table is of a directory and what lies below it, unless that has a row of its own; files may include those
of their own directory.
A directory without a row is an error, and so is a row that allows what nobody includes: the table says how it is.
"""
import os
import pathlib
import re
import sys

SOURCES = (".c", ".cpp", ".h", ".def")
TREES = ("preload", "loader", "runtime", "net_models", "platforms")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"', re.M)
ROW = re.compile(r"^\| `([a-z_/]+)` \|([^|]*)\|[^|]*\|$", re.M)


def read_table(text: str) -> dict[str, list[str]]:
    part = text.split("## Floors", 1)
    if len(part) != 2:
        raise SystemExit("runtime/README.md: expected a part '## Floors' with the table, got none")
    table = {
        row[1].rstrip("/"): [name.rstrip("/") for name in re.findall(r"`([a-z_/]+)`", row[2])]
        for row in ROW.finditer(part[1].split("\n## ", 1)[0])
    }
    if not table:
        raise SystemExit(
            "runtime/README.md: expected rows '| `directory` | `what it may include` ... |' below '## Floors', got none"
        )
    return table


def row_of(path: str, table: dict[str, list[str]]) -> str | None:
    """The row of the innermost directory."""
    while path := os.path.dirname(path):
        if path in table:
            return path
    return None


def check(files: dict[str, str], table: dict[str, list[str]]) -> list[str]:
    """What is wrong; `files`: paths and texts."""
    wrong = []
    for name, allowed in table.items():
        wrong += [f"table: {name} may include {other}, which has no row" for other in allowed if other not in table]
    used = set()
    for path, text in sorted(files.items()):
        floor = row_of(path, table)
        if floor is None:
            wrong.append(f"{path}: expected a row for its directory in the table of runtime/README.md, got none")
            continue
        for name in INCLUDE.findall(text):
            target = next(
                (c for c in (name, os.path.normpath(os.path.join(os.path.dirname(path), name))) if c in files), None
            )
            if target is None:
                continue  # generated, or another project's
            other = row_of(target, table)
            if other == floor:
                continue
            used.add((floor, other))
            if other not in table[floor]:
                wrong.append(f"{path}: expected includes of {', '.join(table[floor]) or 'nothing'} only, got {name}")
    wrong += [
        f"table: {name} may include {other}, and does not"
        for name in table
        for other in table[name]
        if other in table and (name, other) not in used
    ]
    wrong += circles(table)
    return wrong


def circles(table: dict[str, list[str]]) -> list[str]:
    done: set[str] = set()
    wrong = []

    def visit(name: str, way: list[str]) -> None:
        if name in way:
            wrong.append("table: a circle: " + " -> ".join(way[way.index(name) :] + [name]))
        elif name not in done:
            for other in table.get(name, []):
                visit(other, way + [name])
            done.add(name)

    for name in table:
        visit(name, [])
    return wrong


def main() -> int:
    root = pathlib.Path(sys.argv[1])
    files = {
        str(path.relative_to(root)): path.read_text()
        for tree in TREES
        for path in (root / tree).rglob("*")
        if path.suffix in SOURCES and path.is_file()
    }
    wrong = check(files, read_table((root / "runtime" / "README.md").read_text()))
    for line in wrong:
        print(line)
    print(f"{len(files)} files, {len(wrong)} wrong")
    return 1 if wrong or not files else 0


if __name__ == "__main__":
    sys.exit(main())
