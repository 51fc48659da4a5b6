#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The page of a run that goes on, in a real browser: it follows the run without a complaint, and its button ends it.

usage: browser.py UMWELT ROUNDS

Exit code 77 (skipped) without chromium, its driver or selenium.
"""
import pathlib
import shutil
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "report"))
for program in ("chromium", "chromedriver"):
    if not shutil.which(program):
        print(f"skipped: {program} is not there")
        sys.exit(77)
from browser import Browser  # exits with 77 without selenium
from watched import Watched, check, equal, until

umwelt, rounds = sys.argv[1:3]


def simulated(browser: Browser) -> int:
    return int("".join(c for c in text(browser, "[data-card='Simulated now'] small") if c.isdigit()) or 0)


def text(browser: Browser, selector: str) -> str:
    """At once: what changes every second is not there for long."""
    return browser.run("return (document.querySelector(arguments[0]) || {}).textContent || ''", selector)


def complaints(browser: Browser) -> list[str]:
    return [entry["message"] for entry in browser.driver.get_log("browser")]


def follows_and_ends(browser: Browser, work: pathlib.Path) -> None:
    with Watched(umwelt, work, "-q", "-np", "4", "--cpu", "none", rounds, "100000000") as run:
        browser.driver.get(run.url)
        until("the page draws", lambda: browser.run("return document.documentElement.dataset.drawn") == "yes")
        until("parts of the report", lambda: browser.run("return document.querySelectorAll('main section').length") > 5)
        first = simulated(browser)
        until("time goes on", lambda: simulated(browser) > first)
        until("calls are named", lambda: "MPI_" in browser.run(
            "return document.getElementById('now-table').textContent"))
        equal(browser.run("return document.querySelectorAll('#now-table tbody tr').length"), 4, "ranks")
        check("The run goes on" in text(browser, "#now-text"), text(browser, "#now-text"))
        # What is opened stays open, and nothing jumps.
        browser.run("document.querySelector('#ranks details').open = true; scrollTo(0, 700)")
        before, events = browser.run("return scrollY"), text(browser, "[data-card='Events so far'] dd")
        until("it is asked again", lambda: text(browser, "[data-card='Events so far'] dd") != events)
        time.sleep(2.5)
        check(browser.run("return document.querySelector('#ranks details').open"), "what was opened is open")
        check(abs(browser.run("return scrollY") - before) < 60, "the page stays where it was scrolled to")
        equal(browser.run("return document.querySelectorAll('#ranks').length"), 1, "parts are not doubled")
        equal(browser.run("return document.querySelector('[data-chart=states]').dataset.marks"), "4", "squares")
        check({"ranks", "matrix", "functions"} <= set(browser.charts()), f"charts: {browser.charts()}")
        equal(complaints(browser), [], "complaints")
        browser.run("document.getElementById('stop').click()")
        check(run.process.poll() is None and "Really" in text(browser, "#stop"), "it asks once more")
        browser.run("document.getElementById('stop').click()")
        equal(run.wait(), 130, "exit code")
        until("the page says so", lambda: "ended" in text(browser, "#now-text"))


def sees_the_end(browser: Browser, work: pathlib.Path) -> None:
    with Watched(umwelt, work, "-np", "4", "--cpu", "none", rounds, "40000") as run:
        browser.driver.get(run.url)
        equal(run.wait(), 0, f"exit code; {run.said}")
        until("its end", lambda: "The run has ended: completed (exit code 0)" in text(browser, "#now-text"))
        equal(browser.run("return document.getElementById('stop')"), None, "a button")
        time.sleep(2)
        equal(complaints(browser), [], "complaints")


def main() -> None:
    with tempfile.TemporaryDirectory() as directory, Browser() as browser:
        for case in (follows_and_ends, sees_the_end):
            case(browser, pathlib.Path(directory))
            print(f"ok {case.__name__}", flush=True)


if __name__ == "__main__":
    main()
