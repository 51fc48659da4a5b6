# SPDX-License-Identifier: LGPL-2.1-or-later
"""The Python that has the modules. Debian's packages of them are for Debian's Python, and another one may come first
in PATH."""
import importlib.util
import os
import sys

DEBIAN = "/usr/bin/python3"
MODULES = ("yaml", "numpy", "scipy", "matplotlib", "jinja2")


def choose() -> None:
    """Goes on as Debian's Python if that is another one and this one lacks a module."""
    if all(importlib.util.find_spec(name) for name in MODULES):
        return
    if os.path.realpath(sys.executable) != os.path.realpath(DEBIAN) and os.access(DEBIAN, os.X_OK):
        os.execv(DEBIAN, [DEBIAN, "-B", *sys.argv])
