"""Adding a learner, as CONTRIBUTING.md tells: the numbers in one class, an entry, and the rest comes by itself."""

from typing import ClassVar

import numpy as np
import pytest

import lopsided as lp
from checks.mean_ranker import MeanRanker
from lopsided.checks import check_learner
from lopsided.cli.learners import learner_class, learner_names, parsed_settings
from lopsided.constraints import number
from lopsided.datasets import four_clusters
from lopsided.estimators import registry
from lopsided.estimators.base.validation import dense_rows
from lopsided.estimators.state.arrays import taken
from lopsided.metrics import auroc
from lopsided.protocol import Learner


class NearestMean(lp.OnlineClassifier):
    """Ranks by how much nearer a row is to the mean of the rare class than to that of the other."""

    _constraints: ClassVar = {"forgetting": number(least=0, most=1)}

    def __init__(self, forgetting=0.0, threshold="zero", pos_label=None, shuffle=False, random_state=None):
        self.forgetting = forgetting
        self.threshold = threshold
        self.pos_label = pos_label
        self.shuffle = shuffle
        self.random_state = random_state

    def _start(self, n_features):
        self._means, self._counts = np.zeros((2, n_features)), np.zeros(2)

    def _learn(self, rows, signs, weights, *, every_score):
        scores = np.empty(signs.size)
        for t, x in enumerate(dense_rows(rows, self.n_features_in_)):
            scores[t] = self._score_of(x)
            side = int(signs[t] > 0)
            self._counts[side] = (1.0 - self.forgetting) * self._counts[side] + 1.0
            self._means[side] += weights[t] * (x - self._means[side]) / self._counts[side]
        return scores

    def _score_of(self, x):
        return ((x - self._means[0]) ** 2).sum() - ((x - self._means[1]) ** 2).sum()

    def _score(self, rows):
        return np.array([self._score_of(x) for x in dense_rows(rows, self.n_features_in_)])

    def _merge(self, models, shares):
        self._counts = sum(model._counts for model in models)
        totals = sum(model._counts[:, None] * model._means for model in models)
        self._means = totals / np.maximum(self._counts, 1.0)[:, None]

    def _arrays(self):
        return {"means": self._means, "counts": self._counts}

    def _restore(self, arrays):
        self._means = taken(arrays, "means", np.float64, self._means.shape)
        self._counts = taken(arrays, "counts", np.float64, (2,))


@pytest.fixture
def registered():
    lp.register(NearestMean, trials=({"forgetting": 0.1},), bounded=True, sparse=True, random=False, mergeable=True)
    yield
    registry.forget("NearestMean")


@pytest.mark.usefixtures("registered")
def test_a_registered_learner_is_checked_saved_loaded_and_listed(tmp_path):
    for learner in registry.entry("NearestMean").instances():
        report = check_learner(learner)
        assert set(report.left_out) == {"check_missing_values", "check_parts_add_up"}, (
            "it claims all else, and all else was checked"
        )
    stream = four_clusters(60, 240, random_state=3)
    model = NearestMean().fit(stream.X, stream.y)
    model.save(tmp_path / "model")
    loaded = lp.load(tmp_path / "model")
    assert type(loaded) is NearestMean
    assert np.array_equal(loaded.raw_scores(stream.X), model.raw_scores(stream.X))
    assert "nearestmean" in learner_names() and learner_class("nearestmean") is NearestMean
    assert parsed_settings(NearestMean, ["forgetting=0.2"]) == {"forgetting": 0.2}


@pytest.mark.usefixtures("registered")
def test_it_works_inside_of_what_holds_learners():
    stream = four_clusters(60, 240, random_state=3)
    pool = lp.ExpertPool([NearestMean(), lp.KOIL(gamma=20.0)], random_state=0)
    pipeline = lp.StreamPipeline(lp.OnlineScaler(), NearestMean())
    for model in (pool, pipeline):
        scores = model.progressive_scores(stream.X, stream.y)
        assert np.isfinite(scores).all() and 0.0 <= auroc(stream.y, scores) <= 1.0


def test_a_learner_of_somebody_else_can_be_checked():
    assert isinstance(MeanRanker().partial_fit([[0.0], [1.0]], [0, 1]), Learner)
    report = check_learner(MeanRanker(), claims={"random": False})
    assert set(report.left_out) == {
        "check_scikit_learn",
        "check_sparse_equals_dense",
        "check_rare_class_can_be_named",
        "check_cloning",
        "check_bounded_memory",
        "check_missing_values",
        "check_merging_with_an_empty_model",
        "check_merging_in_any_order",
        "check_merged_models_go_on",
        "check_parts_add_up",
        "check_threshold_changes_decisions_only",
    }
    assert len(report.passed) == 27
