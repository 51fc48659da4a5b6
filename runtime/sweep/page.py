# SPDX-License-Identifier: LGPL-2.1-or-later
"""`umwelt sweep plot`: all figures, and one page with them."""
from __future__ import annotations

import json
import pathlib

import jinja2
import numpy as np

from .commit import commit
from .errors import OK
from .figures import Drawer
from .sample import read
from .schema import results


def write(path: pathlib.Path, names: list[str] | None, output: pathlib.Path | None, confidence: float,
          ending: str) -> int:  # fmt: skip
    sample = read(path)
    directory = output or (path if path.is_dir() else path.parent) / "plots"
    drawer = Drawer(sample, directory, confidence, ending)
    chosen = sample.chosen(names)
    parts = [(name, drawer.of_metric(name)) for name in chosen]
    if fronts := drawer.pareto():
        parts.append(("Time and cost", fronts))
    if names is None and "wall_s" in sample.metrics:  # how the machine was while points ran
        parts.append(("This machine", drawer.outliers("wall_s")))
    with results(path) as database:
        about = {key: json.loads(value) for key, value in database.execute("SELECT key, value FROM about")}
        others = list(database.execute("SELECT state, count(*) FROM points WHERE state != 'completed' GROUP BY 1"))
    summary = [(name, *(f"{value:.6g}" for value in np.nanquantile(sample.metrics[name], [0, 0.5, 1])))
               for name in chosen]  # fmt: skip
    template = pathlib.Path(__file__).with_name("page.html.in").read_text(encoding="utf-8")
    page = jinja2.Environment(autoescape=True).from_string(template)
    text = page.render(sample=sample, about=about, others=others, parts=[part for part in parts if part[1]],
                       summary=summary)  # fmt: skip
    commit(directory / "index.html", text.encode(), replace=True)
    print(f"{directory / 'index.html'}: {sum(len(figures) for _, figures in parts)} figures")
    return OK
