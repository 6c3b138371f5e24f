"""`lopsided warm-up`: compile for this machine now instead of at the first use."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import click

from lopsided.cli.options import with_json

# What commands take by default, and what the table "which learner for which problem" begins with.
_USUAL = ("koil", "auto", "opauc", "omcsl", "spa", "bpas")
_ROWS = {"number": ["1", "2", "", "4"], "word": list("abab"), "text": ["a b c d e", "f g h i j"] * 2}
_FEATURES = 3


@click.command("warm-up")
@click.argument("learners", nargs=-1, metavar="[LEARNER]...")
@click.option("--all", "everything", is_flag=True, help="All learners, which takes minutes.")
@with_json
def warm_up(learners: tuple[str, ...], everything: bool, as_json: bool) -> None:
    """Compile what reading, learning and scoring need, so that the first run is as fast as the others.

    Machine code is made for the processor of this machine and kept on disk, where every later run finds it: useful when
    an image is built, or before a service starts. LEARNER is a name as for `lopsided learn --learner`; by default those
    that are used most.
    """
    from lopsided.cli.compiling import counted_compilations
    from lopsided.cli.learners import learner_class, learner_names
    from lopsided.constraints import ParameterError

    if learners and everything:
        raise ParameterError(
            f"The option --all must be given without names of learners, got {', '.join(learners)} too."
        )
    names = learners or (learner_names(online=True) if everything else _USUAL)
    steps: dict[str, Callable[[], Any]] = {"reading and measuring": _read_and_measure}
    for name in names:  # of which several may be one class, such as auto and what it is at present
        called = learner_class(name).__name__
        steps[called if called not in steps else f"{called} ({name})"] = partial(_compile_learner, name)
    facts: list[dict[str, Any]] = []
    for name, step in steps.items():
        begin = time.perf_counter()
        with counted_compilations() as compilations:
            step()
        seconds = time.perf_counter() - begin
        facts.append({"what": name, "compiled": compilations.count, "seconds": seconds})
        if not as_json:
            said = f"{compilations.count} functions compiled" if compilations.count else "nothing left to compile"
            click.echo(f"{name:<22} {said}, {seconds:.1f} s")
    where = _cache_folder()
    if as_json:
        click.echo(json.dumps({"steps": facts, "cache": where}))
    else:
        click.echo(f"machine code is kept in {where}")


def _compile_learner(name: str) -> None:
    """For tables, for LIBSVM files, and for rows of numbers."""
    from lopsided import OnlineScaler, SparsePipeline, TablePipeline
    from lopsided.cli.learners import made_learner
    from lopsided.encoding import infer_schema

    def made(*, sparse: bool = False) -> Any:
        return made_learner(name, {}, sparse=sparse, random_state=0)

    TablePipeline(infer_schema(_ROWS), learner=made()).compile_ahead()
    SparsePipeline(1, OnlineScaler(center=False), made(sparse=True)).compile_ahead(_FEATURES, sparse=True)
    made().compile_ahead(_FEATURES)


def _read_and_measure() -> None:
    """Words into numbers, bytes of files into rows, and the measures that commands print."""
    import numpy as np

    from lopsided.alerts import AlertShare
    from lopsided.encoding import TableEncoder, infer_schema
    from lopsided.metrics import AUPRC, AUROC, Confusion, WindowedAUROC
    from lopsided.streams.blocks import Block, record_ends
    from lopsided.streams.libsvm import read_block

    encoder = TableEncoder(infer_schema(_ROWS))
    encoder.matrix(encoder.columns_of(_ROWS))
    encoder.row({name: cells[0] for name, cells in _ROWS.items()}, np.zeros(encoder.width))
    read_block(Block("", 1, b"1 1:2.5\n"))
    record_ends(b'"a",b\n', ",")
    labels, scores = np.array([0, 1]), np.array([0.25, 0.75])
    metrics: list[Any] = [AUROC(), AUPRC(), AUPRC(interpolation="step"), WindowedAUROC(2), Confusion()]
    for metric in metrics:
        metric.update_many(labels, scores)
        _ = metric.value
    AlertShare(0.5, scores).decide(scores)


def _cache_folder() -> str:
    """Where Numba keeps machine code: beside the sources, or where it is told, or may write."""
    import lopsided
    from lopsided.core.pairwise.koil import run

    package, used = Path(lopsided.__file__).parent, Path(run.stats.cache_path)  # type: ignore[attr-defined]
    return str(package if used.is_relative_to(package) else used.parent)
