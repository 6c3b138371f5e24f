"""`lopsided datasets`: which sets are on this machine, and how to get the others."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from lopsided.datasets import Available


@click.command()
@click.option("--data", type=click.Path(), help="A folder with sets of your own: npz, LIBSVM, CSV.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of a table.")
def datasets(data: str | None, as_json: bool) -> None:
    """List the data sets that `compare` and `reproduce` know by name: rows, features, negatives per positive.

    Nothing is ever downloaded.
    """
    from lopsided.datasets import available, how_to_get_more

    own, left_out = _of_folder(data) if data is not None else ([], {})
    taken = {*(one.name for one in own), *left_out}  # the folder comes first, as for `compare` and `reproduce`
    found = own + [one for one in available() if one.name not in taken]
    hints = how_to_get_more(data=data)
    if as_json:
        entries = [{name: _finite(value) for name, value in asdict(one).items()} for one in found]
        click.echo(json.dumps({"sets": entries, "left_out": left_out, "more": hints}))
        return
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD)
    for heading in ("set", "from"):
        table.add_column(heading)
    for heading in ("rows", "features", "negatives per positive"):
        table.add_column(heading, justify="right")
    for one in found:
        table.add_row(one.name, one.family, f"{one.rows:,}", f"{one.features:,}", f"{one.ratio:.1f}")
    console = Console()
    console.print(table)
    for hint in [*(f"{name} is left out: {reason}" for name, reason in left_out.items()), *hints]:
        console.print(hint, highlight=False, markup=False)


def _of_folder(folder: str) -> tuple[list[Available], dict[str, str]]:
    """The sets of a folder, and why those that cannot be used are none; one bad file must not hide the others."""
    from lopsided.datasets import Available, folder_sets, load_from_folder

    found, left_out = [], {}
    for name in folder_sets(folder):
        try:
            one = load_from_folder(folder, name)
        except ValueError as error:
            left_out[name] = str(error)
        else:
            found.append(Available(name, "folder", one.n_rows, one.n_features, one.ratio, one.source))
    return found, left_out


def _finite(value: object) -> object:
    return None if isinstance(value, float) and not math.isfinite(value) else value
