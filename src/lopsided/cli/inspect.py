"""`lopsided inspect`: what a saved model is made of."""

from __future__ import annotations

import json
import os
from typing import Any

import click

from lopsided.cli.options import with_config, with_json

_BUDGET_BY_CLASS = ("KOIL", "MultiKernelKOIL", "OAM", "OB2RMK")


@click.command()
@click.argument("model", metavar="MODEL")
@click.option("--top", default=5, show_default=True, type=click.IntRange(min=0), help="How many vectors or weights.")
@with_config
@with_json
def inspect(model: str, top: int, as_json: bool) -> None:
    """Say what MODEL, a file that `lopsided learn` has written, is made of.

    Learner and parameters, columns, labels, rows seen, the threshold, how much of the budget is used, and the support
    vectors with the largest weights (or the largest weights of a linear model), in the columns of the table. Vectors
    are kept on the scale of the moment at which they came; their columns are told on the present one.
    """
    from lopsided.cli.saved import load_for_files

    facts = described(load_for_files(model), model, top)
    if as_json:
        click.echo(json.dumps(facts))
        return
    for line in _lines(facts):
        click.echo(line)


def described(model: Any, path: str, top: int) -> dict[str, Any]:
    """All that is to be said, as plain values."""
    from lopsided.cli.anatomy import coefficients_of, columns_of, expansions_of, feature_names
    from lopsided.cli.models import as_json, parameters_of, scale_in_words
    from lopsided.evaluate.history import weights_of
    from lopsided.version import __version__

    learner = model.learner_
    standard = type(learner)().get_params(deep=False)
    counts = model._memory.counts
    vectors = [
        {"weight": as_json(e.factor * weight), "columns": as_json(columns_of(model, vector))}
        for e in expansions_of(model)
        for vector, weight in zip(e.vectors, e.weights.tolist(), strict=True)
    ]
    linear = coefficients_of(model) if not vectors else None
    weights = []
    if linear is not None:
        order = sorted(range(linear[0].size), key=lambda j: -abs(linear[0][j]))[:top]
        names = feature_names(model)
        weights = [{"feature": names[j], "weight": float(linear[0][j])} for j in order if linear[0][j]]
    return {
        "model": path,
        "version": __version__,
        "bytes": os.path.getsize(path),
        "memory": model.nbytes_,
        "learner": type(learner).__name__,
        "parameters": parameters_of(learner),
        "defaults": [name for name, value in learner.get_params(deep=False).items() if value == standard[name]],
        "scale": scale_in_words(model),
        "positive": as_json(model._labels.positive),
        "negative": as_json(model._labels.negative),
        "rows": int(counts.sum()),
        "positives": int(counts[0]),
        "features": model.n_features_in_,
        "schema": model.schema.to_json() if hasattr(model, "schema") else None,
        "threshold_rule": as_json(model.threshold),
        "threshold": model.threshold_,
        "n_support": as_json(getattr(learner, "n_support_", None)),
        "budget": as_json(getattr(learner, "budget", None)),
        "is_by_class": type(learner).__name__ in _BUDGET_BY_CLASS,
        "kernel_weights": as_json(weights_of(model)),
        "largest_vectors": sorted(vectors, key=lambda vector: -abs(vector["weight"]))[:top],
        "largest_weights": weights,
    }


def _lines(facts: dict[str, Any]) -> list[str]:
    from lopsided.cli.anatomy import columns_in_words
    from lopsided.encoding import Schema

    ways = [f"{name}={value!r}" for name, value in facts["parameters"].items() if name not in facts["defaults"]]
    parameters = ", ".join([*ways, "others by default"])
    share = facts["positives"] / facts["rows"] if facts["rows"] else 0.0
    entries = [
        ("model", f"{facts['model']}, {facts['bytes'] / 1000:,.0f} kB"),
        ("learner", f"{facts['learner']}({parameters})"),
        ("scale", facts["scale"]),
        ("seen", f"{facts['rows']:,} rows, {facts['positives']:,} of them {facts['positive']} ({share:.2%})"),
        ("labels", f"{facts['positive']} is looked for, {facts['negative']} is the other"),
        ("features", f"{facts['features']:,}"),
        ("threshold", f"{facts['threshold']:.6g} (rule: {facts['threshold_rule']})"),
    ]
    if facts["n_support"] is not None:
        budget = f", the budget is {facts['budget']}{' a class' * facts['is_by_class']}" if facts["budget"] else ""
        entries.append(("support", f"{facts['n_support']:,} vectors{budget}"))
    if facts["kernel_weights"] is not None:
        entries.append(("weights", ", ".join(f"{weight:.3f}" for weight in facts["kernel_weights"])))
    lines = [f"{name:<9}  {words}" for name, words in entries]
    if facts["schema"] is not None:
        schema = Schema.from_json(facts["schema"])
        lines += ["columns", *(f"  {line}" for line in str(schema).splitlines())]
    if facts["largest_vectors"]:
        lines.append("largest support vectors (weight, columns)")
        lines += [f"  {v['weight']:+.4f}  {columns_in_words(v['columns'])}" for v in facts["largest_vectors"]]
    if facts["largest_weights"]:
        lines.append("largest weights (of features on their scale)")
        lines += [f"  {w['weight']:+.4f}  {w['feature']}" for w in facts["largest_weights"]]
    return lines
