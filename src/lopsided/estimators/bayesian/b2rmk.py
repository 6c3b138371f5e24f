"""B2RMK: a Bayesian ranker over many kernels, from a whole training set."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from lopsided.bayes.batch import HORSESHOE, fitted
from lopsided.bayes.kernel_pool import KernelPool
from lopsided.bayes.online import combined
from lopsided.constraints import Constraint, number, whole
from lopsided.core.arithmetic.compiled import Floats
from lopsided.core.geometry.points import Rows
from lopsided.estimators.base.blas import one_blas_thread
from lopsided.estimators.base.classifier import Classifier
from lopsided.estimators.base.validation import dense_rows
from lopsided.estimators.kernel.parameters import POOL, chosen_pool
from lopsided.estimators.state.arrays import taken

BATCH: dict[str, Constraint] = POOL | {"max_sweeps": whole(1), "tol": number(least=0)}
_LARGEST_ALPHA = 1.5  # beyond it Bessel functions of weights that are nearly 0 overflow


def _is_prior(value: Any) -> bool:
    if not isinstance(value, tuple | list) or len(value) != 2:
        return False
    return all(map(number(above=0).accepts, value)) and value[0] <= _LARGEST_ALPHA


def _floats(prior: Any) -> tuple[float, float]:
    alpha, beta = prior
    return float(alpha), float(beta)


PRIOR = Constraint(_is_prior, f"a pair of numbers above 0, the first at most {_LARGEST_ALPHA}")


class B2RMK(Classifier):
    """Learns a ranking with a weight for every training example and every kernel, by variational Bayes.

    There is nothing to tune: the kernels weigh themselves, and heavy-tailed priors push most weights towards 0. For
    small sets (a few hundred to a few thousand examples) and as the start of `OB2RMK`; it learns from a whole set, so
    it has `fit` only. Features should be scaled, to [-1, 1] for instance: it does not do so itself.

    The scores f of positives and negatives, f = sum_m e_m K_m a + b, pay 2 max(0, 1 - f_i + f_j) for every pair; a, e,
    b and the noise around them have posteriors that are updated in turn, each of which raises the evidence lower bound
    (`elbo_`)::

        f(x) = sum_n <a_n> sum_m <e_m> k_m(x_n, x) + <b>

    Scores are for ranking: their size means little. Cost of a sweep: one Cholesky inverse of N x N and two passes over
    the kernel values, 8 P N^2 bytes. Cost of a score: N (n_features + P).

    Parameters
    ----------
    kernels : list of kernels or {"bayes", "default"}, default="bayes"
        The pool. "bayes" is 13 Gaussians and 5 normalised polynomials; "default" is 13 Gaussians and the
        polynomials (x.z)^1, 2, 3.
    max_sweeps : int >= 1, default=200
        Stop after so many sweeps over all factors.
    tol : float >= 0, default=1e-05
        Stop earlier when no training score moves by more than this share of their range.
    example_prior : pair of floats > 0, default=(0.5, 0.5)
        How sparse the weights of examples are meant to be, (alpha, beta) of a_n ~ N(0, lambda_n),
        lambda_n ~ Gamma(alpha, xi_n), xi_n ~ Gamma(beta, phi). A smaller alpha, up to 1.5, pulls more weights to 0; a
        smaller beta lets those that stay be larger. (0.5, 0.5) is the horseshoe of the paper.
    kernel_prior : pair of floats > 0, default=(0.5, 0.5)
        The same for the weights of kernels.
    threshold : float or {"zero", "f1", "gmean", "rate:SHARE"}, default="zero"
        The score above which `predict` answers with the positive label. "zero" is 0, the published rule. "f1" and
        "gmean" maximise that measure over the scores of the training set, which flatters them, as it does the
        probabilities. "rate:0.01" flags that share of the rows, an alert budget.
    pos_label : label or None, default=None
        The positive label, the one of the rare class. None takes the larger of the two sorted labels. If it is the
        smaller one, scikit-learn's own scorers, which assume the larger, read the score reversed.
    shuffle : bool, default=False
        Whether `fit` shuffles the rows first.
    random_state : int or numpy.random.Generator or None, default=None
        Only used by `shuffle`: learning itself draws nothing.

    Attributes
    ----------
    kernel_weights_ : array of shape (n_kernels,)
        The mean weight <e> of each kernel. `lopsided.report.figures.weights_figure(model)` draws them and <a>.
    support_vectors_ : array of shape (n_samples, n_features)
        The training set: positives, then negatives.
    support_weights_ : array of shape (n_samples,)
        The mean weight <a> of each of them.
    support_signs_ : array of shape (n_samples,)
        Their classes, +1 for the rare one.
    elbo_ : array of shape (n_sweeps_,)
        The evidence lower bound after each sweep.
    n_sweeps_ : int
        How many sweeps were made.
    converged_ : bool
        Whether `tol` was reached before `max_sweeps`.

    Examples
    --------
    >>> from lopsided import B2RMK
    >>> from lopsided.datasets import four_clusters
    >>> from lopsided.metrics import auroc
    >>> train, test = four_clusters(20, 80, random_state=0), four_clusters(200, 800, random_state=1)
    >>> ranker = B2RMK().fit(2 * train.X - 1, train.y)
    >>> round(auroc(test.y, ranker.decision_function(2 * test.X - 1)), 3)
    0.935
    >>> int(abs(ranker.kernel_weights_).argmax())
    4

    References
    ----------
    C. Du, C. Du, G. Long, Q. He, Y. Li, "Online Bayesian Multiple Kernel Bipartite Ranking", UAI 2016, has the model,
    q(a), q(b, e), q(G), q(f), q(theta); the other updates are derived here, as its supplement was not at hand, and
    checked by the bound.
    """

    _constraints: ClassVar[dict[str, Constraint]] = BATCH | {"example_prior": PRIOR, "kernel_prior": PRIOR}

    def __init__(
        self,
        kernels: Any = "bayes",
        max_sweeps: int = 200,
        tol: float = 1e-5,
        example_prior: tuple[float, float] = HORSESHOE,
        kernel_prior: tuple[float, float] = HORSESHOE,
        threshold: float | str = "zero",
        pos_label: Any = None,
        shuffle: bool = False,
        random_state: Any = None,
    ) -> None:
        self.kernels = kernels
        self.max_sweeps = max_sweeps
        self.tol = tol
        self.example_prior = example_prior
        self.kernel_prior = kernel_prior
        self.threshold = threshold
        self.pos_label = pos_label
        self.shuffle = shuffle
        self.random_state = random_state

    def _start(self, n_features: int) -> None:
        self._pool = KernelPool(chosen_pool(self.kernels))
        self._points, self._signs = np.zeros((0, n_features)), np.zeros(0)
        self._a, self._be = np.zeros(0), np.zeros(self._pool.size + 1)
        self._bounds, self._converged = np.zeros(0), np.zeros(1, dtype=np.int64)

    def _learn(self, rows: Rows, signs: Floats, weights: Floats, *, every_score: bool) -> Floats:
        X = dense_rows(rows, self.n_features_in_)
        order = np.concatenate([np.flatnonzero(signs > 0), np.flatnonzero(signs < 0)])
        X, signs, weights = X[order], signs[order], weights[order]
        with one_blas_thread:
            fit, bounds, converged = fitted(
                self._pool.matrices(X, X),
                signs,
                weights,
                priors=(_floats(self.example_prior), _floats(self.kernel_prior)),
                max_sweeps=int(self.max_sweeps),
                tol=float(self.tol),
            )
        self._points, self._signs, self._a, self._be = X, signs, fit.m_a, fit.m_be
        self._bounds, self._converged = np.array(bounds), np.array([int(converged)])
        scores = np.empty(order.size)
        scores[order] = fit.scores
        return scores

    def _score(self, rows: Rows) -> Floats:
        with one_blas_thread:
            return combined(self._pool, dense_rows(rows, self.n_features_in_), self._points, self._a, self._be)

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        parts = (self._points, self._signs, self._a, self._be, self._bounds, self._converged)
        return dict(zip(("points", "signs", "a", "be", "bounds", "converged"), parts, strict=True))

    def _restore(self, arrays: dict[str, npt.NDArray[Any]]) -> None:
        self._points = taken(arrays, "points", np.float64, (None, self.n_features_in_))
        n = self._points.shape[0]
        self._signs = taken(arrays, "signs", np.float64, (n,))
        self._a = taken(arrays, "a", np.float64, (n,))
        self._be = taken(arrays, "be", np.float64, (self._pool.size + 1,))
        self._bounds = taken(arrays, "bounds", np.float64, (None,))
        self._converged = taken(arrays, "converged", np.int64, (1,))

    @property
    def kernel_weights_(self) -> Floats:
        """<e>: how much each kernel counts, of either sign (a copy)."""
        self._check_started()
        return self._be[1:].copy()

    @property
    def intercept_(self) -> float:
        """<b>."""
        self._check_started()
        return float(self._be[0])

    @property
    def n_support_(self) -> int:
        """How many examples there are in the sum: all of the training set."""
        self._check_started()
        return self._a.size

    @property
    def support_vectors_(self) -> Floats:
        """The training set: positives, then negatives (a copy)."""
        self._check_started()
        return self._points.copy()

    @property
    def support_weights_(self) -> Floats:
        """<a>: their weights (a copy)."""
        self._check_started()
        return self._a.copy()

    @property
    def support_signs_(self) -> Floats:
        """+1 for an example of the rare class, -1 for one of the other (a copy)."""
        self._check_started()
        return self._signs.copy()

    @property
    def elbo_(self) -> Floats:
        """The evidence lower bound after each sweep (a copy)."""
        self._check_started()
        return self._bounds.copy()

    @property
    def n_sweeps_(self) -> int:
        """How many sweeps it took."""
        self._check_started()
        return self._bounds.size

    @property
    def converged_(self) -> bool:
        """Whether the scores had settled before `max_sweeps`."""
        self._check_started()
        return bool(self._converged[0])
