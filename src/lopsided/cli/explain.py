"""`lopsided explain`: one score as the sum that it is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from lopsided.cli.options import reading, with_config, with_json

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


@click.command()
@click.argument("model", metavar="MODEL")
@click.argument("what", metavar="ROW|FILE")
@click.option("--row", type=click.IntRange(min=1), help="Which row of FILE, counted from 1 without the header.")
@click.option("--top", default=5, show_default=True, type=click.IntRange(min=1), help="How many terms are shown.")
@reading
@with_config
@with_json
def explain(model: str, what: str, row: int | None, top: int, as_json: bool, **options: Any) -> None:
    """Take the score of one row apart: which remembered examples speak for the label, and which against it.

    ROW is a JSON object of columns, such as '{"amount": 17.5, "country": "NO"}'; or FILE with --row N. The score of a
    kernel learner is a sum over its support vectors of weight times similarity (1 for the same, 0 for nothing in
    common); that of a linear one a sum over features of weight times value. Nothing is approximated.
    """
    from lopsided.cli.anatomy import columns_in_words, parts_of_score
    from lopsided.cli.models import as_json as plain
    from lopsided.cli.saved import load_for_files

    ranker = load_for_files(model)
    X = _from_json(ranker, what) if what.lstrip().startswith("{") else _from_file(ranker, what, row, options)
    raw, parts = parts_of_score(ranker, X)
    score = raw - ranker.threshold_
    probability = float(ranker.answer(X).probability[0])
    label = ranker.answer(X).decision[0]
    rest = parts[top:]
    if as_json:
        shown = [
            {"amount": p.amount, "name": p.name, "weight": p.weight, "times": p.times, "columns": plain(p.columns)}
            for p in parts[:top]
        ]
        others = {"terms": len(rest), "amount": sum(part.amount for part in rest)}
        facts = {"score": score, "probability": probability, "predicted": plain(label), "threshold": ranker.threshold_}
        click.echo(json.dumps({"model": model, **facts, "parts": shown, "rest": others}))
        return
    click.echo(f"score        {score:+.6g}, so {label} (probability of {ranker._labels.positive}: {probability:.3f})")
    if ranker.threshold_:
        click.echo(f"threshold    {ranker.threshold_:+.6g}, taken off the sum below")
    for part in parts[:top]:
        if part.columns is None:
            click.echo(f"{part.amount:+12.6f} = {part.weight:+.4f} x {part.times:.4f}  {part.name}")
        else:
            kind = ranker._labels.positive if part.name == "like" else ranker._labels.negative
            columns = columns_in_words(part.columns)
            click.echo(
                f"{part.amount:+12.6f} = {part.weight:+.4f} x similarity {part.times:.4f} to one of {kind}: {columns}"
            )
    if rest:
        click.echo(
            f"{sum(part.amount for part in rest):+12.6f}   {len(rest):,} smaller term{'s' * (len(rest) > 1)} together"
        )


def _from_json(model: Any, text: str) -> Any:
    from lopsided.constraints import ParameterError
    from lopsided.streams import StreamError

    try:
        row = json.loads(text)
    except ValueError as error:
        raise ParameterError(f"The row to explain must be a JSON object, got {text!r}: {error}.") from None
    if not hasattr(model, "schema"):
        raise ParameterError(
            "The row to explain must be one of a LIBSVM file, as the model has learned from, got JSON."
        )
    try:
        return model._matrix([row])
    except StreamError as error:  # which numbers the rows of a table, where there is only one
        raise StreamError("the row to explain", None, error.field, error.rule, error.got) from None


def _from_file(model: Any, path: str, row: int | None, options: dict[str, Any]) -> npt.NDArray[np.float64]:
    from lopsided.cli.feed import Reading, open_feed
    from lopsided.cli.passed_rows import PassedRows
    from lopsided.streams import StreamError

    if row is None:
        raise click.UsageError("Missing option '--row', which says which row of the file to explain")
    feed = open_feed(Reading([path], **options), model, labelled=False)
    passed = feed.bad = PassedRows(options["on_error"], options["quarantine"])
    before = 0
    with feed:
        for portion in feed:
            n_rows = portion.X.shape[0]
            if before + n_rows + len(passed.errors) >= row:
                place = row - 1 - passed.before(row, path, feed.stream) - before
                return portion.X[place : place + 1]
            before += n_rows
    n_rows = before + len(passed.errors)
    if n_rows >= row:
        passed.before(row, path, feed.stream)  # it is one of the last ones, all of which are bad
    raise StreamError(path, None, None, f"must have {row:,} rows", f"{n_rows:,}")
