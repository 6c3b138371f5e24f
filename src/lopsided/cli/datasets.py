"""`lopsided datasets`: which sets are on this machine, and how to get the others."""

from __future__ import annotations

import json
import math
from dataclasses import asdict

import click


@click.command()
@click.option("--data", type=click.Path(), help="A folder with sets of your own: npz, LIBSVM, CSV.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of a table.")
def datasets(data: str | None, as_json: bool) -> None:
    """List the data sets that `compare` and `reproduce` know by name, with rows, features and negatives per positive.

    Nothing is ever downloaded.
    """
    from lopsided.datasets import available, how_to_get_more

    found, hints = available(data=data), how_to_get_more(data=data)
    if as_json:
        entries = [{name: _finite(value) for name, value in asdict(one).items()} for one in found]
        click.echo(json.dumps({"sets": entries, "more": hints}))
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
    for hint in hints:
        console.print(hint, highlight=False, markup=False)


def _finite(value: object) -> object:
    return None if isinstance(value, float) and not math.isfinite(value) else value
