"""Pipelines as one: part by part. The scales of numbers add up, and so do histories; the learners do as they do."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from lopsided.core.arithmetic.compiled import Floats
from lopsided.estimators.base.merging import MergeError, Merges, refuse_unless_equal


def with_budget(learner: Any, budget: Any) -> Any:
    """An unused learner with another budget, where it has one; None where it has not."""
    known = learner.get_params()
    names = [name for name in known if name.rpartition("__")[2] == "budget" and known[name] is not None]
    return clone(learner).set_params(**dict.fromkeys(names, budget)) if names else None


class MergesParts(Merges):
    """A pipeline of a scaler and a learner."""

    _budget_of_merge: Any = None

    def _set_budget(self: Any, budget: Any) -> None:
        changed = with_budget(self._begun_with["learner"] or self._default_learner(), budget)
        if changed is None:
            raise MergeError(
                f"The 'budget' parameter of merge must be None for a {type(self).__name__} whose learner has no "
                f"budget. Got {budget!r}."
            )
        self._begun_with |= {"learner": changed}
        self.learner, self._budget_of_merge = clone(changed), budget

    def _take_after(self: Any, original: Any) -> None:
        self.scaler_, self.learner_ = original.scaler_._lent(), original.learner_.empty_like()
        self._share_with_parts()
        self._prepare_for_one()

    def _merge(self: Any, models: list[Any], shares: Floats) -> None:
        budget, self._budget_of_merge = self._budget_of_merge, None
        self.scaler_ = self.scaler_.merged_with([model.scaler_ for model in models[1:]])
        self.learner_ = models[0].learner_._merged([model.learner_ for model in models], budget)
        if self._rows is not None:
            self._rows.go_on_from(self.n_seen_, self.learner_._kept_numbers())
        self._share_with_parts()


class MergesTables(MergesParts):
    """A pipeline for tables: also the means that gaps are filled with, and what keys did before."""

    def _merge(self: Any, models: list[Any], shares: Floats) -> None:
        for other in models[1:]:
            refuse_unless_equal(type(self).__name__, "schema", self.schema_, other.schema_)
        super()._merge(models, shares)
        counts = np.sum([model._counts for model in models], axis=0)
        sums = np.sum([model._counts * model._means for model in models], axis=0)
        self._means[:] = np.divide(sums, counts, out=np.zeros(sums.size), where=counts > 0)
        self._counts[:] = counts
        if "history_" in self.__dict__:
            self.history_ = self.history_.merged_with([model.history_ for model in models[1:]])
        self._use_lock(self._alone)
