# SPDX-License-Identifier: LGPL-2.1-or-later
"""text.py finds what it is to find."""
import unittest

import text

TOP = "// SPDX-License-Identifier: LGPL-2.1-or-later\n"


class Check(unittest.TestCase):
    def test_ordinary_files_pass(self):
        self.assertEqual(text.check("a/b.cpp", TOP + "int x;\n"), [])
        self.assertEqual(text.check("README.md", "# A\n\nword\n"), [])

    def test_long_lines(self):
        self.assertEqual(text.check("b.h", TOP + "x" * 121 + "\n"), ["b.h:2: expected at most 120 columns, got 121"])
        self.assertEqual(len(text.check("a.md", "x" * 121 + "\n")), 1)

    def test_tables_and_commands_cannot_be_broken(self):
        self.assertEqual(text.check("a.md", "| " + "x" * 200 + "\n    umwelt run " + "x" * 200 + "\n"), [])
        self.assertEqual(len(text.check("a.cpp", TOP + "    " + "x" * 200 + "\n")), 1)

    def test_long_files_need_a_reason(self):
        self.assertEqual(text.check("a.c", TOP + "\n" * 599), [])
        self.assertEqual(
            text.check("a.c", TOP + "\n" * 600), ["a.c: expected at most 600 lines or a reason at the top, got 601"]
        )
        self.assertEqual(text.check("a.c", TOP + "// 600 lines: a table\n" + "\n" * 600), [])

    def test_scripts_and_build_files(self):
        long = "x" * 121 + "\n"
        shell = "#!/usr/bin/env bash\n# SPDX-License-Identifier: LGPL-2.1-or-later\n"
        self.assertEqual(text.check("a.sh", shell), [])
        for name in ("a.sh", "tests/a/run"):
            self.assertEqual(text.check(name, shell + long), [f"{name}:3: expected at most 120 columns, got 121"])
        python = "#!/usr/bin/env python3\n"
        self.assertEqual(text.check("run", python), ["run: expected the licence in the first lines"])
        for name in ("CMakeLists.txt", "a/b.cmake"):
            self.assertEqual(text.check(name, "add_test()\n"), [])
            self.assertEqual(text.check(name, long), [f"{name}:1: expected at most 120 columns, got 121"])
        self.assertEqual(len(text.check("a.f90", long)), 2)  # no licence either

    def test_what_is_left_alone(self):
        for name in ("LICENSE", "a.toml", "notes.txt", "a.svg", ".clang-format"):
            self.assertEqual(text.kind(name, "words\n"), "")

    def test_licence_and_last_line(self):
        self.assertEqual(
            text.check("a.py", "x"),
            ["a.py: expected the licence in the first lines", "a.py: expected a new line at the end"],
        )


if __name__ == "__main__":
    unittest.main()
