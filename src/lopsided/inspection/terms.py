"""The terms of a score: examples, features and members where it is such a sum, and columns for any score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from lopsided.encoding import EncodedRows
from lopsided.estimators.compose.expert_pool import ExpertPool
from lopsided.estimators.compose.table_pipeline import TablePipeline
from lopsided.inspection.additive import additive_contributions
from lopsided.inspection.anatomy import kernel_sums_of, prepared_row, score_form_of
from lopsided.inspection.examples import example_of, shown_row
from lopsided.plain_values import plain_value

Floats = npt.NDArray[np.float64]

EXAMPLE, FEATURE, BIAS, MEMBER, BASELINE, COLUMN = "example", "feature", "bias", "member", "baseline", "column"
_WORST = 1e-6
_SAID_OF_A_KEY = 3  # features of its history
_TOGETHER = "the other columns together"
_OPTIONAL = ("row", "id", "as_it_came", "instead", "linear")


@dataclass(frozen=True)
class Part:
    """One term of a score: `amount` is `weight` times `times`.

    Its `kind` is

    - "example": an example that the model keeps. `times` is how similar the row is to it, `is_positive` its class,
      `columns` what it was, `row` its number among the rows learned and `id` its identifier (None: not known);
      `as_it_came` is False if `columns` had to be guessed from an older file.
    - "feature": `times` is the value of the feature on its scale.
    - "member": a learner of a pool. `times` is its score as the pool counts it, `parts` sum to the amount.
    - "baseline": the score of a row in which every column has its mean.
    - "column": what a column adds when it goes from its mean, `instead`, to its value, by the rule of
      `additive_contributions`; `linear` is how much of that is the exact linear part of the score, if it has one.
    - "bias".
    """

    kind: str
    name: str
    amount: float
    weight: float
    times: float
    columns: dict[str, Any] | None = None
    is_positive: bool | None = None
    row: int | None = None
    id: Any = None
    as_it_came: bool | None = None
    instead: Any = None
    linear: float | None = None
    parts: tuple[Part, ...] = ()

    def shared(self, share: float) -> Part:
        """The same term of a sum that counts only so much."""
        linear = None if self.linear is None else share * self.linear
        parts = tuple(part.shared(share) for part in self.parts)
        return replace(self, amount=share * self.amount, weight=share * self.weight, linear=linear, parts=parts)

    def to_json(self, top: int | None = None) -> dict[str, Any]:
        """As plain values; of a member the first `top` terms."""
        plain: dict[str, Any] = {
            "kind": self.kind,
            "name": self.name,
            "amount": self.amount,
            "weight": self.weight,
            "times": self.times,
            "columns": plain_value(self.columns),
        }
        plain |= {name: plain_value(value) for name in _OPTIONAL if (value := getattr(self, name)) is not None}
        if self.parts:
            plain["parts"] = [part.to_json(top) for part in self.parts[:top]]
        return plain


class Subject:
    """The row whose score is explained, with what it takes to show it: names, columns, and the baseline."""

    def __init__(self, model: Any, row: Any, names: list[str]) -> None:
        self.model, self.row, self.names = model, row, names
        self.baseline: Floats = np.asarray(model.typical_row_, dtype=np.float64)
        self.cells = shown_row(model, row, names)
        if isinstance(model, TablePipeline):
            encoder = model.encoder_
            self.groups = encoder.all_places() if hasattr(encoder, "all_places") else encoder.places()
            self.usual = {name: cell for name, cell in model.encoder_.in_words(self.baseline).items() if cell != []}
        else:
            self.groups = {name: [place] for place, name in enumerate(names)}
            self.usual = {} if hasattr(row, "indices") else dict(zip(names, self.baseline.tolist(), strict=True))

    def terms(self, models: Sequence[Any], row: Any) -> list[Part] | None:
        """The sum that the score of the last of these models is; None if it is no such sum."""
        model = models[-1]
        if isinstance(model.final_learner, ExpertPool):
            return self._terms_of_pool(models, model.final_learner, row)
        form = score_form_of(model)
        if form is None:
            return None
        x, parts = prepared_row(model, row), []
        for kept in form.kernel_sums:
            near = kept.similarities(x)
            for place, (weight, sign, similar) in enumerate(zip(kept.weights, kept.signs, near, strict=True)):
                parts.append(self._example(models, kept, place, sign, weight * similar, weight, similar))
        if form.linear is not None:
            weights: Floats = form.linear.weights
            for j in np.flatnonzero(weights * x[0]):
                weight, value = float(weights[j]), float(x[0, j])
                parts.append(Part(FEATURE, self.names[j], weight * value, weight, value))
        if form.bias:
            parts.append(Part(BIAS, "bias", form.bias, form.bias, 1.0))
        raw = float(model.raw_scores(_as_encoded(row))[0])
        is_the_score = abs(sum(part.amount for part in parts) - raw) <= _WORST * max(1.0, abs(raw))
        return parts if is_the_score else None

    def _example(
        self, models: Sequence[Any], kept: Any, place: int, sign: float, amount: Any, weight: Any, similar: Any
    ) -> Part:
        found = example_of(models, kept.vectors[place], int(kept.numbers[place]), self.names)
        name = "like" if sign > 0 else "unlike"
        part = Part(EXAMPLE, name, float(amount), float(weight), float(similar), found.columns, bool(sign > 0))
        return replace(part, row=found.number, id=found.id, as_it_came=found.as_it_came)

    def _terms_of_pool(self, models: Sequence[Any], pool: ExpertPool, row: Any) -> list[Part]:
        x = models[-1].prepared(row) if models[-1] is not pool else row
        if pool.combine != "weighted":
            return self._terms_or_columns([*models, pool.best_], x)
        parts = []
        scales = pool.score_scales_.T.tolist()
        for member, weight, (mean, deviation) in zip(pool.members_, pool.expert_weights_.tolist(), scales, strict=True):
            share = weight / deviation if deviation > 0.0 else 0.0
            inside = self._terms_or_columns([*models, member], x)
            inside.append(Part(BIAS, "less its mean score", -mean, -mean, 1.0))
            own = [part.shared(share) for part in inside] if share else []
            amount = share * (float(member.raw_scores(_as_encoded(x))[0]) - mean)
            times = amount / weight if weight else 0.0
            parts.append(Part(MEMBER, plain_value(member), amount, weight, times, parts=in_order(own)))
        return parts

    def _terms_or_columns(self, models: Sequence[Any], row: Any) -> list[Part]:
        found = self.terms(models, row)
        return self.columns(models, row) if found is None else found

    def columns(self, models: Sequence[Any], row: Any) -> list[Part]:
        """The baseline and what each column adds to it, for the last of these models."""
        model, baseline = models[-1], self._as_it_gets(models, self.baseline[None])
        single = row if hasattr(row, "indices") else np.asarray(row)[0]
        groups = list(self.groups.values())
        found = additive_contributions(
            lambda rows: model.raw_scores(_as_encoded(rows)), single, np.asarray(baseline)[0], groups
        )
        linear = self._linear_parts(model, row, baseline)
        parts = [Part(BASELINE, "every column at its mean", found.baseline, found.baseline, 1.0)]
        for place, (name, amount) in enumerate(zip(self.groups, found.amounts.tolist(), strict=True)):
            if amount or (linear is not None and linear[place]):
                cells = {name: self.cells[name]} if name in self.cells else {}
                cells |= self._what_history_says(name)
                part = Part(COLUMN, name, amount, amount, 1.0, cells, instead=self.usual.get(name))
                parts.append(part if linear is None else replace(part, linear=float(linear[place])))
        if found.n_together:
            parts.append(Part(COLUMN, f"{found.n_together:,} {_TOGETHER}", found.together, found.together, 1.0))
        return parts

    def _what_history_says(self, column: str) -> dict[str, float]:
        """Of a key or a pair of them: what is most unusual in its past, by the scale of the learner."""
        encoder = getattr(self.model, "encoder_", None)
        if encoder is None or not hasattr(encoder, "all_places") or column in encoder.places():
            return {}
        scaled, row = prepared_row(self.model, self.row)[0], np.asarray(self.row)[0]
        places = [place for place in self.groups[column] if place >= encoder.first_feature]
        places.sort(key=lambda place: -abs(scaled[encoder.learned_place(place)]))
        return {encoder.names[place]: float(f"{row[place]:.4g}") for place in places[:_SAID_OF_A_KEY]}

    def _as_it_gets(self, models: Sequence[Any], rows: Floats) -> Any:
        """Rows of the outermost model as the last of these takes them."""
        for model in models[:-1]:
            rows = model.prepared(_as_encoded(rows)) if hasattr(model, "prepared") else rows
        return rows

    def _linear_parts(self, model: Any, row: Any, baseline: Any) -> Floats | None:
        """What the exact linear part of the score says to each column, where a learner has one."""
        learner = model.final_learner
        if not hasattr(learner, "linear_terms"):
            return None
        prepared = (prepared_row(model, _as_encoded(rows)) for rows in (row, baseline))
        here, there = (learner.linear_terms(_as_encoded(rows)) for rows in prepared)
        by_feature = (here - there)[0]
        return np.array([by_feature[self._learned(places)].sum() for places in self.groups.values()])

    def _learned(self, places: list[int]) -> list[int]:
        """Which features of the learner these numbers of a row are."""
        learned_place = getattr(getattr(self.model, "encoder_", None), "learned_place", lambda place: place)
        return [found for found in map(learned_place, places) if found is not None]

    def nearest(self, top: int) -> tuple[Part, ...]:
        """The remembered examples of the positive label that the row is most like, each once, by its likest kernel."""
        found: dict[Any, Part] = {}
        for models, row in _keepers([self.model], self.row):
            for kept in kernel_sums_of(models[-1]):
                near = kept.similarities(prepared_row(models[-1], row))
                for place in [p for p in np.argsort(-near, kind="stable") if kept.signs[p] > 0][:top]:
                    weight = kept.weights[place]
                    part = self._example(models, kept, place, 1.0, weight * near[place], weight, near[place])
                    key = part.row or str(part.columns)
                    if part.times > 0.0 and (key not in found or found[key].times < part.times):
                        found[key] = part
            for part in self._nearest_sampled(models, row, top):
                found[part.row or str(part.columns)] = part
        return tuple(sorted(found.values(), key=lambda part: -part.times)[:top])

    def _nearest_sampled(self, models: Sequence[Any], row: Any, top: int) -> list[Part]:
        """The likest of the latest positives in the sample of trees; they have no weight of their own."""
        learner = models[-1].final_learner
        if not hasattr(learner, "latest_positives_"):
            return []
        vectors, numbers = learner.latest_positives_
        near, parts = learner.similarities(prepared_row(models[-1], row), vectors), []
        for place in np.argsort(-near, kind="stable")[:top]:
            example = example_of(models, vectors[place], int(numbers[place]) + 1, self.names)
            part = Part(EXAMPLE, "like", 0.0, 0.0, float(near[place]), example.columns, True)
            parts.append(replace(part, row=example.number, id=example.id, as_it_came=example.as_it_came))
        return parts


def _keepers(models: list[Any], row: Any) -> list[tuple[list[Any], Any]]:
    """What may keep examples: the model itself, or the members of a pool, with the row as each gets it."""
    pool = models[-1].final_learner
    if not isinstance(pool, ExpertPool):
        return [(models, row)]
    x = models[-1].prepared(row) if models[-1] is not pool else row
    return [found for member in pool.members_ for found in _keepers([*models, member], x)]


def _as_encoded(rows: Any) -> Any:
    """Features in the order of the model, by whatever names."""
    return rows.view(EncodedRows) if type(rows) is np.ndarray else rows


def in_order(parts: Sequence[Part]) -> tuple[Part, ...]:
    """The largest first, whatever their signs; a baseline before all, since the others start from there."""
    return tuple(sorted(parts, key=lambda part: (part.kind != BASELINE, -abs(part.amount))))
