# SPDX-License-Identifier: LGPL-2.1-or-later
"""YAML whose nodes know where they stand, so that every error names file, line and column."""
from __future__ import annotations

import pathlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from .errors import SweepError, nearest

_BOOL, _INT, _FLOAT, _TIME = (f"tag:yaml.org,2002:{name}" for name in ("bool", "int", "float", "timestamp"))


class _Loader(yaml.SafeLoader):
    """YAML as of version 1.2: 'on' and 'no' are words, 1:30 is not 90, 010 is not 8, 1e-6 is a number."""


_Loader.yaml_implicit_resolvers = {
    letter: [(tag, pattern) for tag, pattern in pairs if tag not in (_BOOL, _INT, _FLOAT, _TIME)]
    for letter, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(_BOOL, re.compile(r"^(?:true|True|false|False)$"), list("tTfF"))
_Loader.add_implicit_resolver(_INT, re.compile(r"^[-+]?(?:0|[1-9][0-9]*)$"), list("-+0123456789"))
_Loader.add_implicit_resolver(
    _FLOAT, re.compile(r"^[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?$"), list("-+.0123456789")
)

Scalar = str | int | float | bool


@dataclass(frozen=True)
class Node:
    """A piece of the file: `path` is how it is called in messages."""

    node: yaml.Node
    file: str
    path: str

    @property
    def where(self) -> str:
        mark = self.node.start_mark
        return f"{self.file}:{mark.line + 1}:{mark.column + 1}: {self.path}"

    @property
    def kind(self) -> str:
        if isinstance(self.node, yaml.MappingNode):
            return "a mapping"
        if isinstance(self.node, yaml.SequenceNode):
            return "a list"
        return "nothing" if self.plain() is None else f"'{self.node.value}'"

    def error(self, expected: str, got: str = "", step: str = "") -> SweepError:
        return SweepError(self.where, expected, got or self.kind, step)

    def plain(self) -> Any:
        """The value without marks."""
        return _construct(self.node)

    def is_mapping(self) -> bool:
        return isinstance(self.node, yaml.MappingNode)

    def is_list(self) -> bool:
        return isinstance(self.node, yaml.SequenceNode)

    def items(self) -> Iterator[tuple["Node", "Node"]]:
        if not self.is_mapping():
            raise self.error("a mapping (key: value)")
        for key, value in self.node.value:
            name = str(key.value) if isinstance(key, yaml.ScalarNode) else "?"
            yield Node(key, self.file, name), Node(value, self.file, name if self.path == "" else f"{self.path}.{name}")

    def mapping(self, known: tuple[str, ...] = (), kind: str = "key") -> dict[str, "Node"]:
        """Values by their keys; keys that are there twice, or not in `known`, are errors."""
        found: dict[str, Node] = {}
        for key, value in self.items():
            name = key.text()
            where = f"{key.where.rsplit(': ', 1)[0]}: {kind} '{name}'"
            if name in found:
                raise SweepError(where, "each key once", "it again", "take one of them out")
            if known and name not in known:
                close = nearest(name, known)
                step = f"the nearest known one is '{close}'" if close else f"known are: {', '.join(known)}"
                raise SweepError(where, "a known key", "this one", step)
            found[name] = value
        return found

    def list(self) -> list["Node"]:
        if not self.is_list():
            raise self.error("a list ([a, b])")
        return [Node(entry, self.file, f"{self.path}[{index}]") for index, entry in enumerate(self.node.value)]

    def scalar(self) -> Scalar:
        value = self.plain() if isinstance(self.node, yaml.ScalarNode) else None
        if not isinstance(value, (str, int, float, bool)):
            raise self.error("a word or a number")
        return value

    def text(self) -> str:
        """The scalar as it is written: 1.0 stays 1.0."""
        self.scalar()
        return str(self.node.value)

    def integer(self, least: int = 0, most: int | None = None) -> int:
        value = self.plain()
        if (
            not isinstance(value, int)
            or isinstance(value, bool)
            or value < least
            or (most is not None and value > most)
        ):
            limits = f"from {least:,} to {most:,}" if most is not None else f"of at least {least:,}"
            raise self.error(f"a whole number {limits}")
        return value

    def number(self) -> float:
        value = self.plain()
        if not isinstance(value, (int, float)) or isinstance(value, bool):
            raise self.error("a number")
        return float(value)

    def flag(self) -> bool:
        value = self.plain()
        if not isinstance(value, bool):
            raise self.error("true or false")
        return value

    def one_of(self, words: tuple[str, ...]) -> str:
        word = self.text()
        if word not in words:
            close = nearest(word, words)
            raise self.error(f"one of {', '.join(words)}", "", f"the nearest known one is '{close}'" if close else "")
        return word


def _construct(node: yaml.Node) -> Any:
    loader = _Loader("")
    try:
        return loader.construct_object(node, deep=True)
    finally:
        loader.dispose()


def read(path: pathlib.Path) -> Node:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "bytes that are not UTF-8"
        raise SweepError(str(path), "a design in YAML", str(reason)) from None
    return parse(text, str(path))


def parse(text: str, name: str) -> Node:
    try:
        node = yaml.compose(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"{name}:{mark.line + 1}:{mark.column + 1}" if mark else name
        problem = error.problem or error.context or "something else"
        raise SweepError(place, "YAML", problem) from None
    except yaml.YAMLError as error:
        raise SweepError(name, "YAML", str(error).replace("\n", " ")) from None
    if node is None:
        raise SweepError(name, "a design", "an empty file")
    return Node(node, name, "")
