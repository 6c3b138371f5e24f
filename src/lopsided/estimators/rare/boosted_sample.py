"""BoostedSample: boosted trees on a bounded sample of the stream, fitted again as it grows."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from lopsided.constraints import Constraint, number, whole
from lopsided.core.arithmetic.compiled import Floats
from lopsided.core.arithmetic.draws import Draws
from lopsided.core.geometry.points import Rows
from lopsided.core.sampling.priority import empty_sample
from lopsided.core.trees.forest import MOST_LEAVES, empty_forest
from lopsided.core.trees.growing import TreePlan
from lopsided.core.trees.sampled_forest import ROWS, TREES_DUE, SampledForest, forest_run, forest_score_rows
from lopsided.estimators.rare.booster import Booster
from lopsided.estimators.rare.merging import AddsSamples
from lopsided.estimators.rare.state import check_trees
from lopsided.estimators.state.arrays import in_range, named_arrays, refilled, taken

_CELLS = 8_000_000  # numbers in the sample: with many features it holds fewer rows


class BoostedSample(AddsSamples):
    """Learns boosted trees from a bounded sample of the stream; `sample_size` bounds it.

    For streams long enough for trees: single columns and thresholds that matter, many columns that do not, missing
    values. On its own it is weak at the start; `RareEventClassifier` puts a ranker beside it.

    The sample holds half of its rows per class, by priority sampling (`PrioritySample`): positives all alike, a
    negative with importance max(sigmoid(g(x)), 0.01), g the score before it was learned. Hard negatives stay, easy ones
    are thinned, and a kept row counts for those that it stands for. Trees are fitted after 50 rows and then whenever
    the rows have grown by 40 %, or by half the sample: for the logistic loss, leaf by leaf where the gain

        G_l^2 / (H_l + lambda) + G_r^2 / (H_r + lambda) - G^2 / (H + lambda)

    is largest, among at most 255 quantiles per column; a leaf adds -rate G / (H + lambda). Negatives together weigh r =
    min(n_- / n_+, n_+^(1/3)) times as much as positives: near balance while positives are few, milder later. A few
    trees are grown at a time, every 50 rows, so that no row waits long; they answer when all are there. A missing value
    (NaN) counts as smaller than any number. The score g is a logit at that balance, not at the rate of the stream.

    Cost of one example: O(n_trees log(n_leaves)), and a share of a fit, O(sample_size n_features n_trees).
    Memory: 8 n_features + 40 bytes per row of the sample.

    Parameters
    ----------
    sample_size : int >= 4, default=20_000
        Rows that the trees are fitted to, at the most; fewer with more than 400 features, 8,000,000 numbers in all.
    n_trees : int >= 1, default=100
        Number of trees.
    n_leaves : int >= 2 and <= 1024, default=16
        Leaves of a tree, at the most.
    learning_rate : float > 0, default=0.1
        The rate by which a leaf counts.
    regularization : float > 0, default=1.0
        lambda, the ridge of a leaf's value.
    min_rows : int >= 1, default=5
        The fewest rows of a leaf.
    threshold : float or {"zero", "f1", "gmean", "rate:SHARE"}, default="zero"
        The score above which `predict` answers with the positive label. "zero" is 0. "f1" and "gmean" maximise that
        measure over the latest progressive scores. "rate:0.01" flags that share of the stream, an alert budget.
    pos_label : label or None, default=None
        The positive label, the one of the rare class. None takes the larger of the two sorted labels. If it is the
        smaller one, scikit-learn's own scorers, which assume the larger, read the score reversed.
    shuffle : bool, default=False
        Whether `fit` shuffles the rows before its single pass. `partial_fit` keeps the order given.
    random_state : int or numpy.random.Generator or None, default=None
        Seed of the sample, one uniform per row. The same int gives the same model; None takes fresh entropy.

    Examples
    --------
    >>> from lopsided import BoostedSample
    >>> from lopsided.datasets import four_clusters
    >>> from lopsided.metrics import auroc
    >>> stream = four_clusters(random_state=0)
    >>> learner = BoostedSample(random_state=0)
    >>> round(auroc(stream.y, learner.progressive_scores(stream.X, stream.y)), 2)
    0.93

    References
    ----------
    T. Chen, C. Guestrin, "XGBoost: A Scalable Tree Boosting System", KDD 2016 (the gain); N. Duffield, C. Lund, M.
    Thorup, "Priority sampling for estimation of arbitrary subset sums", JACM 2007.
    """

    takes_missing = True
    _constraints: ClassVar[dict[str, Constraint]] = {
        "sample_size": whole(4),
        "n_trees": whole(1),
        "n_leaves": Constraint(
            lambda value: whole(2).accepts(value) and value <= MOST_LEAVES, f"a whole number from 2 to {MOST_LEAVES}"
        ),
        "learning_rate": number(above=0),
        "regularization": number(above=0),
        "min_rows": whole(1),
    }

    def __init__(
        self,
        sample_size: int = 20_000,
        n_trees: int = 100,
        n_leaves: int = 16,
        learning_rate: float = 0.1,
        regularization: float = 1.0,
        min_rows: int = 5,
        threshold: float | str = "zero",
        pos_label: Any = None,
        shuffle: bool = False,
        random_state: Any = None,
    ) -> None:
        self.sample_size = sample_size
        self.n_trees = n_trees
        self.n_leaves = n_leaves
        self.learning_rate = learning_rate
        self.regularization = regularization
        self.min_rows = min_rows
        self.threshold = threshold
        self.pos_label = pos_label
        self.shuffle = shuffle
        self.random_state = random_state

    @property
    def _learns_by_heart(self) -> bool:
        return True

    def _start(self, n_features: int) -> None:
        half = max(2, min(int(self.sample_size), _CELLS // n_features) // 2)
        plan = TreePlan(int(self.n_leaves), float(self.regularization), int(self.min_rows), float(self.learning_rate))
        self._trees = SampledForest(
            empty_sample(half, n_features),
            empty_sample(half, n_features),
            empty_forest(int(self.n_trees), plan.n_leaves),
        )
        self._tally = np.zeros(2, dtype=np.int64)
        self._booster = Booster(self._trees.forest, n_features, plan, 2 * half)
        self._x = np.zeros(n_features)

    # ---------------------------------------------------------------- learning

    _run = staticmethod(forest_run)
    _score_rows = staticmethod(forest_score_rows)

    @property
    def _draws_a_row(self) -> int:
        return 1

    def _run_arguments(
        self, rows: Rows, signs: Floats, costs: Floats, draws: Draws, scores: Floats, every_score: bool
    ) -> tuple[Any, ...]:
        return self._trees, self._tally, rows, signs, costs, draws, self._x, scores

    def _score_arguments(self, rows: Rows, scores: Floats) -> tuple[Any, ...]:
        return self._trees.forest, rows, self._x, scores

    def _run_span(self, rows: Rows, arguments: tuple[Any, ...], start: int, stop: int) -> int:
        while start < stop:
            start = super()._run_span(rows, arguments, start, stop)
            self._do_what_is_due()
        return stop

    def _learn_one(self, sign: float, weight: float = 1.0) -> float:
        score = super()._learn_one(sign, weight)
        self._do_what_is_due()
        return score

    def _do_what_is_due(self) -> None:
        if self._tally[TREES_DUE]:
            self._tally[TREES_DUE] = 0
            self._booster.beat(self._trees, int(self._tally[ROWS]))

    # ---------------------------------------------------------------- keeping, looking inside

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        return named_arrays(trees=self._trees) | {"tally": self._tally} | self._booster.arrays

    def _restore(self, arrays: dict[str, npt.NDArray[Any]]) -> None:
        trees = refilled(arrays, "trees", self._trees)
        check_trees("trees", trees, self._x.size)
        tally = taken(arrays, "tally", np.int64, (2,))
        in_range("tally", tally, 0, (2**62, 1))
        self._trees, self._tally, self._booster.forest = trees, tally, trees.forest
        self._booster.restore(arrays)
        self._unbind()

    def _sampled_forest(self) -> SampledForest:
        return self._trees

    # ---------------------------------------------------------------- adding up

    def _take_in(self, other: Any) -> None:
        self._tally[ROWS] += other._tally[ROWS]
        self._merge_trees(other)

    def _fit_anew(self) -> None:
        self._booster.fit_now(self._trees, int(self._tally[ROWS]))
