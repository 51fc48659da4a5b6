# SPDX-License-Identifier: LGPL-2.1-or-later
"""What every source file and page is to keep to, whatever it says: lines of at most 120 columns (but for rows of tables
and commands of Markdown, which cannot be broken), at most 600 lines in a file, or a reason at its top ("600 lines:"),
and a new line at its end.

usage: text.py ROOT
"""
import pathlib
import re
import sys

WIDTH, LENGTH = 120, 600
SOURCES = {".c", ".cpp", ".h", ".def", ".py"}
LICENCE = re.compile(r"SPDX-License-Identifier: LGPL-2\.1-or-later")
UNBREAKABLE = re.compile(r"^\s*\||^    ")  # in Markdown
REASON = re.compile(r"\b600 lines:")
# Written by programs, or foreign input to them.
GENERATED = re.compile(r"^tests/applications/(RESULTS\.md$|programs/)|FIGURES\.md$")


def check(name: str, text: str) -> list[str]:
    wrong = []
    lines = text.split("\n")
    source = pathlib.PurePosixPath(name).suffix in SOURCES
    for number, line in enumerate(lines, 1):
        if len(line) > WIDTH and (source or not UNBREAKABLE.search(line)):
            wrong.append(f"{name}:{number}: expected at most {WIDTH} columns, got {len(line)}")
    if source and len(lines) > LENGTH + 1 and not REASON.search("\n".join(lines[:15])):
        wrong.append(f"{name}: expected at most {LENGTH} lines or a reason at the top, got {len(lines) - 1}")
    if source and text and not LICENCE.search("\n".join(lines[:3])):
        wrong.append(f"{name}: expected the licence in the first lines")
    if text and not text.endswith("\n"):
        wrong.append(f"{name}: expected a new line at the end")
    return wrong


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    root = pathlib.Path(sys.argv[1])
    wrong = []
    count = 0
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if name.startswith(("build/", ".git/")) or GENERATED.search(name) or not path.is_file():
            continue
        if path.suffix in SOURCES | {".md"}:
            count += 1
            wrong += check(name, path.read_text(encoding="utf-8"))
    print("\n".join(wrong + [f"{count} files, {len(wrong)} wrong"]))
    return 1 if wrong or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
