# SPDX-License-Identifier: LGPL-2.1-or-later
"""Commits: all or nothing, once; full disks."""
import errno
import json
import os
import subprocess
import unittest
from unittest import mock

from support import DESIGN, Case

from sweep import commit as commits
from sweep.commit import commit, commit_json, read_json
from sweep.store import Store, given_up, lock


class Commit(Case):
    def test_the_first_one_stays(self):
        path = self.directory / "a" / "1.json"
        self.assertTrue(commit_json(path, {"n": 1}))
        self.assertFalse(commit_json(path, {"n": 2}))
        self.assertEqual(read_json(path), {"n": 1})
        self.assertEqual(os.listdir(path.parent), ["1.json"])

    def test_without_hard_links(self):
        path = self.directory / "1.json"
        with mock.patch.object(os, "link", side_effect=OSError(errno.EPERM, "no")):
            self.assertTrue(commit(path, b"1"))
            self.assertFalse(commit(path, b"2"))
        self.assertEqual(path.read_bytes(), b"1")

    def test_full_disk_leaves_nothing_and_says_what_to_do(self):
        path = self.directory / "1.json"
        for broken in ("fsync", "link"):
            with mock.patch.object(commits.os, broken, side_effect=OSError(errno.ENOSPC, "No space left on device")):
                self.fails("1.json: expected it to be written, got No space left.*--resume: nothing is lost",
                           commit, path, b"x")  # fmt: skip
        self.assertFalse([name for name in os.listdir(self.directory) if "json" in name])

    def test_torn_file_counts_as_none(self):
        self.assertIsNone(read_json(self.write("torn.json", '{"a": [1, 2')))


class Lock(Case):
    def test_two_sweeps_in_one_directory(self):
        with lock(self.directory):
            self.fails(f"no other sweep in this directory, got one that runs .process {os.getpid()}",
                       lock(self.directory).__enter__)  # fmt: skip
        with lock(self.directory):
            pass


class Attempts(unittest.TestCase):
    def test_given_up(self):
        self.assertFalse(given_up([{"kind": "failed"}], 1))
        self.assertTrue(given_up([{"kind": "failed"}, {"kind": "timeout"}], 1))
        self.assertFalse(given_up([{"kind": "interrupted"}] * 9, 0))
        self.assertTrue(given_up([{"kind": "deadlock"}], 5))
        self.assertFalse(given_up([{"kind": "deadlock", "counts": False}], 5))


class Failures(Case):
    def test_each_attempt_has_a_file(self):
        store = Store(self.directory)
        for kind in ("failed", "timeout"):
            store.commit_failure(3, {"kind": kind})
        self.assertEqual([one["kind"] for one in store.attempts()[3]], ["failed", "timeout"])
        store.forgive()
        self.assertFalse(any(one["counts"] for one in store.attempts()[3]))


class FullDisk(Case):
    """A file system of this test's own: what the kernel says, not what a mock does."""

    def test_sweep_goes_on_when_there_is_room(self):
        if os.geteuid() != 0:
            self.skipTest("mounting needs root")
        self.design(DESIGN + "run: {retries: 0}\n")
        # 900 KiB are left when the sweep begins to run points, which is less than it wants for one.
        script = (
            f"mount -t tmpfs -o size=2m tmpfs {self.directory}/disk && cd {self.directory} && "
            f"head -c 1100000 /dev/zero >disk/filler; {' '.join(self.command('design.yaml', '-o', 'disk/s'))}; "
            "echo $?; "
            f"rm disk/filler; {' '.join(self.command('--resume', 'disk/s'))}; echo $?; cp -r disk/s result"
        )
        (self.directory / "disk").mkdir()
        done = subprocess.run(["unshare", "--mount", "sh", "-c", script], env=self.environment, capture_output=True,
                              text=True, check=False)  # fmt: skip
        if "unshare" in done.stderr or "mount:" in done.stderr:
            self.skipTest(done.stderr.strip())
        self.assertIn("make room, then umwelt sweep --resume: nothing is lost", done.stderr)
        self.assertEqual([line for line in done.stdout.splitlines() if line.isdigit()], ["125", "0"], done.stderr)
        self.assertEqual(len(list((self.directory / "result").glob("results/*/*.json"))), 6)
        self.assertEqual(len(self.runs()), 6)
        self.assertFalse(list((self.directory / "result").glob("failures/*/*.json")), "a full disk is no point's fault")
        json.loads(next((self.directory / "result").glob("results/*/*.json")).read_text())


if __name__ == "__main__":
    unittest.main()
