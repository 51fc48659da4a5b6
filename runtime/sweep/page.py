# SPDX-License-Identifier: LGPL-2.1-or-later
"""`umwelt sweep plot`: all figures, and one page with them, in one file, which looks as the report of a run does: the
same style, a table behind every picture."""
from __future__ import annotations

import base64
import csv
import itertools
import json
import pathlib
import re
from dataclasses import dataclass

import jinja2
import numpy as np

from . import without_effect
from .commit import commit
from .errors import OK
from .figures import Drawer, Figure
from .sample import read
from .schema import results


_MOST_ROWS = 200  # of a table on the page
# Installed beside this file; in the source tree it is the report's.
_STYLES = [pathlib.Path(__file__).with_name("style.css"),
           pathlib.Path(__file__).resolve().parents[1] / "report" / "page" / "style.css"]  # fmt: skip


@dataclass(frozen=True)
class Shown:
    """A figure as the page has it."""

    figure: Figure
    picture: str
    header: list[str]
    rows: list[list[str]]
    left_out: int


def _picture(path: pathlib.Path, number: int) -> str:
    if path.suffix != ".svg":
        return f'<img alt="" src="data:image/{path.suffix[1:]};base64,{base64.b64encode(path.read_bytes()).decode()}">'
    text = path.read_text(encoding="utf-8")
    text = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.DOTALL)
    # Names are to be this picture's own, for a page has several.
    return re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>f{number}-", text)


def _shown(directory: pathlib.Path, figure: Figure, number: int) -> Shown:
    with open(directory / figure.data, newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    return Shown(figure, _picture(directory / figure.picture, number), header, rows[:_MOST_ROWS],
                 max(0, len(rows) - _MOST_ROWS))  # fmt: skip


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
    style = next(style for style in _STYLES if style.is_file()).read_text(encoding="utf-8")
    numbers = itertools.count()
    shown = [(title, [_shown(directory, figure, next(numbers)) for figure in figures])
             for title, figures in parts if figures]  # fmt: skip
    text = page.render(sample=sample, about=about, others=others, parts=shown, summary=summary, style=style,
                       notes=without_effect.notes(sample))  # fmt: skip
    commit(directory / "index.html", text.encode(), replace=True)
    print(f"{directory / 'index.html'}: {sum(len(figures) for _, figures in parts)} figures")
    return OK
