# SPDX-License-Identifier: LGPL-2.1-or-later
"""Running points here: what becomes of those that fail, going on after any interruption."""
import collections
import json
import os
import pathlib
import random
import signal
import subprocess
import time
import unittest
from unittest import mock

from support import DESIGN, Case

from sweep import estimate, sweeps
from sweep.status import live, status
from sweep.store import Store, lock

ENDINGS = "program: ./app\narguments: '{what}'\nfactors: {what: [ok, %s]}\n"


class Base(Case):
    def failures(self) -> list[dict]:
        return [one for entries in Store(self.directory / "design.sweep").attempts().values() for one in entries]

    def alive(self) -> list[str]:
        """Processes that this test left."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            if entry.name.isdigit() and int(entry.name) != os.getpid():
                try:
                    if f"STAND_IN_LOG={self.log}".encode() in (entry / "environ").read_bytes():
                        found.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode())
                except OSError:
                    pass
        return found

    def wait_for(self, condition, patience: float = 60) -> None:
        until = time.monotonic() + patience
        while not condition():
            self.assertLess(time.monotonic(), until, "it did not come")
            time.sleep(0.02)


class Running(Base):
    def test_all_points_once(self):
        self.design()
        done = self.sweep("design.yaml", "--jobs", 2)
        self.assertIn("design.sweep: 6 of 6 points completed", done.stdout)
        self.assertEqual(len(set(self.runs())), 6)
        self.assertEqual(len(self.runs()), 6)
        self.assertEqual(
            sorted(os.listdir(self.directory / "design.sweep")),
            ["contexts", "design.yaml", "hosts", "lock", "plan.db", "results", "results.db", "running"],
        )

    def test_templates_and_inputs_are_in_the_points_directory(self):
        self.write("in.txt", "size={size} other={else}")
        self.design(DESIGN + "templates: {input.txt: in.txt}\nmetrics: {n: 'input: size=([0-9]+) other={else}'}\n")
        self.sweep("design.yaml")
        results = [json.loads(path.read_bytes()) for _, path in Store(self.directory / "design.sweep").results()]
        self.assertEqual(sorted(one["metrics"]["n"] for one in results), [8, 8, 16, 16, 32, 32])

    def test_failure_is_repeated_then_given_up(self):
        self.design(ENDINGS % "fail" + "run: {retries: 2}\n")
        done = self.sweep("design.yaml", code=3)
        self.assertEqual([one["kind"] for one in self.failures()], ["failed"] * 3)
        self.assertEqual(self.failures()[0]["errors"], "the program's own line\numwelt: fail as asked")
        self.assertIn("1 of 2 points completed, 1 failed", done.stdout)
        count = len(self.runs())
        self.sweep("--resume", "design.sweep", code=3)
        self.assertEqual(len(self.runs()), count)
        self.sweep("--resume", "--again", "design.sweep", code=3)
        self.assertEqual(len(self.runs()), count + 3)

    def test_what_failed_once_completes(self):
        self.design(ENDINGS % "once")
        self.sweep("design.yaml")
        self.assertEqual(len(self.failures()), 1)

    def test_what_would_come_again_is_not_repeated(self):
        self.design(ENDINGS % "deadlock, usage" + "run: {retries: 5}\n")
        self.sweep("design.yaml", code=3)
        self.assertEqual(sorted(one["kind"] for one in self.failures()), ["deadlock", "wrong_use"])
        told = self.sweep("status", "design.sweep", code=3).stdout
        self.assertRegex(told, r"(?m)deadlock: exit code 122: umwelt: deadlock as asked$")
        deadlock = next(one["errors"] for one in self.failures() if one["kind"] == "deadlock").splitlines()
        self.assertEqual((deadlock[0], deadlock[-1]), ("umwelt: deadlock as asked", "  rank 29 in MPI_Recv"))

    def test_time(self):
        self.design(ENDINGS % "slow" + "run: {timeout: 2, retries: 0}\n")
        self.sweep("design.yaml", code=3)
        self.assertEqual([one["kind"] for one in self.failures()], ["timeout"])

    def test_memory(self):
        self.design(ENDINGS % "big" + "run: {memory: 200MiB, retries: 0}\n")
        self.sweep("design.yaml", code=3)
        self.assertEqual([one["kind"] for one in self.failures()], ["memory"])

    def test_run_without_report(self):
        self.design(ENDINGS % "silent" + "run: {retries: 0}\n")
        self.sweep("design.yaml", code=3)
        self.assertEqual([one["kind"] for one in self.failures()], ["no_report"])

    def test_metric_that_is_not_printed(self):
        self.design(DESIGN + "metrics: {gflops: 'GFLOPS ([0-9.]+)'}\nrun: {retries: 0}\n")
        self.sweep("design.yaml", code=3)
        self.assertIn("expected 'GFLOPS ([0-9.]+)' in what the program printed", self.failures()[0]["reason"])

    def test_a_sweep_is_not_begun_twice(self):
        self.design()
        self.sweep("design.yaml")
        done = self.sweep("design.yaml", code=121)
        self.assertIn("go on with it: umwelt sweep --resume design.sweep", done.stderr)

    def test_another_design_is_not_gone_on_with(self):
        self.design()
        self.sweep("design.yaml")
        self.design(DESIGN + "seed: 1\n")
        self.assertIn("expected the design that design.sweep was begun with",
                      self.sweep("design.yaml", "--resume", code=121).stderr)  # fmt: skip

    def test_another_program_is_not_gone_on_with(self):
        self.design(ENDINGS % "fail")
        self.sweep("design.yaml", code=3)
        self.write("app", "#!/bin/sh\nexit\n")
        done = self.sweep("--resume", "--again", "design.sweep", code=121)
        self.assertIn("app: expected the file that the sweep began with", done.stderr)

    def test_two_at_once_are_refused(self):
        self.design(ENDINGS % "slow" + "run: {timeout: 20, retries: 0}\n")
        first = subprocess.Popen(self.command("design.yaml"), cwd=self.directory, env=self.environment,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
        try:
            self.wait_for(lambda: any("slow" in line for line in self.runs()))
            done = self.sweep("--resume", "design.sweep", code=121)
            self.assertIn(f"no other sweep in this directory, got one that runs (process {first.pid}", done.stderr)
        finally:
            first.terminate()
            self.assertEqual(first.wait(), 128 + signal.SIGTERM)
        self.assertEqual([one["kind"] for one in self.failures()], ["interrupted"])
        self.assertFalse(self.alive())

    def test_options_that_would_do_nothing(self):
        self.design()
        for words, said in (
            (("--slurm", "--jobs", 2), "--jobs: expected it without --slurm"),
            (("--wait",), "--wait: expected --slurm with it"),
            (("--slurm", "--wait", "--dry-run"), "--wait: expected --slurm with it, and no --dry-run"),
            (("--no-first-runs",), "--no-first-runs: expected --dry-run with it"),
        ):
            self.assertIn(said, self.sweep("design.yaml", *words, code=121).stderr)
        self.assertFalse(self.runs())


class Changes(Base):
    """What may be another when it goes on, and what not."""

    def goes_on(self, code: int, said: str = "") -> None:
        before = len(self.runs())
        done = self.sweep("--resume", "--again", "design.sweep", code=code)
        self.assertIn(said, done.stderr)
        if said:
            self.assertEqual(len(self.runs()), before, "something ran")

    def test_files_that_are_gone(self):
        self.write("in.txt", "{what}")
        self.write("data", "1")
        self.design(ENDINGS % "fail" + "templates: {made.txt: in.txt}\ninputs: [data]\nrun: {retries: 0}\n")
        self.sweep("design.yaml", code=3)
        for name in ("in.txt", "data", "app"):
            path = self.directory / name
            path.rename(f"{path}.away")
            self.goes_on(121, f"{name}: expected the file that the sweep began with")
            pathlib.Path(f"{path}.away").rename(path)
        self.goes_on(3)

    def test_files_that_levels_of_options_name(self):
        for name in ("a.xml", "b.xml", "k.txt"):
            self.write(name, "1")
        self.design(
            "program: ./app\narguments: '{what}'\noptions: {nic: '@{file}.txt'}\n"
            "factors:\n  what: [ok, fail]\n  plat: {option: platform, levels: [a.xml, b.xml]}\n  file: [k, l]\n"
        )
        self.sweep("design.yaml", code=3)
        inputs = Store(self.directory / "design.sweep").meta["files"]["inputs"]
        self.assertEqual(sorted(map(os.path.basename, inputs)), ["a.xml", "b.xml", "k.txt"])
        for name in ("b.xml", "k.txt"):
            self.write(name, "2")
            self.goes_on(121, f"{name}: expected the file that the sweep began with")
            self.write(name, "1")
        self.goes_on(3)

    def test_how_it_runs_may_change(self):
        self.design(ENDINGS % "slow" + "run: {timeout: 1, retries: 0}\n")
        self.sweep("design.yaml", code=3)
        self.design("# another comment\n" + ENDINGS % "slow" + "run: {timeout: 2, retries: 1}\nslurm: {cpus: 2}\n")
        done = self.sweep("design.yaml", "--resume", code=3)
        self.assertIn("`run:` and `slurm:` are those of design.yaml from now on", done.stdout)
        self.assertEqual([one["reason"] for one in self.failures()],
                         ["it ran longer than 1 s", "it ran longer than 2 s"])  # fmt: skip
        meta = Store(self.directory / "design.sweep").meta
        self.assertEqual((meta["run"]["retries"], meta["slurm"]["cpus"]), (1, 2))

    def test_nothing_else_may_change(self):
        self.design()
        self.sweep("design.yaml")
        for other, key in (
            (DESIGN + "run: {keep: [report]}\n", "run: keep"),
            (DESIGN + "seed: 1\n", "seed"),
            (DESIGN.replace("[8, 16, 32]", "[16, 8, 32]"), "factors"),
        ):
            self.design(other)
            self.assertIn(f"got another one: `{key}:` differs", self.sweep("design.yaml", "--resume", code=121).stderr)
        self.assertFalse((self.directory / "design.sweep" / "settings.json").exists())


class Estimates(Base):
    def test_dry_run(self):
        self.design(DESIGN + "replicates: 10\n")
        done = self.sweep("design.yaml", "--dry-run")
        self.assertRegex(done.stdout, r"design: 60 runs: 6 rows of a full design, 10 replicates of each, random order")
        self.assertRegex(done.stdout, r"(?m)^ +2 +30 +[0-9.]+ s +[0-9.]+ MiB  ranks 2, size 8$")
        self.assertRegex(done.stdout, r"in all about .* estimated from 4 first runs")
        self.assertEqual([line.split()[1] + "/" + line.split()[-1] for line in self.runs()],
                         ["4/32", "2/8", "2/32", "4/8"])  # fmt: skip
        self.assertFalse((self.directory / "design.sweep").exists())
        self.sweep("design.yaml", "--dry-run", "--no-first-runs")
        self.assertEqual(len(self.runs()), 4)

    def test_of_what_is_missing(self):
        self.design(ENDINGS % "fail" + "run: {retries: 0}\n")
        self.sweep("design.yaml", code=3)
        count = len(self.runs())
        self.assertIn("0 points of 2 missing, 1 failed", self.sweep("--resume", "design.sweep", "--dry-run").stdout)
        self.assertEqual(len(self.runs()), count)
        done = self.sweep("--resume", "design.sweep", "--dry-run", "--again", code=3)
        self.assertIn("0 points of 2 missing, 1 failed, which run again", done.stdout)
        self.assertIn("failed: failed: umwelt: fail as asked", done.stdout)
        self.assertEqual(len(self.failures()), 1)

    def estimate(self, text: str, seconds) -> tuple[estimate.Estimate, list[dict]]:
        """With runs that take what is said, and the levels of those that were run."""
        store = Store(self.directory / "plan")
        sweeps.begin(sweeps.examine(self.design(text), self.umwelt), store, self.umwelt)
        tried = []

        def runs(store, umwelt, rows, image):
            points = {row.point: next(store.points([row.point])) for row in rows}
            tried.extend(points[row.point].numbers for row in rows)
            return [
                estimate._Run(row, points[row.point], seconds(points[row.point].numbers), 1 << 20, "") for row in rows
            ]

        with mock.patch.object(estimate, "_runs", runs):
            return estimate.Estimate(store, self.umwelt, None), tried

    def test_first_runs_that_take_long(self):
        store = Store(self.directory / "plan")
        sweeps.begin(sweeps.examine(self.design(DESIGN), self.umwelt), store, self.umwelt)
        with mock.patch.object(estimate, "PATIENCE", 0.0):
            found = estimate.Estimate(store, self.umwelt, None)
        self.assertEqual([run.point.levels for run in found.runs], [{"ranks": "4", "size": "32"}])
        self.assertEqual((found.left_out, found.known, sum(found.untried.values())), (3, True, 3))

    def test_lowest_and_highest_of_one_number(self):
        found, tried = self.estimate("program: ./app\narguments: -n {n}\nfactors: {n: [0, 1, 2, 5, 30]}\n",
                                     lambda numbers: 1 + numbers["n"])  # fmt: skip
        self.assertEqual([one["n"] for one in tried], [30, 0])
        self.assertEqual(list(found.counts), [("1", str(self.directory / "app"))])
        self.assertAlmostEqual(found.seconds, 5 + 38)
        self.assertAlmostEqual(found.longest, 31)

    def test_at_most_eight_and_the_others_are_said(self):
        found, tried = self.estimate(
            "program: ./app\narguments: '{n}'\noptions: {np: '{r}'}\n"
            "factors: {r: [2, 4, 8, 16, 32, 64], n: [1, 2, 3]}\n", lambda numbers: numbers["r"])  # fmt: skip
        self.assertEqual([(one["r"], one["n"]) for one in tried],
                         [(64, 3), (2, 1), (2, 3), (8, 1), (8, 3), (16, 1), (16, 3), (64, 1)])  # fmt: skip
        self.assertEqual([kind[0] for kind in found.untried], ["4", "32"])

    def test_of_two_numbers_each_alone(self):
        _, tried = self.estimate("program: ./app\narguments: '{a} {b}'\nfactors: {a: [1, 2, 3], b: [1, 2, 3]}\n",
                                 lambda numbers: 1)  # fmt: skip
        self.assertEqual(sorted((one["a"], one["b"]) for one in tried), [(1, 1), (1, 3), (3, 1), (3, 3)])

    def left(self) -> list[str]:
        return os.listdir(self.directory / "tmp")

    def test_stopped_it_leaves_nothing(self):
        (self.directory / "tmp").mkdir()
        self.environment["TMPDIR"] = str(self.directory / "tmp")
        self.design("program: ./app\narguments: '{n} slow'\nfactors: {n: [1, 2]}\n")
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            before = len(self.runs())
            process = subprocess.Popen(self.command("design.yaml", "--dry-run"), cwd=self.directory, text=True,
                                       env=self.environment, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.PIPE)  # fmt: skip
            self.wait_for(lambda: any("slow" in line for line in self.runs()[before:]))
            process.send_signal(number)
            _, errors = process.communicate()
            self.wait_for(lambda: not self.alive())
            if number == signal.SIGKILL:
                self.assertEqual(len(self.left()), 2)
                self.sweep("design.yaml", "--dry-run", "--no-first-runs")
            else:
                self.assertEqual((process.returncode, errors),
                                 (128 + number, f"umwelt sweep: stopped by signal {number}\n"))  # fmt: skip
            self.assertEqual(self.left(), [])


class Watching(Base):
    def test_whoever_was_killed_runs_nothing(self):
        self.design(ENDINGS % "slow")
        process = subprocess.Popen(self.command("design.yaml"), cwd=self.directory, env=self.environment,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
        try:
            self.wait_for(lambda: any("slow" in line for line in self.runs()))
            state = json.loads(self.sweep("status", "--json", "design.sweep", code=3).stdout)
            self.assertEqual(state["running"], 1)
        finally:
            process.kill()
            process.wait()
        self.assertEqual(len(os.listdir(self.directory / "design.sweep" / "running")), 1)
        self.assertNotIn("running", self.sweep("status", "design.sweep", code=3).stdout)
        self.assertNotIn("running", self.sweep("gather", "design.sweep", code=3).stdout)
        done = self.sweep("status", "--follow", "design.sweep", code=3)
        self.assertIn("nobody works on it: umwelt sweep --resume design.sweep", done.stderr)

    def test_a_number_of_a_process_that_came_again_is_not_whoever_began(self):
        self.design()
        self.sweep("design.yaml")
        store = Store(self.directory / "design.sweep")
        marker = store.begin(0, {"who": {}})
        self.assertEqual(live(store), {0})
        marker.write_text(json.dumps({**json.loads(marker.read_text()), "started": 1}))
        self.assertEqual(live(store), set())

    def test_elsewhere_lock_and_slurm_tell(self):
        self.design()
        self.sweep("design.yaml")
        store = Store(self.directory / "design.sweep")
        marker = store.begin(0, {})
        marker.write_text(json.dumps({"machine": "another", "pid": 1, "started": 1, "who": {}}))
        self.assertEqual(live(store), set())
        with lock(store.path):
            self.assertEqual(live(store), {0})
        marker.write_text(json.dumps({"machine": "another", "who": {"job": {"id": "7", "task": 2}}}))
        self.assertEqual(live(store, lambda: {"7_2": "running"}), {0})
        self.assertEqual(live(store, lambda: {"7_2": "pending"}), set())
        self.assertEqual(live(store, lambda: {}), set())
        self.assertEqual(live(store, lambda: None), {0})  # Slurm does not answer, but somebody touched it of late
        os.utime(marker, (1, 1))
        self.assertEqual(live(store, lambda: None), set())

    def test_points_that_complete_meanwhile_count_once(self):
        self.design()
        self.sweep("design.yaml")
        path = self.directory / "design.sweep"
        hidden = path / "away"
        (path / "results" / "0000").rename(hidden)

        class Meanwhile(Store):
            def remaining(self, done=None):
                hidden.rename(path / "results" / "0000")
                return super().remaining(done)

        found = status(Meanwhile(path))
        self.assertEqual((found["completed"], found["missing"], found["points"]), (0, 6, 6))


class Kills(Base):
    def test_kill_at_random_moments_loses_and_repeats_nothing(self):
        """20 times kill -9, each after another number of runs: what was committed stays, and never runs again."""
        sizes = ", ".join(str(size) for size in range(1, 76))
        self.design(f"program: ./app\narguments: '{{size}}'\nfactors: {{size: [{sizes}]}}\n")
        self.environment["STAND_IN_SECONDS"] = "0.01"
        store = Store(self.directory / "design.sweep")
        drawer = random.Random(1)
        committed: dict[int, bytes] = {}
        words: tuple = ("design.yaml", "--jobs", 2)
        for kill in range(20):
            before = len(self.runs())
            process = subprocess.Popen(self.command(*words), cwd=self.directory, env=self.environment,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
            enough = before + drawer.randint(1, 3)
            self.wait_for(lambda: len(self.runs()) >= enough or process.poll() is not None)
            time.sleep(drawer.random() * 0.05)
            process.kill()
            process.wait()
            self.wait_for(lambda: not self.alive())  # runs die with the sweep
            now = {number: path.read_bytes() for number, path in store.results()}
            self.assertLessEqual(committed.items(), now.items(), f"after kill {kill}")
            for content in now.values():
                json.loads(content)
            committed = now
            words = ("--resume", "design.sweep", "--jobs", 2)
        counted = collections.Counter(self.runs())
        missing = 75 - len(committed)
        before = len(self.runs())
        self.sweep("--resume", "design.sweep", "--jobs", 2)
        self.assertEqual(len(self.runs()) - before, missing)
        self.assertEqual(len(store.completed()), 75)
        finished = {next(iter(line.split()[::-1])) for line in counted}
        self.assertLessEqual({str(number + 1) for number in committed}, finished)
        self.assertFalse(list((self.directory / "design.sweep").glob("results/*/.*")))
        self.assertFalse((self.directory / "design.sweep" / "work").exists())


if __name__ == "__main__":
    unittest.main()
