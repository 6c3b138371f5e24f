"""`lopsided export`: a saved model for programs without Python."""

from __future__ import annotations

import json
from pathlib import Path

import click

from lopsided.cli.options import with_config, with_json

_WORST = 1e-6


@click.command()
@click.argument("model", metavar="MODEL")
@click.option("--output", "-o", metavar="ONNX", help="The file to write. Default: MODEL with the suffix .onnx.")
@with_config
@with_json
def export(model: str, output: str | None, as_json: bool) -> None:
    """Write MODEL as ONNX: linear learners, and sums of Gaussian or polynomial kernels (KOIL, OILK, SPA, BPAS, ...).

    The graph takes float64 rows as the model's encoder makes them: numbers (NaN where missing), whether they are
    missing, parts of dates, hashed words; the names of these columns, in order, are in its metadata as `columns`. A
    table of nothing but numbers is such a matrix as it is. It gives `score` and `probability`. The file is read back
    and compared with the model before it is kept.
    """
    import numpy as np

    from lopsided.cli.anatomy import feature_names
    from lopsided.cli.onnx_graph import as_onnx, cannot_be_exported
    from lopsided.cli.running import check_inputs_survive, check_writable
    from lopsided.cli.saved import load_for_files

    output = output or str(Path(model).with_suffix(".onnx"))
    check_writable(output)
    check_inputs_survive({"model": model, "output": output}, ["output"])
    ranker = load_for_files(model)
    content = as_onnx(ranker)
    rows = np.random.default_rng(0).normal(size=(16, ranker.n_features_in_))
    rows = np.nan_to_num(ranker.unscaled(rows) if hasattr(ranker, "schema") else rows)
    worst = _difference(content, ranker, rows)
    if not worst <= _WORST:
        raise cannot_be_exported(ranker)
    Path(output).write_bytes(content)
    facts = {
        "output": output,
        "bytes": len(content),
        "learner": type(ranker.learner_).__name__,
        "columns": feature_names(ranker),
        "largest_difference": worst,
    }
    if as_json:
        click.echo(json.dumps(facts))
    else:
        click.echo(
            f"{output}: {facts['learner']}, {ranker.n_features_in_:,} columns, {len(content) / 1000:,.0f} kB, "
            f"scores within {worst:.1g} of the model's"
        )


def _difference(content: bytes, model: object, rows: object) -> float:
    """The largest difference of scores, by onnx's own reference."""
    import numpy as np
    from onnx.reference import ReferenceEvaluator

    (scores,) = ReferenceEvaluator(content).run(["score"], {"rows": rows})
    expected = model.raw_scores(rows) - model.threshold_  # type: ignore[attr-defined]
    return float(np.abs(scores - expected).max() / max(1.0, np.abs(expected).max()))
