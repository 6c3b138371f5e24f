"""Linear learners: classifiers, rankers, columns of weights for several costs, resampling."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lopsided.estimators.entry import Entry

if TYPE_CHECKING:
    from lopsided.estimators.linear.bagging import ResamplingBagging as ResamplingBagging
    from lopsided.estimators.linear.classifiers import OCS as OCS
    from lopsided.estimators.linear.classifiers import OFO as OFO
    from lopsided.estimators.linear.classifiers import OnlinePerceptron as OnlinePerceptron
    from lopsided.estimators.linear.omcsl import OMCSL as OMCSL
    from lopsided.estimators.linear.rankers import OAM as OAM
    from lopsided.estimators.linear.rankers import OPAUC as OPAUC


def _entry(name: str, file: str, *trials: dict[str, Any], **claims: Any) -> Entry:
    module = f"lopsided.estimators.linear.{file}"
    return Entry(name, module, "linear", trials, linear=True, mergeable=True, **claims)


ENTRIES: tuple[Entry, ...] = (
    _entry("OnlinePerceptron", "classifiers", {"fit_intercept": True}),
    _entry("OCS", "classifiers", {}, {"variant": 2, "loss": "logistic", "fit_intercept": True}),
    _entry(
        "OFO",
        "classifiers",
        {"fit_intercept": True},
        {"learning_rate": 1.0, "loss": "hinge"},
    ),
    _entry(
        "OPAUC",
        "rankers",
        {},
        {"rank": 4},
        random=lambda learner: learner.rank is not None,
    ),
    _entry("OAM", "rankers", {"budget": 10}, {"variant": "gra", "C": 0.01, "budget": 10}, random=True),
    _entry(
        "OMCSL",
        "omcsl",
        {"sharpness": float("inf"), "refresh": 3},
        {"measure": "auroc", "fit_intercept": True, "average": True, "regularization": 0.1},
        {"measure": "auprc", "refresh": 9, "n_costs": 4},
        random=True,
        reports_its_answer=False,
    ),
    _entry(
        "ResamplingBagging",
        "bagging",
        {"n_members": 4},
        {"n_members": 3, "mode": "under", "loss": "logistic"},
        random=True,
    ),
)
