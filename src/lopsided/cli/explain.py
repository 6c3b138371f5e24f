"""`lopsided explain`: one score as the sum that it is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from lopsided.cli.options import reading, with_config, with_json

if TYPE_CHECKING:
    from lopsided.inspection import Explanation, Part

_SHOWN_OF_A_MEMBER = 2  # terms of its own score


@click.command()
@click.argument("model", metavar="MODEL")
@click.argument("what", metavar="ROW|FILE")
@click.option("--row", type=click.IntRange(min=1), help="Which row of FILE, counted from 1 without the header.")
@click.option("--id", "wanted", metavar="VALUE", help="Which row of FILE: the first with this identifier.")
@click.option(
    "--id-column", metavar="COL", help="The column of identifiers. Default: the one that --id named when learning."
)
@click.option(
    "--by",
    type=click.Choice(["auto", "terms", "columns"]),
    default="auto",
    show_default=True,
    help="Terms of the score, or what each column adds; auto is terms if the score is a sum of such.",
)
@click.option("--top", default=5, show_default=True, type=click.IntRange(min=1), help="How many terms are shown.")
@reading
@with_config
@with_json
def explain(
    model: str,
    what: str,
    row: int | None,
    wanted: str | None,
    id_column: str | None,
    by: str,
    top: int,
    as_json: bool,
    **options: Any,
) -> None:
    """Explain the score of one row: which remembered examples speak for the positive label, and which against it.

    ROW is a JSON object of columns, such as '{"amount": 17.5, "country": "NO"}', or, for a model that has learned from
    an array, a JSON list of its numbers; or FILE with --row N or --id VALUE.

    The score of a kernel learner is a sum over its support vectors of weight times similarity (1 for the same, 0 for
    nothing in common); they are shown as the rows that they were. That of a linear learner is a sum over features of
    weight times value; that of a pool a sum over its members, each with terms of its own. Any other score, and every
    score with --by columns, is that of a baseline, every column at its mean, and what each column adds to it. The terms
    sum to the score; nothing is approximated.
    """
    from lopsided.cli.feed import tell
    from lopsided.cli.saved import load_for_files
    from lopsided.estimators.base.answering import share_of
    from lopsided.inspection import explain as explained

    ranker = load_for_files(model)
    if what.lstrip().startswith(("{", "[")):
        X, names = _from_json(ranker, what)
    else:
        X, names = _from_file(ranker, what, _place(row, wanted, id_column), options)
    explanation = explained(ranker, X, names=names, by=by)
    if as_json:
        click.echo(json.dumps({"model": model, **explanation.to_json(top)}))
        return
    for line in _lines(explanation, top):
        click.echo(line)
    if share_of(ranker.threshold_rule_) is not None:
        tell("note: this is by the threshold of the model; `lopsided score` keeps its rate by the rows before each row")


def _lines(explanation: Explanation, top: int) -> list[str]:
    lines = [
        f"score        {explanation.score:+.6g}, so {explanation.decision} "
        f"(probability of {explanation.positive}: {explanation.probability:.3f})"
    ]
    if explanation.threshold:
        lines.append(f"threshold    {explanation.threshold:+.6g}, taken off the sum below")
    for part in explanation.parts[:top]:
        lines.append(_line(part, explanation))
        lines += [f"  of it {_line(inside, explanation)}" for inside in part.parts[:_SHOWN_OF_A_MEMBER]]
    terms, amount = explanation.rest(top)
    if terms:
        lines.append(f"{amount:+12.6f}   {terms:,} smaller term{'s together' if terms > 1 else ''}")
    if explanation.says:
        lines.append("parts say    " + ", ".join(f"{name} {said:+.4f}" for name, said in explanation.says.items()))
    lines += [f"most like    {part.times:.4f} {_example(part, explanation)}" for part in explanation.nearest]
    return lines


def _line(part: Part, explanation: Explanation) -> str:
    if part.kind == "baseline":
        return f"{part.amount:+12.6f}   {part.name}"
    if part.kind == "column":
        return f"{part.amount:+12.6f}   {_column(part)}"
    product = f"{part.amount:+12.6f} = {part.weight:+.4f} x"
    if part.kind == "example":
        return f"{product} similarity {part.times:.4f} {_example(part, explanation)}"
    return f"{product} {part.times:.4f}  {part.name}"


def _example(part: Part, explanation: Explanation) -> str:
    """Which row it is, its class, and its columns."""
    from lopsided.inspection import columns_in_words

    which = "" if part.row is None else f"row {part.row:,}, "
    which = which if part.id is None else f"{part.id}, "
    kind = explanation.positive if part.is_positive else explanation.negative
    guess = "" if part.as_it_came else "on the present scale about "
    return f"to {which}one of {kind}: {guess}{columns_in_words(part.columns or {})}"


def _column(part: Part) -> str:
    from lopsided.inspection import cell_in_words, columns_in_words

    words = columns_in_words(part.columns) if part.columns else part.name
    if part.instead is not None:
        mean = f"{part.instead:.6g}" if isinstance(part.instead, float) else cell_in_words(part.instead)
        words += f" (mean {mean})"
    return words if part.linear is None else f"{words}, {part.linear:+.6f} of it linear"


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


class _Place(NamedTuple):
    """Which row of a file: by its number, or by its identifier and the column that holds it."""

    row: int | None
    id: str | None
    column: str | None


def _place(row: int | None, wanted: str | None, column: str | None) -> _Place:
    if row is None and wanted is None:
        raise click.UsageError("Missing option '--row' or '--id', which say which row of the file to explain")
    if row is not None and wanted is not None:
        raise click.UsageError("Options '--row' and '--id' exclude each other: both say which row to explain")
    return _Place(row, wanted, column)


def _from_file(model: Any, path: str, place: _Place, options: dict[str, Any]) -> tuple[Any, list[str] | None]:
    """One row of a file, and what its features are called if the model does not know."""
    from lopsided.cli.feed import Reading, open_feed, tell
    from lopsided.estimators.compose.file_columns import knows_its_columns
    from lopsided.feeds.passed_rows import PassedRows

    feed = open_feed(Reading([path], **options), model, labelled=False)
    passed = feed.bad = PassedRows(options["on_error"], options["quarantine"], tell)
    with feed:
        is_known = feed.schema is None or knows_its_columns(model)
        names = None if is_known or feed.schema is None else [column.name for column in feed.schema.columns]
        if place.row is None:
            return _row_by_id(feed, path, place), names
        return _row_by_number(feed, passed, path, place.row), names


def _row_by_number(feed: Any, passed: Any, path: str, row: int) -> Any:
    from lopsided.streams import StreamError

    before = 0
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


def _row_by_id(feed: Any, path: str, place: _Place) -> Any:
    from lopsided.streams import StreamError
    from lopsided.streams.errors import shown_columns

    if feed.schema is None:
        raise StreamError(path, None, None, "must be a table with a column of identifiers", "a LIBSVM file")
    column = place.column or feed.schema.id
    if column is None:
        raise click.UsageError("Missing option '--id-column': the model was not told of a column of identifiers")
    if column not in feed.stream.columns:
        rule = f"must hold the column {column!r}, by which rows are called"
        raise StreamError(path, None, None, rule, f"only {shown_columns(feed.stream.columns)}")
    feed.read_ids(column)
    n_rows = 0
    for portion in feed:
        found = portion.ids(column)
        if place.id in found:
            at = found.index(place.id)
            return portion.X[at : at + 1]
        n_rows += portion.n_rows
    rule = f"must hold a row whose {column} is {place.id!r}, and which is not bad"
    raise StreamError(path, None, None, rule, f"none among {n_rows:,} rows")
