"""RareEventClassifier against its transcription: with drift, with features that leave their scale, with gaps.

The package adds up products of features in single precision. So it is compared twice: as it is, where scores agree to
three digits and rows, restarts and renewals exactly; and with the same code in double precision, to 1e-9.
"""

import numpy as np
import pytest
from scipy.linalg.blas import dsyrk
from scipy.linalg.lapack import dposv

import lopsided as lp
from lopsided.estimators.rare import memories, rare_event, two_memories
from oracles import rare as naive
from rare.streams import choices_of, side_by_side, stripes, turning, weights_for, with_gaps

N_TREES, N_YOUNG = 4, 3  # instead of 100 and 50: searching all values takes its time


class DoublePrecision:
    """NumPy, except that its single precision is double precision."""

    float32 = np.float64

    def __getattr__(self, name):
        return getattr(np, name)


@pytest.fixture(params=["double", "single"])
def tolerance(request, monkeypatch):
    monkeypatch.setattr(rare_event, "N_TREES", N_TREES)
    monkeypatch.setattr(rare_event, "YOUNG_TREES", N_YOUNG)
    if request.param == "single":
        return 2e-3
    for module in (memories, two_memories):
        monkeypatch.setattr(module, "np", DoublePrecision())
    monkeypatch.setattr(memories, "ssyrk", dsyrk)
    monkeypatch.setattr(memories, "sposv", dposv)
    return 1e-9


def growing(X, start=250):
    """The third feature ten times as wide from row `start` on, and elsewhere."""
    X = X.copy()
    X[start:, 2] = 10.0 * X[start:, 2] + 3.0
    return X


def turned_for_a_while(X, part=slice(1_250, 1_290)):
    """Some rows are mirrored: by the time that this is noticed it is over."""
    X = X.copy()
    X[part] *= -1.0
    return X


TURN = 1_300
X, Y = turning(2_000, turn=TURN)
STRIPES, OF_STRIPES = stripes(1_900, turn=1_100)
CASES = {
    "drift": (X, Y, None, {"n_components": 8}),
    "drift that trees see": (STRIPES, OF_STRIPES, None, {"n_components": 2}),
    "false alarm": (turned_for_a_while(turning(1_500)[0]), turning(1_500)[1], None, {"n_components": 8}),
    "drift, never forgotten": (X, Y, None, {"n_components": 8, "forget": "never"}),
    "weights, gaps, another scale": (
        growing(with_gaps(X[:1_200])),
        Y[:1_200],
        weights_for(1_200),
        {"n_components": 20},
    ),
    "sparse": (with_gaps(X[:600]), Y[:600], None, {"n_components": 8}),
}


@pytest.mark.parametrize("name", CASES)
def test_rare_event_classifier(name, tolerance):
    rows, y, weights, options = CASES[name]
    learner = lp.RareEventClassifier(200, random_state=5, threshold="zero", **options)
    model = naive.RareEventClassifier(
        4,
        sample_size=200,
        n_components=options["n_components"],
        forgets=options.get("forget") != "never",
        n_trees=N_TREES,
        n_young=N_YOUNG,
        seed=5,
    )
    model.young_hint = lambda: choices_of(learner._state.young)
    found, expected = side_by_side(
        learner, model, lambda learner: learner._state.trees.forest, rows, y, weights, name == "sparse"
    )
    assert np.abs(found - expected).max() < tolerance
    for numbers, sample in zip(learner.sampled_rows_, (model.trees.positives, model.trees.negatives), strict=True):
        assert numbers.tolist() == sample.numbers()
    assert learner.n_restarts_ == len(model.restarts)
    assert learner.trees_share_ == pytest.approx(float(model.blend_mix.shares @ model.blends[:, 1]), abs=tolerance)
    # The stream has shown what the comparison is for.
    assert expected.std() > 0.1
    if name == "drift":
        assert [TURN < after < TURN + 400 for after in model.restarts] == [True]
    if name == "false alarm":
        assert not model.restarts and model.gate.false_alarms
    if name == "drift that trees see":
        assert model.young_fits and len(model.restarts) == 1
    if name == "weights, gaps, another scale":
        assert model.renewals[:1] == [400]
