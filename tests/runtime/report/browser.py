#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Pages of `umwelt report` and `umwelt compare` in a real browser: nothing is complained about, every chart draws,
figures are those of the JSON.

usage: browser.py UMWELT [CASE]...

Exit code 77 (skipped) without chromium, its driver or selenium.
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
HERE = pathlib.Path(__file__).resolve().parent
CHARTS = ["shares", "ranks", "matrix", "sizes", "functions", "load", "links", "topology", "timeline", "path"]
MOST_BYTES = 3_000_000  # of the page of 1,024 ranks
MOST_SECONDS = 20  # until a page of 4,096 ranks is drawn, on a busy machine

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
except ImportError:
    print("skipped: python3-selenium is not there")
    sys.exit(SKIPPED)

umwelt = ""
work = pathlib.Path()


def check(condition: bool, what: str) -> None:
    if not condition:
        raise AssertionError(what)


def equal(got, expected, what: str) -> None:
    check(got == expected, f"{what}: expected {expected!r}, got {got!r}")


class Browser:
    def __init__(self, dark: bool = False):
        options = Options()
        options.binary_location = shutil.which("chromium")
        # blink's names of themes: 0 is dark, 1 is light. Root has no sandbox; /dev/shm of containers is small.
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                         "--window-size=1280,900", f"--blink-settings=preferredColorScheme={0 if dark else 1}"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)
        self.driver.set_page_load_timeout(120)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.driver.quit()

    def open(self, page: pathlib.Path) -> None:
        self.driver.get(page.as_uri())
        self.driver.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
        equal(self.run("return document.documentElement.dataset.drawn"), "yes", f"{page.name} was drawn")
        self.is_silent(page.name)

    def is_silent(self, name: str) -> None:
        equal([entry["message"] for entry in self.driver.get_log("browser")], [], f"{name}: messages of the browser")

    def run(self, script: str, *arguments):
        return self.driver.execute_script(script, *arguments)

    def text(self, selector: str) -> str:
        return self.driver.find_element(By.CSS_SELECTOR, selector).text

    def charts(self) -> list[str]:
        """Those that have marks; of a canvas, dots of several colours."""
        return self.run("""
            const several = canvas => {
              const copy = document.createElement("canvas");
              [copy.width, copy.height] = [canvas.width, canvas.height];
              const context = copy.getContext("2d", {willReadFrequently: true});
              context.drawImage(canvas, 0, 0);
              const {data} = context.getImageData(0, 0, copy.width, copy.height);
              const seen = new Set(new Uint32Array(data.buffer));
              return seen.size > 2;
            };
            return [...document.querySelectorAll("[data-chart]")].filter(chart => Number(chart.dataset.marks) > 0 &&
              chart.getBoundingClientRect().height > 0 && (chart.tagName !== "CANVAS" || several(chart)))
              .map(chart => chart.dataset.chart);""")

    def table(self, section: str, summary: str) -> list[list[str]]:
        """Rows behind the words `summary`, which are chosen by keyboard."""
        details = next(one for one in self.driver.find_elements(By.CSS_SELECTOR, f"#{section} details")
                       if one.find_element(By.TAG_NAME, "summary").text == summary)
        details.find_element(By.TAG_NAME, "summary").send_keys(Keys.ENTER)
        time.sleep(0.2)
        return self.run("return [...arguments[0].querySelectorAll('tbody tr')].map(row => [...row.children].map("
                        "cell => cell.textContent))", details)


def synthetic(name: str, *arguments: str) -> dict:
    path = work / f"{name}.json"
    subprocess.run([sys.executable, HERE / "synthetic.py", *arguments, path], check=True)
    return json.loads(path.read_text())


def page_of(name: str) -> pathlib.Path:
    subprocess.run([umwelt, "report", f"{name}.json"], check=True, cwd=work, stdout=subprocess.DEVNULL)
    return work / f"{name}.html"


def plain(text: str) -> int:
    return int("".join(c for c in text if c.isdigit()))


