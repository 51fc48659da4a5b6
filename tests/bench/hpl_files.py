# SPDX-License-Identifier: LGPL-2.1-or-later
"""Input and result of HPL 2.x, whether its own program reads them (HPL.dat) or a main program around that of HPC
Challenge (hpccinf.txt, hpccoutf.txt)."""

import re

# Those with which real runs on Dahu were made (tests/accuracy/dahu)
ALGORITHM = {"block_size": 128, "depth": 1, "swap": 0, "pfact": 1, "rfact": 2, "bcast": 2}

# NBMIN, NDIV, threshold and the form of L1 and U are those with which the real runs were made.
INPUT = """HPLinpack benchmark input file
Innovative Computing Laboratory, University of Tennessee
HPL.out      output file name (if any)
6            device out (6=stdout,7=stderr,file)
1            # of problems sizes (N)
{n}          Ns
1            # of NBs
{block_size} NBs
0            PMAP process mapping (0=Row-,1=Column-major)
1            # of process grids (P x Q)
{p}          Ps
{q}          Qs
-16.0        threshold
1            # of panel fact
{pfact}      PFACTs (0=left, 1=Crout, 2=Right)
1            # of recursive stopping criterium
2            NBMINs (>= 1)
1            # of panels in recursion
2            NDIVs
1            # of recursive panel fact.
{rfact}      RFACTs (0=left, 1=Crout, 2=Right)
1            # of broadcast
{bcast}      BCASTs (0=1rg,1=1rM,2=2rg,3=2rM,4=Lng,5=LnM)
1            # of lookahead depth
{depth}      DEPTHs (>=0)
{swap}       SWAP (0=bin-exch,1=long,2=mix)
{block_size} swapping threshold
0            L1 in (0=transposed,1=no-transposed) form
0            U  in (0=transposed,1=no-transposed) form
1            Equilibration (0=no,1=yes)
8            memory alignment in double (> 0)
"""


# Gflop/s, of the line with the result
RATE = r"^W[RC]\w+\s+\d+\s+\d+\s+\d+\s+\d+\s+[\d.]+\s+([\d.e+-]+)\s*$"


def text(n, p, q, algorithm=None):
    return INPUT.format(n=n, p=p, q=q, **{**ALGORITHM, **(algorithm or {})})


def write(directory, content):
    for name in ("hpccinf.txt", "HPL.dat"):
        (directory / name).write_text(content)
    for output in ("hpccoutf.txt", "stdout"):
        (directory / output).write_text("")


def rate(directory, output):
    """Gflop/s that HPL has written, or nothing."""
    written = output + (directory / "hpccoutf.txt").read_text()
    result = re.search(RATE, written, re.MULTILINE)
    return float(result[1]) if result else None
