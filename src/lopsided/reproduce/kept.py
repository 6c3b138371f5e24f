"""A table with the parameters that were chosen when it was made: run again without choosing them anew."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from lopsided.reproduce.comparison import described, method_for, read_outcomes
from lopsided.reproduce.protocols import plain
from lopsided.reproduce.table import LITERAL, Method, Table

Methods = Callable[[str], Mapping[str, Method]]


def with_kept_parameters(table: Table, summary: Mapping[str, Any]) -> Table:
    """The table, each method with the one setting that a JSON file of it names; without one there, with all of them."""
    if table.tunes_each_run:
        raise ValueError(f"The table {table.name} has parameters of its own in every run, so that none can be kept.")
    chosen: dict[tuple[str, str], str] = {}
    for one in read_outcomes(table, summary):
        name, data = method_for(table, one.cell), one.cell.data
        varied = table.difference_of(one.cell.method) is not None
        for method, measured in ((name + LITERAL if varied else name, one.here), (name, one.ours)):
            if measured.runs:
                chosen[data, method] = measured.parameters
    return replace(table, methods=partial(_narrowed, table.methods, chosen))


def _narrowed(methods: Methods, chosen: Mapping[tuple[str, str], str], set_name: str) -> Mapping[str, Method]:
    found = {}
    for name, method in methods(set_name).items():
        parts = _parts(chosen.get((set_name, name), ""))
        same = [setting for setting in method.settings if _parts(described(plain(dict(setting)))) == parts]
        found[name] = replace(method, settings=same) if len(same) == 1 else method
    return found


def _parts(text: str) -> list[str]:
    """What a text says of parameters, in whichever order."""
    return sorted(text.split(", "))