def charts_draw(light: Browser) -> None:
    synthetic("all")
    page = page_of("all")
    with Browser(dark=True) as dark:
        for browser in (light, dark):
            browser.open(page)
            equal(browser.run("return matchMedia('(prefers-color-scheme: dark)').matches"), browser is dark, "theme")
            equal(sorted(set(browser.charts())), sorted(CHARTS), "charts")
            # Whatever is chosen, everything draws again without a word.
            browser.run("for (const what of ['.choice input', '.zoom button']) for (let i = 0; i < "
                        "document.querySelectorAll(what).length; ++i) document.querySelectorAll(what)[i].click()")
            browser.run("dispatchEvent(new Event('beforeprint')); dispatchEvent(new Event('afterprint'))")
            time.sleep(0.3)
            equal(sorted(set(browser.charts())), sorted(CHARTS), "charts, after all was chosen")
            check(len(browser.driver.print_page()) > 10_000, "a printed page")
            browser.is_silent("all")


def figures_are_those_of_the_report(browser: Browser) -> None:
    report = synthetic("figures", "--ranks", "30")
    browser.open(page_of("figures"))
    equal(plain(browser.text("[data-card='Simulated time'] small").removesuffix("ps")), report["simulated_ps"],
          "simulated time")
    for card, expected in (("Ranks", 30), ("Messages", report["totals"]["messages"]),
                           ("Events", report["timeline_events"])):
        equal(plain(browser.text(f"[data-card='{card}']").split("\n", maxsplit=1)[0]), expected, card)
    rows = browser.table("ranks", "All ranks as a table")
    equal(len(rows), 30, "rows of ranks")
    for row, rank in zip(rows, report["ranks"]):
        equal((int(row[0]), row[1], plain(row[7])), (rank["rank"], rank["host"], rank["messages_sent"]), "a rank")
        equal(row[2], f"{rank['compute_ps'] / 1e9:.3f} ms", "its computing")
    rows = browser.table("matrix", "All pairs as a table")
    expected = {(one["from"], one["to"]): one["messages"] for one in report["mpi_calls"]["messages"]}
    equal({(plain(row[0]), plain(row[1])): plain(row[2]) for row in rows}, expected, "pairs of ranks")
    rows = browser.table("calls", "Functions as a table")
    equal([(row[0], plain(row[1])) for row in rows],
          [(one["name"], one["calls"]) for one in report["mpi_calls"]["functions"]], "functions")
    rows = browser.table("sizes", "Sizes as a table")
    equal([plain(row[1]) for row in rows], [one["messages"] for one in report["totals"]["sizes"]], "sizes")
    bars = browser.run("return [...document.querySelectorAll('[data-chart=sizes] rect')].map(bar => "
                       "Number(bar.dataset.value))")
    equal(bars, [one["messages"] for one in report["totals"]["sizes"]], "bars")
    rows = browser.table("network", "Links as a table")
    names = {one["name"]: one["messages"] for one in report["links"]["links"]}
    equal({row[0]: plain(row[7]) for row in rows}, names, "links")
    rows = browser.table("path", "Segments as a table")
    equal([int(row[0]) for row in rows], [one["rank"] for one in report["critical_path"]["segments"]][:200],
          "segments")
    path = report["critical_path"]
    share = 100 * path["kinds"]["computing_ps"] / path["length_ps"]
    check(f"{share:.1f} % of it is computing" in browser.text("#path .sentence"), "share of computing")
    equal(browser.text("#command"), "cd /home/user\n" + " ".join(report["run"]["command"]), "command")
    browser.is_silent("figures")


def keyboard(browser: Browser) -> None:
    synthetic("keys")
    browser.open(page_of("keys"))
    for chart in ("ranks", "matrix", "links", "timeline", "path"):
        canvas = browser.driver.find_element(By.CSS_SELECTOR, f"canvas[data-chart={chart}]")
        check(canvas.get_attribute("aria-label"), f"{chart} says what it is")
        canvas.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_DOWN)
        told = browser.run("return arguments[0].closest('figure').querySelector('.live').textContent", canvas)
        check(len(told) > 10, f"{chart} tells what was chosen, got {told!r}")
        if chart == "ranks":
            check(told.startswith("rank 2 on bxi2"), f"the third rank, got {told!r}")
    browser.driver.find_element(By.ID, "copy").send_keys(Keys.ENTER)
    time.sleep(0.3)
    check("copied" in browser.text("#copy + .hint") or "allow" in browser.text("#copy + .hint"), "copying answers")
    # Every picture has a name, every table a caption, every part a heading.
    equal(browser.run("return document.querySelectorAll('[data-chart]:not([aria-label])').length"), 0, "names")
    equal(browser.run("return document.querySelectorAll('main section:not([aria-labelledby])').length"), 0, "parts")
    browser.is_silent("keys")


