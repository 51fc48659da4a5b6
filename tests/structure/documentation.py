# SPDX-License-Identifier: LGPL-2.1-or-later
"""Files that the documentation names are there: links, and paths in back-ticks, seen from the page's directory or one
above it.

usage: documentation.py ROOT
"""
import pathlib
import re
import sys

LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)")
PATH = re.compile(r"`((?:[\w.-]+/)+[\w.-]+\.(?:h|c|cpp|def|py|sh|md|toml|proto|cmake))`")
# What a page shows as an example, not as a file of the tree.
EXAMPLES = re.compile(
    r"^(?:build|include|lib|bin|share|DIR|elf|ompi|opal|oshmem|proc|sys|etc|test)/|^\.\./shared/|/NAME\."
)


def there(name: str, page: pathlib.PurePosixPath, files: set[str]) -> bool:
    for directory in page.parents:
        parts = []
        for part in (directory / name).parts:
            if part == ".." and parts:
                parts.pop()
            elif part != ".":
                parts.append(part)
        path = "/".join(parts)
        if path in files or any(file.startswith(path.rstrip("/") + "/") for file in files):
            return True
    return False


def check(pages: dict[str, str], files: set[str]) -> list[str]:
    wrong = []
    for page, text in sorted(pages.items()):
        for number, line in enumerate(text.split("\n"), 1):
            for name in LINK.findall(line) + [name for name in PATH.findall(line) if not EXAMPLES.search(name)]:
                if not there(name, pathlib.PurePosixPath(page), files):
                    wrong.append(f"{page}:{number}: expected a file of the tree, got {name}")
    return wrong


def main() -> int:
    root = pathlib.Path(sys.argv[1])
    left_out = {".git", "build"}
    files = {
        str(path.relative_to(root))
        for path in root.rglob("*")
        if path.is_file() and path.relative_to(root).parts[0] not in left_out
    }
    pages = {name: (root / name).read_text() for name in files if name.endswith(".md")}
    wrong = check(pages, files)
    for line in wrong:
        print(line)
    print(f"{len(pages)} pages, {len(wrong)} wrong")
    return 1 if wrong or not pages else 0


if __name__ == "__main__":
    sys.exit(main())
