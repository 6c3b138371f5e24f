"""Running scales of features, for streams in which nobody has seen the future."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import NotFittedError

from lopsided.constraints import Constraint, check_parameters, choice, flag
from lopsided.core.arithmetic.compiled import Floats, bound
from lopsided.core.geometry.points import Rows
from lopsided.core.geometry.scaling import (
    MINMAX,
    STANDARD,
    Scales,
    add_scales,
    empty_scales,
    scale_rows,
    take_out_scales,
)
from lopsided.estimators.base import validation
from lopsided.estimators.base.locking import Locked
from lopsided.estimators.base.merging import MergeError, check_parameters_agree, in_fixed_order, refuse_unless_equal
from lopsided.estimators.state.arrays import in_range, named_arrays, refilled

_KINDS = {"standard": STANDARD, "minmax": MINMAX}


class OnlineScaler(Locked, TransformerMixin, BaseEstimator):
    """Brings features to a common scale by statistics that grow with the stream.

    Use it in front of a kernel or linear learner, in a `StreamPipeline`. After n rows `transform` equals scikit-learn's
    StandardScaler (or MinMaxScaler) fitted on them. A feature that has not varied yet is 0: it has no scale. In a
    pipeline every row is scaled by what was known before it.

    Cost of one row: O(n_features), or O(non-zeros) for CSR. Memory: 40 bytes a feature.

    Parameters
    ----------
    kind : {"standard", "minmax"}, default="standard"
        "standard" is (x - mean) / deviation, "minmax" is (x - lowest) / (highest - lowest).
    center : bool, default=True
        Whether "standard" subtracts the mean. CSR input needs False, which keeps zeros zero.

    Examples
    --------
    >>> from lopsided import OnlineScaler
    >>> scaler = OnlineScaler().partial_fit([[1.0, 5.0], [3.0, 5.0]])
    >>> scaler.transform([[4.0, 7.0]])
    array([[2., 0.]])
    """

    _loan: Scales | None = None  # what another scaler has noted: see `_lent`
    _constraints: ClassVar[dict[str, Constraint]] = {"kind": choice(*_KINDS), "center": flag()}

    def __init__(self, kind: str = "standard", center: bool = True) -> None:
        self.kind = kind
        self.center = center

    def fit(self, X: Any, y: Any = None) -> Self:
        """Forget, then note all rows."""
        self._check_parameters()
        with validation.shape_unchanged_on_error(self):
            X = validation.checked_features(self, X, first=True)
            self._check_features(X)
        with self._alone:
            self._start(X.shape[1])
            self._scale(validation.as_rows(X), np.ones(X.shape[0]))
        return self

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Note more rows."""
        if not self._started:
            return self.fit(X)
        X = validation.checked_features(self, X, first=False)
        self._check_features(X)
        with self._alone:
            self._scale(validation.as_rows(X), np.ones(X.shape[0]))
        return self

    def transform(self, X: Any) -> Any:
        """The rows on the scale known so far (a copy)."""
        self._check_started()
        X = validation.checked_features(self, X, first=False)
        self._check_features(X)
        with self._alone:
            rows = self._scale(validation.as_rows(X), None)
        if not sp.issparse(X):
            return rows.dense
        result = X.copy()
        result.data = rows.values
        return result

    def empty_like(self) -> Self:
        """A scaler that has noted nothing, with the same parameters and features."""
        with self._alone:
            empty = copy.deepcopy(self)
        if empty._started:
            empty._start(empty.n_features_in_)
            empty._loan = None
        return empty

    def merged_with(self, others: Iterable[Self], budget: Any = None) -> Self:
        """A new scaler that has noted the rows of this one and of others; all of them stay as they are."""
        if budget is not None:
            raise MergeError(f"The 'budget' parameter of merge must be None for an OnlineScaler. Got {budget!r}.")
        scalers = [copy.deepcopy(scaler) for scaler in (self, *others)]
        check_parameters_agree(scalers)
        begun = [scaler for scaler in scalers if scaler._started]
        for scaler in begun[1:]:
            refuse_unless_equal("OnlineScaler", "number of features", begun[0].n_features_in_, scaler.n_features_in_)
        used = in_fixed_order([scaler for scaler in begun if scaler.n_seen_]) or begun[:1] or scalers[:1]
        if len(used) > 1:
            for scaler in used:
                scaler._give_back()
        for scaler in used[1:]:
            add_scales(used[0]._scales, scaler._scales)
        return used[0]

    def _lent(self) -> Self:
        """A scaler that begins with the scale of this one, and gives it back when both are merged.

        Else the first rows of every part would have no scale, or a wild one, and its learner would suffer from that.
        """
        lent = copy.deepcopy(self)
        if lent._started and lent.n_seen_:
            lent._loan = copy.deepcopy(lent._scales) if self._loan is None else self._loan
        return lent

    def _give_back(self) -> None:
        if self._loan is not None:
            take_out_scales(self._scales, self._loan)
            self._loan = None

    @property
    def n_seen_(self) -> int:
        """How many rows have been noted."""
        return int(self._scales.seen[0]) if self._started else 0

    def _comes_first(self) -> bool:
        return True

    def to_bytes(self) -> bytes:
        """The content of the file that `save` writes."""
        from lopsided.estimators.state.files import to_bytes

        return to_bytes(self)

    def save(self, path: str | Path) -> None:
        """Write the scaler into one file; `lopsided.load` reads it."""
        from lopsided.estimators.state.files import save_model

        save_model(self, path)

    def _start(self, n_features: int) -> None:
        self._scales = empty_scales(n_features)

    def _scale(self, rows: Rows, turns: Floats | None) -> Rows:
        """Rows scaled one after the other, each by what was known before it; noted where its turn is a number."""
        turns = np.full(validation.n_rows_of(rows), np.nan) if turns is None else turns
        result = rows._replace(dense=np.empty_like(rows.dense), values=np.empty_like(rows.values))
        scale_rows(self._scales, _KINDS[self.kind], bool(self.center), rows, turns, result)
        return result

    @property
    def means_(self) -> npt.NDArray[np.float64]:
        """The mean of every feature so far, zeros of sparse rows included (a copy)."""
        self._check_started()
        return self._scales.means * (self._scales.noted / max(int(self._scales.seen[0]), 1))

    def affine(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Middle and factor of every feature: `transform` is (x - middle) factor, on the scale known so far."""
        self._check_started()
        scales, seen = self._scales, max(int(self._scales.seen[0]), 1)
        if self.kind == "minmax":
            middle, spread = scales.lowest.copy(), scales.highest - scales.lowest
        else:
            zeros = seen - scales.noted
            squares = scales.deviations + scales.means**2 * (scales.noted * (zeros / seen))
            spread = np.sqrt(squares / seen)
            middle = scales.means.copy() if self.center else np.zeros(spread.size)
        return middle, np.divide(1.0, spread, out=np.zeros(spread.size), where=spread > 0.0)

    def unscaled(self, rows: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """What `transform` would have made these rows of, on the scale known so far; NaN where nothing has varied."""
        middle, factor = self.affine()
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(factor > 0.0, rows / factor + middle, np.nan)

    def _bound(self, rows: Rows, result: Rows, *, learn: bool) -> Callable[[], None]:
        """`_scale` for the same single row again and again, into the same result."""
        turn = np.full(1, 1.0 if learn else np.nan)
        return bound(scale_rows, self._scales, _KINDS[self.kind], bool(self.center), rows, turn, result)

    def _check_features(self, X: Any) -> None:
        if sp.issparse(X) and (self.kind == "minmax" or self.center):
            raise ValueError(
                "OnlineScaler must not move the zeros of sparse input, so it needs kind='standard' and center=False. "
                f"Got kind={self.kind!r} and center={self.center!r}."
            )

    def _check_parameters(self) -> None:
        check_parameters(type(self).__name__, self.get_params(deep=False), self._constraints)

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        return named_arrays(scales=self._scales) | ({} if self._loan is None else named_arrays(loan=self._loan))

    def _restore(self, arrays: dict[str, npt.NDArray[Any]]) -> None:
        self._scales = refilled(arrays, "scales", empty_scales(self.n_features_in_))
        in_range("scales.seen", self._scales.seen, 0, 2**62)
        in_range("scales.noted", self._scales.noted, 0, self._scales.seen[0])
        if "loan.seen" in arrays:
            self._loan = refilled(arrays, "loan", empty_scales(self.n_features_in_))
            in_range("loan.seen", self._loan.seen, 0, self._scales.seen[0])
            in_range("loan.noted", self._loan.noted, 0, self._scales.noted)

    @property
    def _started(self) -> bool:
        return "_scales" in self.__dict__

    def _check_started(self) -> None:
        if not self._started:
            raise NotFittedError("This OnlineScaler instance is not fitted yet. Call 'fit' or 'partial_fit' first.")

    def __sklearn_is_fitted__(self) -> bool:
        return self._started

    def __setstate__(self, state: Any) -> None:
        super().__setstate__(state)
        validation.make_writable(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not self.center and self.kind == "standard"
        return tags