def missing_parts_say_how(browser: Browser) -> None:
    keys = ("mpi_calls", "links", "timeline", "critical_path", "run", "host")
    synthetic("bare", *[word for key in keys for word in ("--without", key)])
    browser.open(page_of("bare"))
    for section, option in (("matrix", "--mpi-calls"), ("calls", "--mpi-calls"), ("network", "--"),
                            ("timeline", "--"), ("path", "--")):
        check(option in browser.text(f"#{section} .missing code"), f"{section} names an option")
    equal(sorted(set(browser.charts())), ["ranks", "shares", "sizes"], "charts")


def causes_at_first_sight(browser: Browser) -> None:
    synthetic("hot", "--kind", "hot")
    synthetic("deadlock", "--kind", "deadlock")
    browser.open(page_of("hot"))
    check("Contention at link bxi0-leaf0_DOWN" in browser.text("#verdict .headline"), "the hot link is named")
    browser.open(page_of("deadlock"))
    headline = browser.text("#verdict .headline")
    check(headline.startswith("Deadlock at 8 ms: rank 0 waits for rank 1 (MPI_Recv), "), f"cycle: {headline}")
    check("cycle" in browser.charts(), "a picture of the cycle")
    check(browser.run("return document.querySelector('.alarm').getBoundingClientRect().top") < 400, "at the top")


def names_are_text(browser: Browser) -> None:
    report = synthetic("hostile", "--kind", "hostile")
    browser.open(page_of("hostile"))
    equal(browser.text("h1"), report["programs"][0], "name of the program")
    equal(browser.run("return document.images.length"), 0, "pictures")
    equal(browser.run("return document.scripts.length"), 3, "scripts")
    check(report["mpi_calls"]["sites"][0]["place"] in browser.text("#calls"), "name of a place")


def pages_are_small(browser: Browser) -> None:
    synthetic("large", "--ranks", "1024")
    page = page_of("large")
    check(page.stat().st_size <= MOST_BYTES, f"1,024 ranks: at most {MOST_BYTES} bytes, got {page.stat().st_size}")
    text = page.read_text()
    for word in ("@import", "src=\"http", "href=\"http", "fetch(\"http"):
        check(word not in text.replace("https://d3js.org", ""), f"nothing from the network, got {word}")
    check("BSD-3-Clause" in text, "the licence of D3")
    report = synthetic("alltoall", "--ranks", "400", "--kind", "alltoall", "--without", "timeline")
    page = page_of("alltoall")
    check(page.stat().st_size <= MOST_BYTES, f"all to all: at most {MOST_BYTES} bytes, got {page.stat().st_size}")
    browser.open(page)
    data = browser.run("return JSON.parse(document.getElementById('data').textContent).runs[0].report.mpi_calls"
                       ".messages")
    equal(sum(data["messages"]), sum(one["messages"] for one in report["mpi_calls"]["messages"]), "messages")
    equal(data["pairs"], 400 * 399, "pairs")
    check("matrix" in browser.charts(), "the matrix draws")


def thousands_of_ranks(browser: Browser) -> None:
    synthetic("huge", "--ranks", "4096")
    page = page_of("huge")
    start = time.monotonic()
    browser.open(page)
    took = time.monotonic() - start
    check(took < MOST_SECONDS, f"4,096 ranks: at most {MOST_SECONDS} s, got {took:.1f}")
    equal(sorted(set(browser.charts())), sorted(CHARTS), "charts")
    one = browser.run("""
        const begin = performance.now();
        const canvas = document.querySelector("canvas[data-chart=ranks]");
        canvas.closest("figure").redraw();
        return performance.now() - begin;""") if browser.run(
            "return typeof document.querySelector('canvas').closest('figure').redraw") == "function" else 0
    check(one < 500, f"drawing 4,096 ranks: at most 500 ms, got {one:.0f}")
    rows = browser.table("ranks", "All ranks as a table")
    equal(len(rows), 1024, "rows of a long table")
    check("first 1\u202f024 of 4\u202f096" in browser.text("#ranks caption"), "what a long table leaves out")


