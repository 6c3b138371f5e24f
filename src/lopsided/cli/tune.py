"""`lopsided tune`: many candidates on one pass through the stream, the worse half dropped again and again."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click

from lopsided.cli.candidates import DEFAULT_LEARNERS, drawn, in_words
from lopsided.cli.options import columns, reading, with_config, with_json

if TYPE_CHECKING:
    from lopsided.cli.feed import Feed

_FIRST_CUT = 1000
_FEWEST_POSITIVES = 20
_LAST = 2  # candidates that run to the end


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--output", "-o", metavar="MODEL", help="Where to save the best model, which has seen the whole stream.")
@click.option(
    "--learner",
    "learners",
    multiple=True,
    metavar="NAME",
    help=f"Try this one (may be repeated). Default: {', '.join(DEFAULT_LEARNERS)}.",
)
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A parameter that is not to be tuned.")
@click.option("--candidates", default=24, show_default=True, type=click.IntRange(min=1), help="How many to begin with.")
@click.option(
    "--measure",
    type=click.Choice(["auroc", "auprc"]),
    default="auroc",
    show_default=True,
    help="What decides, over all rows so far, each scored before it was learned.",
)
@click.option("--scale", type=click.Choice(["standard", "minmax", "none"]), help="As in `lopsided learn`.")
@click.option("--jobs", default=1, show_default=True, type=click.IntRange(min=1), help="Threads.")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0), help="For all that is random.")
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
    measure: str,
    scale: str | None,
    jobs: int,
    seed: int,
    as_json: bool,
    **options: Any,
) -> None:
    """Find a learner and its parameters in one pass.

    All candidates score and learn the same rows. After 1,000 rows with 20 positives, and at every doubling of the rows,
    the worse half is dropped, until two run to the end. The figures are progressive: no candidate has seen a row before
    it scored it; but the best of many looks a little better than it is.
    """
    from lopsided.cli.feed import Reading, open_feed
    from lopsided.cli.running import check_writable, refuse_nothing

    if output is not None:
        check_writable(output)
    with open_feed(Reading(files, **options)) as feed:
        assert feed.labels is not None
        runners = [
            _Runner(candidate, _built(candidate, feed, scale, seed), measure)
            for candidate in drawn(learners or DEFAULT_LEARNERS, settings, feed.n_features, candidates, seed)
        ]
        click.echo(f"{len(runners)} candidates on {feed.name}: {feed.n_features:,} features, by {measure}", err=True)
        interrupted, n_rows = _raced(feed, runners, jobs)
        if not n_rows:
            refuse_nothing(feed, interrupted)
    ranking = sorted(runners, key=lambda runner: (-runner.n_rows, -runner.value))
    best = ranking[0]
    if output is not None:
        best.model.save(output)
    again = f"--learner {best.learner} {in_words(best.settings)}".rstrip()
    _print(ranking, again, output, n_rows, interrupted, as_json)
    if interrupted:
        from lopsided.cli.interrupts import INTERRUPTED

        click.secho(f"interrupted after {n_rows:,} rows", fg="yellow", err=True)
        raise click.exceptions.Exit(INTERRUPTED)


@dataclass
class _Runner:
    """A candidate in the race."""

    candidate: dict[str, Any]
    model: Any
    measure: str
    n_rows: int = 0
    is_in: bool = True
    metrics: dict[str, Any] = field(default_factory=dict)

    @property
    def learner(self) -> str:
        return str(self.candidate["learner"])

    @property
    def settings(self) -> dict[str, Any]:
        return dict(self.candidate["settings"])

    @property
    def value(self) -> float:
        value = self.metrics[self.measure].value if self.metrics else float("nan")
        return value if value == value else -1.0

    def step(self, X: Any, y: Any, is_positive: Any, classes: Any) -> None:
        from lopsided.metrics import AUPRC, AUROC

        if not self.metrics:
            self.metrics = {"auroc": AUROC(), "auprc": AUPRC(interpolation="step")}
        scores = self.model.progressive_scores(X, y, classes=classes)
        for metric in self.metrics.values():
            metric.update_many(is_positive, scores)
        self.n_rows += scores.size


def _built(candidate: dict[str, Any], feed: Feed, scale: str | None, seed: int) -> Any:
    from lopsided.cli.learners import learner_class
    from lopsided.cli.models import built_model

    assert feed.labels is not None
    kind = learner_class(candidate["learner"])
    learner = kind(**candidate["settings"], pos_label=feed.labels.pos_label, random_state=seed)
    return built_model(learner, scale, feed)


def _raced(feed: Feed, runners: list[_Runner], jobs: int) -> tuple[bool, int]:
    """Let all run, dropping the worse half of those left at every doubling; how it ended, and after how many rows."""
    from lopsided.cli.interrupts import Interruptible
    from lopsided.cli.status import Status

    assert feed.labels is not None
    classes = feed.labels.classes
    interrupts = Interruptible()
    n_rows = positives = 0
    next_cut = _FIRST_CUT
    with Status("tuning") as status, ThreadPoolExecutor(jobs) as threads:
        for portion in interrupts.over(feed):
            labels = feed.labels_of(portion.signs)
            start = 0
            while start < labels.size:
                # Portions are cut where a decision is due, so that it does not depend on how files are read.
                stop = min(labels.size, start + max(next_cut - n_rows, 1)) if n_rows < next_cut else labels.size
                rows = slice(start, stop)
                is_positive = portion.signs[rows] > 0
                left = [runner for runner in runners if runner.is_in]
                X, y = portion.X[rows], labels[rows]
                list(threads.map(lambda r, X=X, y=y, p=is_positive: r.step(X, y, p, classes), left))
                n_rows += stop - start
                positives += int(is_positive.sum())
                start = stop
                if n_rows >= next_cut:
                    next_cut = max(2 * next_cut, n_rows + 1)
                    if positives >= _FEWEST_POSITIVES:
                        _drop_worse_half(left)
                status.advance(stop - rows.start, feed.progress, best=max(runner.value for runner in left))
    return interrupts.interrupted, n_rows


def _drop_worse_half(left: list[_Runner]) -> None:
    kept = max(_LAST, (len(left) + 1) // 2)
    for runner in sorted(left, key=lambda runner: -runner.value)[kept:]:
        runner.is_in = False


def _print(
    ranking: list[_Runner], again: str, output: str | None, n_rows: int, interrupted: bool, as_json: bool
) -> None:
    from lopsided.cli.display import count, score
    from lopsided.cli.models import as_json as plain

    if as_json:
        rows = [
            {"learner": r.learner, "settings": plain(r.settings), "rows": r.n_rows}
            | {name: plain(metric.value) for name, metric in r.metrics.items()}
            for r in ranking
        ]
        facts = {"rows": n_rows, "candidates": rows, "options": again, "model": output, "interrupted": interrupted}
        click.echo(json.dumps(facts))
        return
    lines: list[tuple[str, ...]] = [("learner", "rows", "AUROC", "AUPRC", "settings")]
    for runner in ranking:
        areas = [score(runner.metrics[name].value) for name in ("auroc", "auprc")]
        lines.append((runner.learner, count(runner.n_rows), *areas, in_words(runner.settings)))
    widths = [max(len(line[column]) for line in lines) for column in range(4)]
    for line in lines:
        cells = [line[0].ljust(widths[0]), *(line[column].rjust(widths[column]) for column in (1, 2, 3)), line[4]]
        click.echo("  ".join(cells).rstrip())
    click.echo(f"\nbest: {again}")
    if output is not None:
        click.echo(f"its model, which has seen all rows, is in {output}")
