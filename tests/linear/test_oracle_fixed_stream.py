"""The naive transcriptions of the OMCSL specification against the numbers printed in its section 7.

The package itself takes no part in this: it shows that the transcriptions are worth comparing with.
"""

import math

import numpy as np
import pytest

from oracles import linear as naive
from oracles import streaming_metrics as metrics

DIGITS = {"rtol": 0, "atol": 5.1e-11}  # ten of them, rounded


def fixed_stream():
    """t = 1..200, every seventh positive, four features of which the last is a constant."""
    X, y = [], []
    for t in range(1, 201):
        positive = t % 7 == 0
        X.append([math.sin(t) + 0.8 * positive, math.cos(2 * t) - 0.5 * positive, math.sin(t**2), 1.0])
        y.append(1 if positive else -1)
    return np.array(X), y


X, Y = fixed_stream()
SCORES = X[:, 0] - X[:, 1] / 2


def learned(model):
    for x, y in zip(X, Y, strict=True):
        model.step(x, y)
    return model


# ---- OMCSL ----


@pytest.mark.parametrize(
    "loss, measure, expected",
    [
        ("hinge", "f1", [0.4695652174, 0.2666666667, 0.0]),
        ("hinge", "auroc", [0.7919435216, 0.7611088040, 0.6528239203]),
        ("hinge", "auprc", [0.4140033338, 0.3524097802, 0.1712211187]),
        ("logistic", "f1", [0.4778761062, 0.2903225806, 0.1935483871]),
        ("logistic", "auroc", [0.7960963455, 0.7547757475, 0.7159468439]),
        ("logistic", "auprc", [0.3926090257, 0.3686934772, 0.3052299241]),
    ],
)
def test_measures_and_first_column_of_omcsl(loss, measure, expected):
    binning = {"key": "sigmoid", "n_bins": 100, "interpolation": "trapezoid"}
    model = learned(
        naive.OMCSL(4, n_costs=3, loss=loss, measure=measure, sharpness=100.0, learning_rate=0.5, decay=True, **binning)
    )
    np.testing.assert_allclose(model.M, expected, **DIGITS)
    first_column = {
        "hinge": [0.9721708788, -0.5245671626, -0.1434641759, -0.1779148738],
        "logistic": [0.5263954855, -0.3007106573, -0.0822289793, -0.0494846500],
    }
    np.testing.assert_allclose(model.W[0], first_column[loss], **DIGITS)


# ---- Baselines, with their default parameters ----


@pytest.mark.parametrize(
    "model, expected",
    [
        (naive.OnlinePerceptron(4), [1.1971197202, -0.1934304950, 1.0220368884, -2.0]),
        (naive.OCS(4, variant=1), [0.2403306708, -0.0034678423, 0.2308418330, -1.2]),
        (naive.OCS(4, variant=2), [2.0470506621, -1.3659200307, -0.3999915135, -0.5]),
        (naive.OFO(4), [0.1476899735, -0.0814237398, -0.0202583643, -0.7314694475]),
        (naive.OPAUC(4), [0.4226380136, -0.2538817071, -0.1100228437, 0.0]),
    ],
    ids=["OnlinePerceptron", "OCS1", "OCS2", "OFO", "OPAUC"],
)
def test_weights_of_the_baselines(model, expected):
    np.testing.assert_allclose(learned(model).w, expected, **DIGITS)


def test_threshold_of_ofo():
    assert learned(naive.OFO(4)).tau == 7 / 57


# ---- Metrics ----


@pytest.mark.parametrize(
    "metric, expected",
    [
        (metrics.AUROC(key="sigmoid", n_bins=100), 0.8243355482),
        (metrics.AUPRC(key="sigmoid", n_bins=100, interpolation="trapezoid"), 0.5406934965),
        (metrics.AUPRC(key="sigmoid", n_bins=100, interpolation="step"), 0.5456188375),
        (metrics.AUROC(key="sigmoid", n_bins=100, fade=0.99), 0.8194303346),
        (metrics.AUPRC(key="sigmoid", n_bins=100, fade=0.99, interpolation="trapezoid"), 0.5184975358),
        (metrics.AUPRC(key="sigmoid", n_bins=100, fade=0.99, interpolation="step"), 0.5239370508),
        (metrics.AUROC(key="sigmoid", n_bins=100, fade=0.9, per_class=True), 0.8583144237),
        (metrics.AUROC(key="centred", n0=64), 0.8242317276),
        (metrics.WindowedAUROC(50), 0.7441860465),
    ],
    ids=[
        "AUROC",
        "trapezoid",
        "step",
        "faded AUROC",
        "faded trapezoid",
        "faded step",
        "AUROC faded per class",
        "centred AUROC",
        "window",
    ],
)
def test_metrics(metric, expected):
    for y, score in zip(Y, SCORES, strict=True):
        metric.update(y, score)
    np.testing.assert_allclose(metric.value, expected, **DIGITS)


def test_scale_of_the_centred_bins():
    assert metrics.centre_and_scale(SCORES[:64])[1] == 2.0
