"""`lopsided tune`: many candidates on one pass through the stream, the worse half dropped again and again."""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import click

from lopsided.cli.completing import complete_learner
from lopsided.cli.options import alerts_only, columns, late, reading, with_config, with_json
from lopsided.constraints import ParameterError
from lopsided.numerals import counted

if TYPE_CHECKING:
    from lopsided.cli.feed import Feed
    from lopsided.evaluate import Race, Racer
    from lopsided.evaluate.racing import Measure
    from lopsided.feeds import Portion
    from lopsided.late import Delay, Unlabelled

# What lopsided.evaluate.candidates.default_kinds has.
DEFAULT_LEARNERS = (
    "rareeventclassifier",
    "fourierranker",
    "koil",
    "bpas",
    "spa",
    "opauc",
    "omcsl",
    "ob2rmk",
    "expertpool",
)


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--output", "-o", metavar="MODEL", help="Where to save the best model, which has seen the whole stream.")
@click.option(
    "--learner",
    "learners",
    multiple=True,
    metavar="NAME",
    shell_complete=complete_learner,
    help=f"Try this one (may be repeated). Default: {', '.join(DEFAULT_LEARNERS)}.",
)
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A parameter to keep fixed.")
@click.option(
    "--candidates", default=24, show_default=True, type=click.IntRange(min=1), help="How many candidates to start with."
)
@click.option(
    "--measure",
    type=click.Choice(["auroc", "auprc"]),
    help="What decides, over all rows so far, each scored before it was learned. Default: auroc, or with --alerts the "
    "share of alerts that were right.",
)
@alerts_only
@click.option("--scale", type=click.Choice(["standard", "minmax", "none"]), help="As in `lopsided learn`.")
@click.option("--jobs", default=1, show_default=True, type=click.IntRange(min=1), help="Threads.")
@click.option(
    "--engine",
    type=click.Choice(["threads", "ray"]),
    default="threads",
    show_default=True,
    help="Where candidates run: --jobs threads of this process, or all processors of a Ray cluster.",
)
@click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0), help="Random seed.")
@late
@columns
@reading
@with_config
@with_json
def tune(
    files: tuple[str, ...],
    output: str | None,
    learners: tuple[str, ...],
    settings: tuple[str, ...],
    candidates: int,
    measure: Literal["auroc", "auprc"] | None,
    alerts: str | None,
    per: str | None,
    scale: str | None,
    jobs: int,
    engine: str,
    seed: int,
    delay: Delay,
    unlabelled: Unlabelled | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Find a learner and its parameters in one pass.

    Learners of every family run: the default, random features, kernels within a budget, linear ones, a Bayesian one
    (milliseconds a row), and a pool. All candidates score and learn the same rows. After 1,000 rows with 20 positives,
    and at every doubling of the rows, the worse half is dropped, until two run to the end. With --alerts (and --time)
    those are better of whose alerts, so many a day and decided as rows come, more are right. The figures are
    progressive: no candidate has seen a row before it scored it; but the best of many looks a little better than it is.
    """
    from lopsided.cli.alerting import check_has_time, rule_and_budget
    from lopsided.cli.feed import Reading, open_feed
    from lopsided.cli.late_labels import LateOptions, check_times
    from lopsided.cli.running import announce_columns, check_writable, labels_in_words, refuse_nothing
    from lopsided.cli.training import save_with_place
    from lopsided.distributed.engines import workers_of
    from lopsided.evaluate import Race
    from lopsided.streams.cells import TEXT

    _, budget = rule_and_budget(None, alerts, per)
    if budget is not None and measure is not None:
        raise ParameterError(f"The options --alerts and --measure must not both be given, got {alerts!r}, {measure!r}.")
    ranks_by: Measure = "alerts" if budget is not None else measure or "auroc"
    late = LateOptions.of(delay, unlabelled, {})
    if output is not None:
        check_writable(output)
    with open_feed(Reading(files, **options)) as feed:
        assert feed.labels is not None
        check_times(late, feed)
        if budget is not None:
            check_has_time(budget, feed)
            if budget.key is not None:
                feed.also_read(budget.key, TEXT)
        racers = _racers(feed, learners or DEFAULT_LEARNERS, settings, candidates, scale, seed)
        kinds = ", ".join(dict.fromkeys(racer.entrant.name for racer in racers))
        click.echo(
            f"{len(racers)} candidates ({kinds}) on {feed.name}: {counted(feed.n_features, 'feature')}, "
            f"{labels_in_words(feed)}, by {ranks_by if budget is None else f'alerts within {budget}'}",
            err=True,
        )
        announce_columns(feed)
        rules = {name: late.rules[name] for name in ("delay", "unlabelled")}
        rules |= {"alerts": budget, "jobs": jobs, "workers": workers_of(engine)}
        race = Race(racers, measure=ranks_by, classes=feed.labels.classes, **rules)
        code, is_whole, learned = _raced(feed, race, None if budget is None else budget.key)
        n_rows = race.n_rows
        if not n_rows:
            refuse_nothing(feed, code != 0)
        best = race.ranking[0]
        if not is_whole:
            output = None
        if output is not None:
            save_with_place(best.model, output, feed, learned)
    again = f"--learner {best.entrant.name} {in_words(best.entrant.settings)}".rstrip()
    _print(race.ranking, again, output, (n_rows, feed.n_blank), code != 0, as_json)
    if feed.n_blank:
        click.echo(f"{feed.n_blank:,} rows without a label were scored, and neither learned nor judged", err=True)
    if code:
        click.secho(f"interrupted after {n_rows:,} rows: the best so far", fg="yellow", err=True)
        raise click.exceptions.Exit(code)


def _racers(
    feed: Feed, learners: Sequence[str], settings: Sequence[str], count: int, scale: str | None, seed: int
) -> list[Racer]:
    """Candidates behind what the files need."""
    from lopsided.cli.learners import DEFAULT_THRESHOLD, learner_class, maker_of, parsed_settings
    from lopsided.cli.models import built_model
    from lopsided.cli.running import check_learns_online
    from lopsided.evaluate import Racer, draw_candidates

    assert feed.labels is not None
    kinds, fixed = {}, {}
    for name in dict.fromkeys(learners):
        check_learns_online(name)
        kind = learner_class(name)
        known = inspect.signature(kind).parameters
        # Of several learners each takes the settings that it knows; one alone is told which it does not know.
        own = [text for text in settings if len(learners) == 1 or text.partition("=")[0].strip() in known]
        kinds[name], preset = maker_of(name)
        if kinds[name] is not kind and feed.is_sparse:
            kinds[name] = functools.partial(kinds[name], sparse=True)  # a pool is made for one or the other
        fixed[name] = preset | parsed_settings(kind, own)
    candidates = draw_candidates(feed.n_features, count, kinds=kinds, fixed=fixed, seed=seed)
    common = {"pos_label": feed.labels.pos_label, "random_state": seed}
    racers = []
    for candidate in candidates:
        rule = {} if "threshold" in candidate.settings else {"threshold": DEFAULT_THRESHOLD}
        racers.append(Racer(built_model(candidate.built(**common, **rule), scale, feed), candidate))
    return racers


def _raced(feed: Feed, race: Race, key: str | None = None) -> tuple[int, bool, Portion | None]:
    """Let all run; the exit code if somebody interrupted them, else 0, and whether all have learned the same rows.

    Last, where they stopped: the last portion that they have learned, or None for all of them. A second Ctrl-C does
    not wait until they have: what was seen is told all the same.
    """
    from lopsided.cli.interrupts import INTERRUPTED, Interruptible
    from lopsided.cli.status import Status

    interrupts, learned = Interruptible(), None
    try:
        with Status("tuning") as status, race:
            for portion in interrupts.over(feed.slices()):
                race.step(portion.X, portion.y, portion.times, None if key is None else portion.ids(key))
                learned = portion
                status.advance(portion.n_rows, feed.progress, best=race.best_value)
    except KeyboardInterrupt:
        return INTERRUPTED, False, learned
    return interrupts.exit_code, True, learned if interrupts.interrupted else None


def _print(
    ranking: list[Racer], again: str, output: str | None, rows: tuple[int, int], interrupted: bool, as_json: bool
) -> None:
    from lopsided.cli.display import count, score
    from lopsided.cli.models import as_json as plain

    if as_json:
        n_rows, n_blank = rows
        candidates = [
            {"learner": r.entrant.name, "settings": plain(r.entrant.settings), "rows": r.n_rows}
            | {name: plain(metric.value) for name, metric in r.metrics.items()}
            for r in ranking
        ]
        facts = {
            "rows": n_rows,
            "blank": n_blank,
            "candidates": candidates,
            "options": again,
            "model": output,
            "interrupted": interrupted,
        }
        click.echo(json.dumps(facts))
        return
    headings = {"auroc": "AUROC", "auprc": "AUPRC", "alerts": "alerts right"}
    measures = [name for name in headings if name in ranking[0].metrics]
    lines: list[tuple[str, ...]] = [("learner", "rows", *(headings[name] for name in measures), "settings")]
    for racer in ranking:
        figures = [score(racer.metrics[name].value) for name in measures]
        lines.append((racer.entrant.name, count(racer.n_rows), *figures, in_words(racer.entrant.settings)))
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]) - 1)]
    for line in lines:
        figures = [cell.rjust(width) for cell, width in zip(line[1:-1], widths[1:], strict=True)]
        cells = [line[0].ljust(widths[0]), *figures, line[-1]]
        click.echo("  ".join(cells).rstrip())
    click.echo(f"\nbest: {again}")
    if output is not None:
        click.echo(f"its model, which has seen all rows, is in {output}")


def in_words(settings: dict[str, Any]) -> str:
    """Settings as `--set` has them.

    >>> in_words({"gamma": 0.125, "budget": (50, 100)})
    '--set gamma=0.125 --set budget=50,100'
    """
    return " ".join(f"--set {name}={_value(value)}" for name, value in settings.items())


def _value(value: Any) -> str:
    if isinstance(value, tuple):
        return ",".join(map(_value, value))
    return f"{value:g}" if isinstance(value, float) else str(value)
