"""Our areas as River metrics, against scikit-learn; and examples that are taken back, against areas of what is left."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from river import datasets, evaluate, linear_model, preprocessing, utils
from sklearn.metrics import average_precision_score, roc_auc_score

import lopsided as lp
from lopsided.adapters.river import AUPRC, AUROC, WindowedAUROC


def scored(n_rows, seed):
    rng = np.random.default_rng(seed)
    y = rng.random(n_rows) < 0.2
    chances = 1.0 / (1.0 + np.exp(-rng.normal(size=n_rows) - y))
    return y.tolist(), chances.tolist()


@pytest.mark.parametrize("n_rows", [200, 3_000])
def test_they_are_the_areas_of_scikit_learn(n_rows):
    y, chances = scored(n_rows, seed=0)
    for metric, exact in ((AUROC(), roc_auc_score), (AUPRC(), average_precision_score)):
        for label, chance in zip(y, chances, strict=True):
            metric.update(label, {True: chance, False: 1.0 - chance})
        assert abs(metric.get() - exact(y, chances)) <= metric.error_bound + 1e-12
        assert metric.error_bound < 0.01
        assert metric.bigger_is_better and not metric.requires_labels and not metric.works_with_weights


def test_rolling_takes_examples_back():
    y, chances = scored(1_500, seed=1)
    rolling, window = utils.Rolling(AUROC, window_size=500), WindowedAUROC(500)
    for label, chance in zip(y, chances, strict=True):
        rolling.update(label, chance)
        window.update(label, chance)
    exact = roc_auc_score(y[-500:], chances[-500:])
    assert window.get() == pytest.approx(exact, abs=1e-12)
    assert abs(rolling.get() - exact) <= rolling.obj.error_bound + 1e-12


@pytest.mark.parametrize("kind", [lp.metrics.AUROC, lp.metrics.AUPRC])
@pytest.mark.parametrize("n_rows", [40, 400])
@given(seed=st.integers(0, 1_000), data=st.data())
def test_what_is_taken_back_is_as_if_it_had_never_come(kind, n_rows, seed, data):
    y, scores = scored(n_rows, seed)
    scores = [round(score, 1 if seed % 2 else 6) for score in scores]  # ties too
    gone = set(data.draw(st.lists(st.integers(0, n_rows - 1), max_size=30)))
    metric, other = kind(), kind()
    metric.update_many(y, scores)
    for t in gone:
        metric.revert(y[t], scores[t])
    rest = [t for t in range(n_rows) if t not in gone]
    other.update_many([y[t] for t in rest], [scores[t] for t in rest])
    if metric.is_exact:
        assert metric.value == pytest.approx(other.value, abs=1e-12, nan_ok=True)
    elif not np.isnan(other.value):
        assert abs(metric.value - other.value) <= metric.error_bound + other.error_bound + 1e-12


def test_what_was_not_counted_cannot_be_taken_back():
    for n_rows in (20, 400):
        y, scores = scored(n_rows, seed=2)
        metric = lp.metrics.AUROC()
        metric.update_many(y, scores)
        before = metric.value
        with pytest.raises(ValueError, match=r"must have been counted before\. Got the label True with the score 1000"):
            metric.revert(True, 1e9)
        assert metric.value == before
    with pytest.raises(ValueError, match="The 'fade' of a AUROC to revert must be 1"):
        lp.metrics.AUROC(fade=0.9).revert(True, 0.5)
    with pytest.raises(ValueError, match=r"label y of AUPRC\.revert must be"):
        lp.metrics.AUPRC().revert(7, 0.5)
    with pytest.raises(NotImplementedError, match="Use AUROC, which can"):
        WindowedAUROC().revert(True, 0.5)
    with pytest.raises(ValueError, match="weight w of an example of AUROC must be 1"):
        AUROC().update(True, 0.5, w=2.0)


def test_they_work_with_models_of_river_and_beside_its_metrics():
    model = preprocessing.StandardScaler() | linear_model.LogisticRegression()
    both = AUROC() + AUPRC(pos_val=True)
    evaluate.progressive_val_score(datasets.Phishing().take(300), model, both)
    assert all(value > 0.8 for value in both.get())
    assert AUROC(fade=0.99).clone().fade == 0.99
    assert repr(AUROC()).startswith("AUROC: nan")
