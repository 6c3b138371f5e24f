"""`lopsided inspect`: what a saved model is made of."""

from __future__ import annotations

import json
import os

import click

from lopsided.cli.options import with_config, with_json


@click.command()
@click.argument("model", metavar="MODEL")
@click.option("--top", default=5, show_default=True, type=click.IntRange(min=0), help="How many vectors or weights.")
@with_config
@with_json
def inspect(model: str, top: int, as_json: bool) -> None:
    """Show what MODEL, a file that `lopsided learn` or a learner's `save` has written, is made of.

    Learner and parameters, columns, labels, rows seen, the threshold, how much of the budget is used, and the support
    vectors with the largest weights (or the largest weights of a linear model, or the members of a pool), in the
    columns of the table. Vectors are kept on the scale of the moment at which they came; their columns are told on the
    present one.
    """
    from lopsided.cli.saved import load_for_files
    from lopsided.inspection import describe
    from lopsided.version import __version__

    facts = describe(load_for_files(model), top=top)
    size = os.path.getsize(model)
    if as_json:
        click.echo(json.dumps({"model": model, "version": __version__, "bytes": size, **facts.to_json()}))
        return
    click.echo(f"model      {model}, {size / 1000:,.0f} kB")
    click.echo(str(facts))
