# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tables in Markdown, and a figure per benchmark by gnuplot."""

import math
import statistics

import measurements
from measurements import GROUPS, bias, common, error

OTHERS = tuple(measurements.OTHERS.values())
COLOURS = {"none": "#0060ad", "measured": "#559933", "S4BXI": "#dd7711", "SMPI": "#aa3377"}
SHOWN = (8, 4096, 1 << 20)  # sizes of which the table has the values


def percent(value, sign=""):
    return "" if value is None else f"{round(100 * value, 1) + 0.0:{sign}.1f} %"  # no "-0.0"


def size_text(size):
    for unit, factor in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= factor and size % factor == 0:
            return f"{size // factor} {unit}"
    return f"{size} B"


def number_text(value):
    return f"{value:.0f}" if value >= 1000 else f"{value:.3g}"


def shown_values(benchmark, modes):
    if benchmark.group == "lulesh":
        sizes = {size: f"-s {size}" for size in benchmark.real}
    else:
        nearest = [min(benchmark.real, key=lambda size: abs(math.log(max(size, 0.5) / wanted))) for wanted in SHOWN]
        sizes = {size: size_text(size) for size in nearest}
    columns = [benchmark.real, *(benchmark.predicted[mode] for mode in modes if mode in benchmark.predicted)]
    return "; ".join(
        f"{text}: " + " / ".join(number_text(column[size]) for column in columns) for size, text in sizes.items()
    )


def table(group, benchmarks, modes):
    """The rows of one group, with means of the errors."""
    predictors = [*modes, *OTHERS]
    unit = {"pairs": "us or MB/s", "lulesh": "times 1 rank"}.get(group, "us")
    header = ["", "ranks", "sizes", *(f"`--cpu {mode}`" for mode in modes)]
    header += [f"signed, `{mode}`" for mode in modes] + [*OTHERS, f"{unit}: cluster / " + " / ".join(modes)]
    lines = [f"## {GROUPS[group]}", "", f"| {' | '.join(header)} |", "|" + "---|" * len(header)]
    errors = {who: [] for who in predictors}
    for benchmark in benchmarks:
        of_row = {who: error(benchmark.predicted.get(who, {}), benchmark.real) for who in predictors}
        for who, value in of_row.items():
            if value is not None:
                errors[who].append(value)
        signs = [percent(bias(benchmark.predicted.get(mode, {}), benchmark.real), "+") for mode in modes]
        cells = [f"[{benchmark.name}](plots/{benchmark.name}.svg)", str(benchmark.ranks), str(len(benchmark.real))]
        cells += [percent(of_row[mode]) for mode in modes] + signs + [percent(of_row[who]) for who in OTHERS]
        lines.append(f"| {' | '.join([*cells, shown_values(benchmark, modes)])} |")
    means = {who: percent(statistics.fmean(values)) if values else "" for who, values in errors.items()}
    cells = ["mean", "", "", *(means[mode] for mode in modes), *("" for _ in modes)]
    cells += [*(means[who] for who in OTHERS), ""]
    lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def tables(benchmarks, modes):
    return "\n".join(
        table(group, [one for one in benchmarks if one.group == group], modes)
        for group in GROUPS
        if any(one.group == group for one in benchmarks)
    )


def draw(benchmark, path):
    """Values above, how far each prediction is off below."""
    series = {"cluster": benchmark.real, **benchmark.predicted}
    blocks = []
    for i, values in enumerate(series.values()):
        points = [
            f"{size} {value:.5g} {100 * (value / benchmark.real[size] - 1):.2f}"
            for size, value in sorted(values.items())
            if size > 0 and size in benchmark.real
        ]
        blocks.append(f"$s{i} << EOD\n" + "\n".join(points) + "\nEOD\n")
    names = [f"umwelt --cpu {who}" if who in ("none", "measured") else who for who in series]
    lines = [f"lines lw 1.5 lc rgb '{COLOURS.get(who, 'black')}'" for who in series]
    lines[0] = "linespoints pt 7 ps 0.3 lc rgb 'black'"
    above = ", ".join(f"$s{i} using 1:2 with {lines[i]} title '{name}'" for i, name in enumerate(names))
    below = ", ".join(f"$s{i} using 1:3 with {lines[i]} notitle" for i in range(1, len(names)))
    script = f"""{''.join(blocks)}
set terminal svg size 640,480 font 'sans-serif,12' name 'figure' background 'white'
set encoding utf8
set multiplot
set lmargin 9
set rmargin 2
set grid lc rgb '#dddddd' lw 0.5
set logscale x 2
set xtics 16
unset mxtics
set format x ''
set logscale y
set ytics 10
unset mytics
set ylabel '{benchmark.unit}'
set key {'bottom right' if benchmark.unit == 'MB/s' else 'top left'}
set title '{benchmark.name}, {benchmark.ranks} ranks' noenhanced
set origin 0,0.37
set size 1,0.63
set bmargin 0.5
plot {above}
unset title
unset logscale y
set ytics autofreq
set ylabel '% off'
set format x '2^{{%L}}'
set xlabel '{'elements per rank and edge' if benchmark.group == 'lulesh' else 'bytes'}'
set origin 0,0
set size 1,0.37
set tmargin 0.5
unset bmargin
set xzeroaxis lc rgb 'black'
plot {below}
unset multiplot
"""
    path.write_text(common.svg(script, benchmark.name))