def comparison(browser: Browser) -> None:
    first = synthetic("before")
    second = synthetic("after", "--scale", "1.5")
    subprocess.run([umwelt, "compare", "before.json", "after.json", "--html", "both.html"], check=True, cwd=work,
                   stdout=subprocess.DEVNULL)
    browser.open(work / "both.html")
    sentence = browser.text("#changes .sentence")
    check("after.json takes 12 ms, +50.0 % against before.json" in sentence, sentence)
    row = browser.run("return [...document.querySelectorAll('#changes tbody tr')].map(row => [...row.children].map("
                      "cell => cell.textContent)).find(row => row[0] === 'messages')")
    equal([plain(row[1]), plain(row[2])], [one["totals"]["messages"] for one in (first, second)], "messages")
    charts = browser.charts()
    for chart in ("run-shares", "rank-changes", *CHARTS):
        check(chart in charts, f"{chart} draws, got {charts}")
    # The other run below.
    browser.run("const select = document.getElementById('run'); select.value = 1; "
                "select.dispatchEvent(new Event('change'))")
    time.sleep(0.5)
    equal(plain(browser.text("[data-card='Simulated time'] small").removesuffix("ps")), second["simulated_ps"],
          "the other run")
    equal(browser.run("return document.querySelectorAll('#verdict').length"), 1, "one verdict")
    browser.is_silent("both")


def repetitions(browser: Browser) -> None:
    runs = [synthetic(f"run{i}", "--ranks", "12", "--scale", str(scale)) for i, scale in enumerate((1.2, 1, 1.1))]
    interval = {"median": 8.8e9, "low": 8e9, "high": 9.6e9}
    both = {"report_version": 1, "repetitions": 3, "confidence": 0.75, "simulated_ps": interval, "runs": runs}
    (work / "repeated.json").write_text(json.dumps(both))
    browser.open(page_of("repeated"))
    equal(plain(browser.text("[data-card='Simulated time'] small").removesuffix("ps")), runs[2]["simulated_ps"],
          "the run in the middle")
    check("3 runs, median 8.800 ms, between 8 ms and 9.600 ms (75.0 % confidence)" in browser.text("#verdict"),
          "the spread")


def real_run(browser: Browser) -> None:
    subprocess.run([umwelt, "run", "-q", "-np", "3", "--cpu", "none", "--mpi-calls", "--report", "real.json", "sleep",
                    "0.1"], check=True, cwd=work)
    report = json.loads((work / "real.json").read_text())
    browser.open(page_of("real"))
    equal(plain(browser.text("[data-card='Simulated time'] small").removesuffix("ps")), report["simulated_ps"],
          "simulated time")
    check("ranks" in browser.charts(), "ranks draw")


CASES = [charts_draw, figures_are_those_of_the_report, keyboard, missing_parts_say_how, causes_at_first_sight,
         names_are_text, pages_are_small, thousands_of_ranks, comparison, repetitions, real_run]


def main() -> int:
    global umwelt, work
    umwelt = sys.argv[1]
    for program in ("chromium", "chromedriver"):
        if not shutil.which(program):
            print(f"skipped: {program} is not there")
            return SKIPPED
    chosen = [case for case in CASES if len(sys.argv) == 2 or case.__name__ in sys.argv[2:]]
    if not chosen:
        print(f"expected some of {', '.join(case.__name__ for case in CASES)}, got {sys.argv[2:]}")
        return 2
    failed = 0
    with tempfile.TemporaryDirectory() as directory:
        work = pathlib.Path(directory)
        with Browser() as browser:
            for case in chosen:
                try:
                    case(browser)
                    print(f"ok {case.__name__}", flush=True)
                except Exception as error:  # of one case: others go on
                    failed += 1
                    print(f"FAILED {case.__name__}: {type(error).__name__}: {error}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
