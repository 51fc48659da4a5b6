# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests of documentation.py itself: that it can fail."""
import unittest

import documentation

FILES = {"README.md", "runtime/README.md", "runtime/job/job.h", "tests/run"}


def check(text: str) -> list[str]:
    return documentation.check({"runtime/README.md": text}, FILES)


class Documentation(unittest.TestCase):
    def test_links_and_paths_that_are_there(self):
        self.assertEqual(
            check("[a](job/job.h) [b](../README.md) [c](job) `job/job.h` `runtime/job/job.h` `build/x/y.h`"), []
        )

    def test_a_link_to_nothing_is_wrong(self):
        self.assertEqual(check("x\n[a](gone.md)"), ["runtime/README.md:2: expected a file of the tree, got gone.md"])

    def test_a_path_to_nothing_is_wrong(self):
        self.assertEqual(len(check("`job/gone.h`")), 1)

    def test_addresses_are_no_files(self):
        self.assertEqual(check("[a](https://example.org/x) [b](#part)"), [])


if __name__ == "__main__":
    unittest.main()
