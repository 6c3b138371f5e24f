"""`lopsided explain`: one score as the sum that it is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from lopsided.cli.options import reading, with_config, with_json

if TYPE_CHECKING:
    from lopsided.inspection import Explanation, Part


@click.command()
@click.argument("model", metavar="MODEL")
@click.argument("what", metavar="ROW|FILE")
@click.option("--row", type=click.IntRange(min=1), help="Which row of FILE, counted from 1 without the header.")
@click.option("--top", default=5, show_default=True, type=click.IntRange(min=1), help="How many terms are shown.")
@reading
@with_config
@with_json
def explain(model: str, what: str, row: int | None, top: int, as_json: bool, **options: Any) -> None:
    """Explain the score of one row: which remembered examples speak for the positive label, and which against it.

    ROW is a JSON object of columns, such as '{"amount": 17.5, "country": "NO"}', or, for a model that has learned from
    an array, a JSON list of its numbers; or FILE with --row N. The score of a kernel learner is a sum over its support
    vectors of weight times similarity (1 for the same, 0 for nothing in common); that of a linear one a sum over
    features of weight times value; that of a pool a sum over its members. Nothing is approximated.
    """
    from lopsided.cli.saved import load_for_files
    from lopsided.inspection import explain as explained

    ranker = load_for_files(model)
    is_json = what.lstrip().startswith(("{", "["))
    X, names = _from_json(ranker, what) if is_json else _from_file(ranker, what, row, options)
    explanation = explained(ranker, X, names=names)
    if as_json:
        click.echo(json.dumps({"model": model, **explanation.to_json(top)}))
        return
    for line in _lines(explanation, top):
        click.echo(line)


def _lines(explanation: Explanation, top: int) -> list[str]:
    lines = [
        f"score        {explanation.score:+.6g}, so {explanation.decision} "
        f"(probability of {explanation.positive}: {explanation.probability:.3f})"
    ]
    if explanation.threshold:
        lines.append(f"threshold    {explanation.threshold:+.6g}, taken off the sum below")
    lines += [_line(part, explanation) for part in explanation.parts[:top]]
    terms, amount = explanation.rest(top)
    if terms:
        lines.append(f"{amount:+12.6f}   {terms:,} smaller term{'s' * (terms > 1)} together")
    return lines


def _line(part: Part, explanation: Explanation) -> str:
    from lopsided.inspection import columns_in_words

    if part.columns is None:
        return f"{part.amount:+12.6f} = {part.weight:+.4f} x {part.times:.4f}  {part.name}"
    kind = explanation.positive if part.is_positive else explanation.negative
    words = columns_in_words(part.columns)
    return f"{part.amount:+12.6f} = {part.weight:+.4f} x similarity {part.times:.4f} to one of {kind}: {words}"


def _from_json(model: Any, text: str) -> tuple[Any, list[str] | None]:
    """The row that a JSON text is, encoded, and what its features are called if the model does not know."""
    from lopsided.constraints import ParameterError
    from lopsided.estimators.compose.file_columns import encoded_rows, knows_its_columns, reads_tables
    from lopsided.streams import StreamError

    try:
        row = json.loads(text)
    except ValueError as error:
        raise ParameterError(f"The row to explain must be a JSON object, got {text!r}: {error}.") from None
    if not reads_tables(model):
        raise ParameterError(
            "The row to explain must be one of a LIBSVM file, as the model has learned from, got JSON."
        )
    if isinstance(row, list):
        if knows_its_columns(model):
            raise ParameterError("The row to explain must be a JSON object of the model's columns, got a list.")
        row = {f"x{number}": cell for number, cell in enumerate(row)}
    try:
        encoded = encoded_rows(model, [row], "the row to explain")
    except StreamError as error:  # which numbers the rows of a table, where there is only one
        raise StreamError("the row to explain", None, error.field, error.rule, error.got) from None
    return encoded, None if knows_its_columns(model) else list(row)


def _from_file(model: Any, path: str, row: int | None, options: dict[str, Any]) -> tuple[Any, list[str] | None]:
    """The row of a file by its number, and what its features are called if the model does not know."""
    from lopsided.cli.feed import Reading, open_feed, tell
    from lopsided.estimators.compose.file_columns import knows_its_columns
    from lopsided.feeds.passed_rows import PassedRows
    from lopsided.streams import StreamError

    if row is None:
        raise click.UsageError("Missing option '--row', which says which row of the file to explain")
    feed = open_feed(Reading([path], **options), model, labelled=False)
    passed = feed.bad = PassedRows(options["on_error"], options["quarantine"], tell)
    before = 0
    with feed:
        is_known = feed.schema is None or knows_its_columns(model)
        names = None if is_known or feed.schema is None else [column.name for column in feed.schema.columns]
        for portion in feed:
            n_rows = portion.X.shape[0]
            if before + n_rows + len(passed.errors) >= row:
                place = row - 1 - passed.before(row, path, feed.stream) - before
                return portion.X[place : place + 1], names
            before += n_rows
    n_rows = before + len(passed.errors)
    if n_rows >= row:
        passed.before(row, path, feed.stream)  # it is one of the last ones, all of which are bad
    raise StreamError(path, None, None, f"must have {row:,} rows", f"{n_rows:,}")
