"""What the learners for rare events are made of, and why they gave a score."""

import numpy as np
import pytest

import lopsided as lp
from lopsided.datasets import four_clusters
from lopsided.inspection import describe, explain

STREAM = four_clusters(60, 340, random_state=2)
LEARNERS = {
    "RareEventClassifier": lambda: lp.RareEventClassifier(sample_size=200, n_components=20, random_state=0),
    "BoostedSample": lambda: lp.BoostedSample(sample_size=200, n_trees=10, random_state=0),
}
each_learner = pytest.mark.parametrize("make", LEARNERS.values(), ids=LEARNERS)


def with_gaps():
    X = STREAM.X.copy()
    X[::9, 0] = np.nan
    return X


@each_learner
def test_the_columns_sum_to_the_score_from_the_means_of_what_is_known(make):
    X = with_gaps()
    model = make().fit(X, STREAM.y)
    assert np.isfinite(model.typical_row_).all()
    for row in (X[0], X[1]):
        explanation = explain(model, row)
        assert explanation.parts[0].kind == "baseline"
        assert sum(part.amount for part in explanation.parts) == pytest.approx(model.raw_scores(row[None])[0])


def test_typical_rows_are_the_means_of_what_is_known():
    X, n = with_gaps()[:200], 200
    rare = LEARNERS["RareEventClassifier"]().fit(X, STREAM.y[:n])
    sampled = LEARNERS["BoostedSample"]().set_params(sample_size=2 * n).fit(X, STREAM.y[:n])
    for model in (rare, sampled):
        np.testing.assert_allclose(model.typical_row_, np.nanmean(X, axis=0))


@each_learner
def test_the_likest_positives_are_shown_as_the_rows_they_were(make):
    model = lp.StreamPipeline(lp.OnlineScaler("minmax"), make()).fit(STREAM.X, STREAM.y)
    place = int(np.flatnonzero(STREAM.y == 1)[-1])
    nearest = explain(model, STREAM.X[place]).nearest
    assert len(nearest) == 3 and all(part.is_positive and part.as_it_came for part in nearest)
    assert nearest[0].row == place + 1
    for part in nearest:
        assert STREAM.y[part.row - 1] == 1
        assert list(part.columns.values()) == STREAM.X[part.row - 1].tolist()
    assert nearest[0].times >= nearest[1].times >= nearest[2].times > 0.0


def test_what_the_parts_say_is_told():
    model = LEARNERS["RareEventClassifier"]().fit(STREAM.X, STREAM.y)
    said = explain(model, STREAM.X[0]).says
    assert said == {name: scores[0] for name, scores in model.part_scores(STREAM.X[:1]).items()}
    assert explain(LEARNERS["BoostedSample"]().fit(STREAM.X, STREAM.y), STREAM.X[0]).says == {}


def test_anatomy():
    model = LEARNERS["RareEventClassifier"]().fit(STREAM.X, STREAM.y)
    anatomy = describe(model).anatomy
    assert anatomy["sampled_positives"] == 60 and anatomy["sampled_negatives"] == 100 and anatomy["trees"] == 100
    assert anatomy["trees_share"] == model.trees_share_ and anatomy["restarts"] == 0
    assert sum(anatomy["ridges"].values()) == pytest.approx(1.0)
    assert "sample     60 rows of the positive label, 100 others" in str(describe(model))
    alone = describe(LEARNERS["BoostedSample"]().fit(STREAM.X, STREAM.y))
    assert alone.anatomy == {"sampled_positives": 60, "sampled_negatives": 100, "trees": 10}
    assert describe(lp.OPAUC().fit(STREAM.X, STREAM.y)).anatomy is None
