# SPDX-License-Identifier: LGPL-2.1-or-later
"""What every source file, script, build file and page must keep to, whatever it says: lines of at most 120 columns
(except rows of tables and commands of Markdown, which cannot be broken) and a new line at its end; sources and scripts
also the licence at the top, and at most 600 lines or a reason at the top ("600 lines:").

usage: text.py ROOT
"""
import pathlib
import re
import sys

WIDTH, LENGTH = 120, 600
SOURCES = {".c", ".cpp", ".h", ".def", ".py", ".sh", ".f", ".f90", ".js", ".css"}
BUILD = {".cmake", "CMakeLists.txt"}
SCRIPT = re.compile(r"#!.*\b(?:sh|bash|python3?)\b")  # the first line of one whose name has no ending
LICENCE = re.compile(r"SPDX-License-Identifier: LGPL-2\.1-or-later")
UNBREAKABLE = re.compile(r"^\s*\||^    ")  # in Markdown
REASON = re.compile(r"\b600 lines:")
# Written by programs.
GENERATED = re.compile(r"^tests/applications/RESULTS\.md$|FIGURES\.md$")


def kind(name: str, text: str) -> str:
    """"source", "build", "page", or nothing: not checked"""
    path = pathlib.PurePosixPath(name)
    if path.suffix in SOURCES or (not path.suffix and SCRIPT.match(text)):
        return "source"
    if path.suffix in BUILD or path.name in BUILD:
        return "build"
    return "page" if path.suffix == ".md" else ""


def check(name: str, text: str) -> list[str]:
    wrong = []
    lines = text.split("\n")
    what = kind(name, text)
    source = what == "source"
    for number, line in enumerate(lines, 1):
        if len(line) > WIDTH and (what != "page" or not UNBREAKABLE.search(line)):
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
        text = path.read_text(encoding="utf-8", errors="replace")
        if kind(name, text):
            count += 1
            wrong += check(name, text)
    print("\n".join(wrong + [f"{count} files, {len(wrong)} wrong"]))
    return 1 if wrong or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
