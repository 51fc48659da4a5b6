# SPDX-License-Identifier: LGPL-2.1-or-later
"""The file of results: gathered, exported, refused; status and crate."""
import contextlib
import csv
import io
import json
import sqlite3
import unittest

from support import DESIGN, Case

from sweep import schema
from sweep.store import Store


class Results(Case):
    def setUp(self) -> None:
        super().setUp()
        self.design(DESIGN + "run: {mpi_calls: true, report_details: true}\nmetrics: {units: 'result: ([0-9.]+)'}\n")
        self.sweep("design.yaml")
        self.path = self.directory / "design.sweep"

    def test_tables(self):
        with schema.results(self.path) as database:
            count = dict(database.execute(
                " UNION ALL ".join(f"SELECT '{table}', count(*) FROM {table}" for table in (
                    "points", "levels", "functions", "pairs", "links", "failures", "hosts", "contexts"))))  # fmt: skip
            self.assertEqual(count, {"points": 6, "levels": 12, "functions": 6, "pairs": 6, "links": 30, "failures": 0,
                                     "hosts": 1, "contexts": 1})  # fmt: skip
            values = dict(database.execute("SELECT metric, value FROM results WHERE point = 0 AND simulated"))
            links = dict(database.execute("SELECT what, value FROM links WHERE point = 0 AND link = 'n0 up'"))
            context = json.loads(database.execute("SELECT value FROM contexts").fetchone()[0])
        self.assertEqual(values["simulated_ps"], round(values["simulated_s"] * 1e12))
        self.assertEqual(values["ranks.compute_ps.sum"], 2 * values["ranks.compute_ps.max"] - 1)
        self.assertAlmostEqual(values["units"], (values["simulated_ps"] - 10**9) / 7, places=3)
        self.assertAlmostEqual(links["utilization"], 6000 / (values["simulated_s"] * 1e10))
        self.assertAlmostEqual(links["busiest_utilization"], 0.5)
        self.assertIn(str(self.directory / "app"), context["files"]["programs"])

    def test_gathered_again_it_is_the_same(self):
        def dump():
            with schema.results(self.path) as database:
                return list(database.iterdump())

        before = dump()
        self.sweep("gather", "design.sweep")
        self.assertEqual(before, dump())

    def test_csv_has_a_row_for_each_point(self):
        rows = list(csv.DictReader(io.StringIO(self.sweep("export", "design.sweep").stdout)))
        self.assertEqual([row["ranks"] + "/" + row["size"] for row in rows],
                         ["2/8", "2/16", "2/32", "4/8", "4/16", "4/32"])  # fmt: skip
        self.assertTrue(all(int(row["simulated_ps"]) > 10**9 for row in rows))
        self.assertIn("nearest known one is 'failures'",
                      self.sweep("export", "design.sweep", "--table", "failure", code=121).stderr)  # fmt: skip

    def test_newer_schema_is_refused(self):
        with contextlib.closing(sqlite3.connect(self.path / "results.db")) as database:
            database.execute(f"PRAGMA user_version = {schema.VERSION + 1}")
        for command in ("export", "plot"):
            self.assertIn("expected a schema of version 1 at most, got version 2",
                          self.sweep(command, "design.sweep", code=121).stderr)  # fmt: skip

    def test_other_files_are_refused(self):
        with contextlib.closing(sqlite3.connect(self.directory / "other.db")) as database:
            database.execute("CREATE TABLE t (x)")
        self.write("text.db", "not a database at all, but long enough to be looked at" * 50)
        for name, got in (
            ("other.db", "another SQLite file"),
            ("text.db", "file is not a database"),
            ("no.db", "none"),
        ):
            self.assertIn(got, self.sweep("export", name, code=121).stderr)

    def test_schema_is_shown(self):
        self.assertIn("-- version 1", self.sweep("schema").stdout)

    def test_status(self):
        self.assertEqual(json.loads(self.sweep("status", "design.sweep", "--json").stdout),
                         {"points": 6, "completed": 6, "failed": 0, "missing": 0, "running": 0})  # fmt: skip
        self.assertIn("6 of 6", self.sweep("status", "design.sweep", "--follow").stdout)
        self.assertIn("no plan.db", self.sweep("status", ".", code=121).stderr)

    def test_a_damaged_result_is_run_again(self):
        path = Store(self.path).result_path(3)
        path.write_text('{"torn": ')
        self.assertIn("5 of 6 points completed, 1 damaged", self.sweep("gather", "design.sweep", code=3).stdout)
        self.sweep("--resume", "design.sweep")
        self.assertEqual(len(self.runs()), 7)

    def test_crate(self):
        self.sweep("crate", "design.sweep")
        crate = self.path / "crate"
        graph = json.loads((crate / "ro-crate-metadata.json").read_text())["@graph"]
        entries = {entry["@id"]: entry for entry in graph}
        self.assertEqual(len(entries), len(graph), "each entity once")
        for entry in graph:
            for value in entry.values():
                for one in value if isinstance(value, list) else [value]:
                    if isinstance(one, dict) and set(one) == {"@id"} and not one["@id"].startswith("http"):
                        self.assertIn(one["@id"], entries)
            if entry["@type"] == "File" and "://" not in entry["@id"] and not entry["@id"].startswith("/"):
                self.assertTrue((crate / entry["@id"]).is_file(), entry["@id"])
        runs = [entry for entry in graph if entry["@type"] == "CreateAction"]
        self.assertEqual(len(runs), 6)
        program = entries[runs[0]["instrument"]["@id"]]
        self.assertEqual(program["name"], "app")
        self.assertEqual(len(entries[program["mainEntity"]["@id"]]["sha256"]), 64)

    def test_crate_of_no_sweep(self):
        self.assertIn("no plan.db", self.sweep("crate", "nodir", code=121).stderr)
        self.assertFalse((self.directory / "nodir").exists())


if __name__ == "__main__":
    unittest.main()
