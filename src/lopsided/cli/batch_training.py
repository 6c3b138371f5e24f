"""`lopsided learn` with a learner that takes a whole set at once: all rows are held, so there must not be many."""

from __future__ import annotations

import os
from typing import Any

import click
import numpy as np

from lopsided.cli.feed import Feed
from lopsided.cli.models import as_json, parameters_of, scale_in_words
from lopsided.cli.training import save_with_place
from lopsided.constraints import ParameterError

MOST_ROWS = 3000  # the cost of a fit grows with their cube: these take minutes
_SOON_FITTED = 1_000  # rows


def fit_and_save(model: Any, feed: Feed, target: str) -> dict[str, Any]:
    """Fit a model to all rows of a feed and save it; returns what is to be said about it."""
    name = type(model.final_learner).__name__
    parts, signs = [], []
    for portion in feed:
        parts.append(portion.X)
        signs.append(portion.signs)
        if sum(map(len, signs)) > MOST_ROWS:
            raise ParameterError(
                f"The files for {name}, which learns from a whole set, must have at most {MOST_ROWS:,} rows, "
                f"got more in {feed.name}; another --learner takes any number."
            )
    every = np.concatenate(signs) if signs else np.zeros(0)
    if np.unique(every).size < 2:
        got = "one label in all rows" if every.size else "no rows"
        raise ParameterError(f"The files for {name} must have rows of two labels, got {got} in {feed.name}.")
    rows = _stacked(parts)
    if every.size > _SOON_FITTED:
        feed.note(f"{name} fits {every.size:,} rows at once, in time that grows with their cube: this may take long")
    model.fit(rows, feed.labels_of(every))
    save_with_place(model, target, feed, None)
    assert feed.labels is not None
    return {
        "model": target,
        "bytes": os.path.getsize(target),
        "learner": name,
        "parameters": parameters_of(model.final_learner),
        "scale": scale_in_words(model),
        "threshold": as_json(model.threshold_rule_),
        "rows": int(every.size),
        "positives": int((every > 0).sum()),
        "positive": as_json(feed.labels.positive),
        "features": feed.n_features,
        "label_column": feed.label_column,
        "bad_rows": feed.bad.count,
        "notes": feed.notes,
    }


def _stacked(parts: list[Any]) -> Any:
    from scipy import sparse

    return sparse.vstack(parts, format="csr") if sparse.issparse(parts[0]) else np.concatenate(parts).view(np.ndarray)


def print_fit(summary: dict[str, Any]) -> None:
    """What was fitted, in lines like those of row by row learning."""
    bad = f", {summary['bad_rows']:,} bad rows left out" if summary["bad_rows"] else ""
    click.echo(f"rows   {summary['rows']:,}, {summary['positives']:,} positive{bad}, all at once")
    click.echo(f"model  {summary['model']} ({summary['learner']}, {summary['bytes'] / 1000:,.0f} kB)")
