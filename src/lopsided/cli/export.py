"""`lopsided export`: a saved model for programs without Python."""

from __future__ import annotations

import json
from pathlib import Path

import click

from lopsided.cli.options import with_config, with_force, with_json


@click.command()
@click.argument("model", metavar="MODEL")
@click.option("--output", "-o", metavar="ONNX", help="The file to write. Default: MODEL with the suffix .onnx.")
@with_force
@with_config
@with_json
def export(model: str, output: str | None, force: bool, as_json: bool) -> None:
    """Write MODEL as ONNX: every learner of lopsided, and pools and pipelines of them.

    The graph takes float64 rows as the model's encoder makes them: numbers (NaN where missing), whether they are
    missing, parts of dates, hashed words; the names of these columns, in order, are in its metadata as `columns`. A
    table of nothing but numbers is such a matrix as it is. It gives `score` and `probability`. The file is compared
    with the model before it is kept.
    """
    from lopsided.cli.saved import load_for_files
    from lopsided.cli.targets import ONNX, Target, check_targets
    from lopsided.export import largest_difference, rows_to_compare, to_onnx
    from lopsided.inspection import feature_names

    output = output or str(Path(model).with_suffix(".onnx"))
    check_targets([Target("--output", output, ONNX)], [model], force=force)
    ranker = load_for_files(model)
    content = to_onnx(ranker)
    Path(output).write_bytes(content)
    facts = {
        "output": output,
        "bytes": len(content),
        "learner": type(ranker.final_learner).__name__,
        "columns": feature_names(ranker),
        "largest_difference": largest_difference(content, ranker, rows_to_compare(ranker)),
    }
    if as_json:
        click.echo(json.dumps(facts))
    else:
        click.echo(
            f"{output}: {facts['learner']}, {ranker.n_features_in_:,} columns, {len(content) / 1000:,.0f} kB, "
            f"scores within {facts['largest_difference']:.1g} of the model's"
        )
