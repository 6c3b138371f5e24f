"""Trees on a sample of the stream: when they are fitted again, and a tree at a time, so that no row waits long."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lopsided.core.arithmetic.compiled import Floats
from lopsided.core.sampling.priority import KEPT
from lopsided.core.trees.binning import MOST_BINS, binned
from lopsided.core.trees.forest import Forest, clear_forest, copy_forest, empty_forest
from lopsided.core.trees.growing import Sampled, TreePlan, empty_growth, grow_tree
from lopsided.core.trees.sampled_forest import SampledForest
from lopsided.estimators.state.arrays import ModelFileError, in_range, named_arrays, refilled, taken
from lopsided.estimators.state.samples import counts_of

N_TREES = 100
DEFAULT_TREES = TreePlan(n_leaves=16, ridge=1.0, least_rows=5, rate=0.1)
FIRST_FIT = 50  # rows
_GROWTH = 0.4  # share of more rows after which trees are fitted again
_VISITS_AT_ONCE = 10_000_000  # of a row to a feature's sums; a pause of 10 to 30 ms
_ALL_AT_ONCE = 2**62
_VISITS_A_ROW = 3  # by a tree of 16 leaves: all rows once, then the smaller part of each split
_SUMS_IN_MEMORY = 2_000_000  # cells of 32 bytes
_BALANCE = 1.0 / 3.0


class Booster:
    """Fits trees to two samples, one per class, and keeps the forest that answers up to date, in place."""

    def __init__(self, forest: Forest, n_features: int, plan: TreePlan, most_rows: int) -> None:
        self.forest, self.plan, self._most_rows = forest, plan, most_rows
        self._n_features = n_features
        self.next_fit = np.array([FIRST_FIT], dtype=np.int64)
        self._forget_growth()

    def _forget_growth(self) -> None:
        self._growing: Forest | None = None
        self._sampled = Sampled(np.zeros((0, self._n_features), dtype=np.uint8), *(np.zeros(0) for _ in range(3)))
        self._edges, self._n_edges = np.zeros((self._n_features, 0)), np.zeros(self._n_features, dtype=np.int64)
        self._work: Any = None

    # ---------------------------------------------------------------- fitting

    def beat(self, trees: SampledForest, seen: int) -> bool:
        """Do what is due after `seen` rows: begin to fit, or grow some more trees. True when the forest is new."""
        if self._growing is None:
            if seen < self.next_fit[0] or not _has_both(trees):
                return False
            self._begin(trees)
            self._set_next(seen)
        return self._grow(_VISITS_AT_ONCE)

    def fit_now(self, trees: SampledForest, seen: int, visits: int = _ALL_AT_ONCE) -> None:
        """Fit trees at once to a sample that has been replaced: all of them, or fewer where that takes too long."""
        self._forget_growth()
        self._set_next(seen)
        if _has_both(trees):
            self._begin(trees)
            self._grow(visits)
            if self._growing is not None:
                copy_forest(self._growing, self.forest)
                self._forget_growth()
        else:
            clear_forest(self.forest, 0.0)

    def _set_next(self, seen: int) -> None:
        self.next_fit[0] = seen + int(min(self._most_rows // 2, max(FIRST_FIT, _GROWTH * seen)))

    def _begin(self, trees: SampledForest) -> None:
        positives, negatives = trees.positives, trees.negatives
        rows = np.concatenate([sample.rows[: sample.tally[KEPT]] for sample in (positives, negatives)])
        labels = np.repeat([1.0, 0.0], [positives.tally[KEPT], negatives.tally[KEPT]])
        weights = np.concatenate(balanced(counts_of(positives), counts_of(negatives)))
        n_bins = min(MOST_BINS, max(32, len(rows) // 16), _SUMS_IN_MEMORY // (self.plan.n_leaves * self._n_features))
        codes, self._edges, self._n_edges = binned(rows, max(n_bins, 2))
        self._growing = empty_forest(self.forest.features.shape[0], self.plan.n_leaves)
        share = float(weights @ labels) / float(weights.sum())
        self._growing.levels[0] = np.log(share / (1.0 - share))
        self._sampled = Sampled(codes, labels, weights, np.full(labels.size, self._growing.levels[0]))

    def _grow(self, visits: int) -> bool:
        growing = self._growing
        assert growing is not None
        n_rows = self._sampled.scores.size
        if self._work is None:  # not kept in files: it is made again for the trees that are left
            self._work = empty_growth(self._sampled.codes, self._n_edges, self.plan.n_leaves)
        trees = max(1, visits // (_VISITS_A_ROW * n_rows * self._n_features))
        for _ in range(min(trees, growing.features.shape[0] - int(growing.size[0]))):
            grow_tree(self._sampled, self._edges, self._n_edges, self.plan, self._work, growing)
        if growing.size[0] < growing.features.shape[0]:
            return False
        copy_forest(growing, self.forest)
        self._forget_growth()
        return True

    # ---------------------------------------------------------------- keeping

    @property
    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """What a file keeps beside the forest: when to fit again, and what is being fitted."""
        arrays: dict[str, npt.NDArray[Any]] = {"next_fit": self.next_fit}
        if self._growing is not None:
            arrays |= named_arrays(growing=self._growing, sampled=self._sampled)
            arrays |= {"edges": self._edges, "n_edges": self._n_edges}
        return arrays

    def restore(self, arrays: dict[str, npt.NDArray[Any]]) -> None:
        """Take these arrays, after checking that they fit each other."""
        self.next_fit = taken(arrays, "next_fit", np.int64, (1,))
        in_range("next_fit", self.next_fit, 0, 2**62)
        self._forget_growth()
        if "growing.size" not in arrays:
            return
        self._growing = refilled(arrays, "growing", self.forest)
        check_forest("growing", self._growing, self._n_features)
        codes = taken(arrays, "sampled.codes", np.uint8, (None, self._n_features))
        columns = [taken(arrays, f"sampled.{name}", np.float64, (len(codes),)) for name in Sampled._fields[1:]]
        self._sampled = Sampled(codes, *columns)
        self._edges = taken(arrays, "edges", np.float64, (self._n_features, None))
        self._n_edges = taken(arrays, "n_edges", np.int64, (self._n_features,))
        in_range("n_edges", self._n_edges, 0, self._edges.shape[1])
        in_range("sampled.codes", codes.max(axis=0, initial=0).astype(np.int64), 0, self._n_edges + 1)


def _has_both(trees: SampledForest) -> bool:
    return min(int(trees.positives.tally[KEPT]), int(trees.negatives.tally[KEPT])) >= 2


def balanced(positives: Floats, negatives: Floats) -> tuple[Floats, Floats]:
    """Weights by class: positives 1 on average, negatives together r times as much as they.

    r = min(n_- / n_+, n_+^(1/3)), n counting rows of the stream: near balance while positives are few, milder later.
    """
    n_positives, n_negatives = positives.sum(), negatives.sum()
    ratio = min(n_negatives / n_positives, max(1.0, n_positives**_BALANCE))
    return positives / positives.mean(), negatives * (ratio * positives.size / n_negatives)


def check_forest(name: str, forest: Forest, n_features: int) -> None:
    """Refuse trees whose nodes lead outside of them, or in a circle."""
    in_range(f"{name}.features", forest.features, -1, max(n_features - 1, -1))
    in_range(f"{name}.size", forest.size, 0, forest.features.shape[0])
    nodes = np.arange(forest.left.shape[1])
    children = forest.left[forest.features >= 0]
    parents = np.broadcast_to(nodes, forest.left.shape)[forest.features >= 0]
    if (children <= parents).any() or (children > nodes.size - 2).any():
        raise ModelFileError(
            f"The array '{name}.left' of the model file must lead from every node to later ones. "
            "Got others: the file is damaged."
        )
