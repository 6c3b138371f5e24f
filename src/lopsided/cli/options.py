"""Options that commands have in common, and the file that may give them: `--config FILE`, or lopsided.toml here."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from lopsided.cli.completing import complete_learner
from lopsided.cli.learners import AUTO, DEFAULT_THRESHOLD, learner_names
from lopsided.constraints import ParameterError

if TYPE_CHECKING:
    from lopsided.late import Delay, Unlabelled

CONFIG_HERE = "lopsided.toml"

_Command = TypeVar("_Command", bound=Callable[..., Any])


class _UnlabelledType(click.ParamType):  # type: ignore[type-arg]
    name = "RULE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Unlabelled:
        from lopsided.late import Unlabelled

        try:
            return Unlabelled.parse(value, what="The option --unlabelled")
        except ParameterError as error:
            self.fail(str(error))


class _DelayType(click.ParamType):  # type: ignore[type-arg]
    name = "N|DURATION"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Delay:
        from lopsided.late import Delay

        try:
            return Delay.parse(value)
        except ParameterError as error:
            self.fail(str(error))


def _stacked(*options: Callable[[_Command], _Command]) -> Callable[[_Command], _Command]:
    def decorate(command: _Command) -> _Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def _read_config(context: click.Context, _: click.Parameter, path: str | None) -> None:
    """Make the values of a TOML file the defaults of the options that follow."""
    if path is None:
        if not os.path.exists(CONFIG_HERE):
            return
        path = CONFIG_HERE
    from lopsided.cli.config_file import defaults_of

    context.default_map = {**(context.default_map or {}), **defaults_of(path, context.command)}


with_config = click.option(
    "--config",
    metavar="TOML",
    is_eager=True,
    expose_value=False,
    callback=_read_config,
    help=f"File of defaults for these options. Default: {CONFIG_HERE}, if there is one here.",
)

with_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")


def _format_of_files(name: str) -> Callable[[_Command], _Command]:
    return click.option(
        name,
        "file_format",
        type=click.Choice(["csv", "ndjson", "parquet", "arrow", "libsvm"]),
        help="Format of the files. Default: found from the first bytes, suffix or first lines.",
    )


with_force = click.option("--force", is_flag=True, help="Overwrite models, and files of a different kind.")


def _guarding(**kinds: str) -> Callable[[_Command], _Command]:
    """Have a command refuse, before any work, to write over what it reads or what it should not replace.

    `kinds` says for each option that names an output which kind of file it writes.
    """

    def decorate(command: _Command) -> _Command:
        @functools.wraps(command)
        def checked(force: bool, **options: Any) -> Any:
            from lopsided.cli.running import check_outputs

            check_outputs(options, kinds, force=force)
            return command(**options)

        return with_force(cast(_Command, checked))

    return decorate


_reading = _stacked(
    click.option(
        "--delimiter",
        metavar="CHAR",
        help="Separator of a CSV, \\t for a tab. Default: found from its header.",
    ),
    click.option(
        "--no-header",
        is_flag=True,
        help="The first row of a CSV is data: columns are column_1, column_2 and so on.",
    ),
    click.option(
        "--encoding",
        metavar="NAME",
        help="Encoding of text files, such as latin-1 or cp1252. Default: UTF-8, or UTF-16 if it has a BOM.",
    ),
    click.option("--follow", is_flag=True, help="Keep reading as a file or a directory grows, until Ctrl-C."),
    click.option(
        "--idle",
        type=click.FloatRange(min=0),
        metavar="SECONDS",
        help="With --follow: stop after this many seconds without new rows.",
    ),
    click.option(
        "--on-error",
        type=click.Choice(["stop", "skip", "quarantine"]),
        default="stop",
        show_default=True,
        help="What to do with a bad row: stop, skip it, or skip it and append it to the quarantine file.",
    ),
    click.option("--quarantine", metavar="FILE", help="Where bad rows are appended. Default: bad-rows.ndjson."),
)

reading = _stacked(
    _format_of_files("--format"), _reading, _guarding(output="MODEL", report="REPORT", quarantine="BAD_ROWS")
)
# The same for a command whose output is rows.
reading_for_scores = _stacked(
    _format_of_files("--format"), _reading, _guarding(output="SCORES", report="REPORT", quarantine="BAD_ROWS")
)
# For a command with rows as its output, whose format is --format.
reading_beside_an_output = _stacked(
    _format_of_files("--input-format"), _reading, _guarding(output="SCORES", quarantine="BAD_ROWS")
)
# For a command that keeps what it has seen.
reading_beside_a_state = _stacked(
    _format_of_files("--format"), _reading, _guarding(state="STATE", quarantine="BAD_ROWS")
)

columns = _stacked(
    click.option(
        "--label", metavar="COL", help="Label column of a table. Default: label, class, target, y, or the last."
    ),
    click.option(
        "--positive",
        metavar="VALUE",
        help="The positive label, against all others. Default: 1 of 0/1 or -1/1, else the rarer one of the first rows.",
    ),
    click.option(
        "--blank",
        type=click.Choice(["unknown", "negative", "error"]),
        default="unknown",
        show_default=True,
        help="An empty label: not known yet (the row is scored, not learned), the negative label, or a bad row.",
    ),
    click.option("--id", "id_column", metavar="COL", help="Identifier: kept, not learned from."),
    click.option(
        "--time", "time_column", metavar="COL", help="Dates or seconds; used by --delay and for alerts per day."
    ),
    click.option("--ignore", multiple=True, metavar="COL", help="Not learned from (may be repeated)."),
    click.option(
        "--kind",
        "kinds",
        multiple=True,
        metavar="COL=KIND",
        help="Read a column as number, flag, category, text, date, key, ignore, or age (a date, and the days since the "
        "first one); number:comma, number:point, date:dmy, date:mdy and date:ymd say how it is written "
        "(may be repeated).",
    ),
    click.option(
        "--width",
        type=click.IntRange(2, 65536),
        metavar="N",
        help="Columns per hashed column, a power of two. Default: up to 64 for a category, 256 for text.",
    ),
    click.option(
        "--features",
        type=click.IntRange(min=1),
        metavar="N",
        help="Number of features of LIBSVM files. Default: the largest index of the first 4 MB.",
    ),
)

keyed = _stacked(
    click.option(
        "--key",
        "keys",
        multiple=True,
        metavar="COL",
        help="Learn from what this card, merchant or user did before (may be repeated); needs --time.",
    ),
    click.option(
        "--model-per",
        metavar="COL",
        help="Keep a model for each value of this column, on top of a model of all rows. Default learner then: OCS.",
    ),
)

late = _stacked(
    click.option(
        "--delay",
        type=_DelayType(),
        default="0",
        metavar="N|DURATION",
        help="Labels arrive N rows later, or with --time after a duration (90s, 15m, 12h, 7d, 2w, 2 weeks).",
    ),
    click.option(
        "--unlabelled",
        type=_UnlabelledType(),
        metavar="RULE",
        help="A row without a label: negative:30d (learned as negative after 30 days), drop:30d (forgotten then), drop "
        "(at the end), skip (at once). Rows instead of days: negative:5000. Default: skip; with --labels: drop.",
    ),
)

by_id = _stacked(
    click.option(
        "--labels",
        "label_files",
        multiple=True,
        metavar="FILE",
        help="File or topic of labels by identifier: the columns of --id and --label, and --label-time (may be "
        "repeated). With learn --follow, which takes topics only, they are learned as they come.",
    ),
    click.option(
        "--label-time",
        metavar="COL",
        help="With --labels: the column that says when a label became known. It is learned then.",
    ),
    click.option(
        "--corrections",
        type=click.Choice(["learn", "ignore"]),
        help="With --labels: another label for a row that has been learned is learned too, or ignored. Default: learn.",
    ),
)

on_cluster = click.option(
    "--engine",
    type=click.Choice(["processes", "ray"]),
    default="processes",
    show_default=True,
    help="Where the runs are: --jobs processes of this machine, or all processors of a Ray cluster.",
)

in_shards = _stacked(
    click.option(
        "--engine",
        type=click.Choice(["local", "ray"]),
        help="Learn in shards that are merged: in this process, or as actors of Ray. With --model-per each shard keeps "
        "the models of its own keys. Default: one model, no shards.",
    ),
    click.option(
        "--shards",
        type=click.IntRange(min=1),
        default=8,
        show_default=True,
        metavar="N",
        help="With --engine: how many models learn a part each.",
    ),
    click.option(
        "--merge-every",
        type=click.IntRange(min=1),
        default=100_000,
        show_default=True,
        metavar="ROWS",
        help="With --engine: rows between two merges. Rows are scored by the model of the last one.",
    ),
)

selective = _stacked(
    click.option(
        "--labels-for",
        type=click.Choice(["all", "alerts"]),
        default="all",
        show_default=True,
        help="alerts: learn only the labels of rows that were alerts when they came, as if nobody checked the others.",
    ),
    click.option(
        "--explore",
        type=click.FloatRange(0, 1),
        metavar="SHARE",
        help="With --labels-for alerts: the labels of this random share of all other rows are learned too. Default: 0.",
    ),
    click.option(
        "--weight-cap",
        type=click.FloatRange(min=1),
        metavar="N",
        help="With --explore: a label counts 1/SHARE when it is learned, at most N; 1 counts all alike. Default: 10. "
        "Estimates count it in full.",
    ),
)

_RULES = "f1, gmean, rate:SHARE, budget:N/PERIOD (with --time), zero, or a number"


def threshold_option(default: str) -> Callable[[_Command], _Command]:
    """--threshold, and what holds without it."""
    return click.option("--threshold", metavar="RULE", help=f"When a row is an alert: {_RULES}. Default: {default}.")


alerts_only = _stacked(
    click.option(
        "--alerts",
        metavar="N/PERIOD",
        help="At most so many alerts: 100/day, 10/hour, 500/week, 20/8h; with --time. Short for --threshold budget:...",
    ),
    click.option(
        "--per", metavar="COL", help="With --alerts: at most one alert in a period for each value, say a card."
    ),
)

alerting = _stacked(
    threshold_option(DEFAULT_THRESHOLD),
    alerts_only,
    click.option(
        "--value", metavar="COL", help="Column of amounts, to sum up what alerts caught; with --key also a feature."
    ),
)

learning = _stacked(
    click.option(
        "--learner",
        default=AUTO,
        metavar="NAME",
        shell_complete=complete_learner,
        help=f"One of {', '.join(learner_names())}. Default: auto, which does well on most streams untuned.",
    ),
    click.option(
        "--set", "settings", multiple=True, metavar="NAME=VALUE", help="A parameter of the learner, such as C=4."
    ),
    click.option(
        "--scale",
        type=click.Choice(["standard", "minmax", "none"]),
        help="Scale numbers by what was known before each row. Default: standard for tables, none for LIBSVM.",
    ),
    late,
    click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0), help="Random seed."),
)
