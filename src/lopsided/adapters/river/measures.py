"""Our areas under curves as River metrics."""

from __future__ import annotations

from typing import Any

from river import metrics

from lopsided.metrics import streaming


class _Area(metrics.base.BinaryMetric):
    """Keeps a streaming area up to date with what River says: a label, and a probability or a dictionary of them."""

    pos_val: Any
    _area: Any

    @property
    def requires_labels(self) -> bool:
        """Probabilities are ranked, not labels."""
        return False

    @property
    def works_with_weights(self) -> bool:
        """Every example counts once."""
        return False

    def update(self, y_true: Any, y_pred: Any, w: float = 1.0) -> None:
        """One more example."""
        self._area.update(y_true == self.pos_val, self._score(y_pred, w))

    def revert(self, y_true: Any, y_pred: Any, w: float = 1.0) -> None:
        """Take back one example."""
        self._area.revert(y_true == self.pos_val, self._score(y_pred, w))

    def _score(self, y_pred: Any, w: float) -> float:
        if w != 1.0:
            raise ValueError(f"The weight w of an example of {type(self).__name__} must be 1. Got {w!r}.")
        return y_pred.get(self.pos_val, 0.0) if isinstance(y_pred, dict) else y_pred

    def get(self) -> float:
        """The area so far; nan while a class has not been seen."""
        return float(self._area.value)

    @property
    def error_bound(self) -> float:
        """The most by which it can differ from the exact area of the same scores."""
        return float(self._area.error_bound)


class AUROC(_Area):
    """`lopsided.metrics.AUROC` as a River metric: the share of positive-negative pairs that are ranked rightly.

    Use it instead of `river.metrics.ROCAUC`, which has 10 thresholds by default: this one is exact for the first 256
    scores, then has bins around their median, and `error_bound` says what they cost. Cost of an update: O(log bins).

    Parameters
    ----------
    fade : float > 0 and <= 1, default=1.0
        Weight of the past at each new example. 1 keeps everything, and is needed to revert, as `utils.Rolling` does.
    per_class : bool, default=False
        Whether only the class that arrives fades, which keeps rare positives.
    pos_val : label, default=True
        The positive label.

    Examples
    --------
    >>> from river import utils
    >>> metric = utils.Rolling(AUROC, window_size=3)
    >>> for label, chance in [(True, 0.1), (True, 0.8), (False, 0.35), (True, 0.4)]:
    ...     metric.update(label, {True: chance, False: 1.0 - chance})
    >>> metric.get()
    1.0
    """

    def __init__(self, fade: float = 1.0, per_class: bool = False, pos_val: Any = True) -> None:
        self.fade = fade
        self.per_class = per_class
        self.pos_val = pos_val
        self._area = streaming.AUROC(fade=fade, per_class=per_class)


class AUPRC(_Area):
    """`lopsided.metrics.AUPRC` as a River metric: the area under the precision-recall curve.

    It looks at the top of the ranking, as somebody does who can check only some of the alerts. Cost of an update:
    O(log bins); of `get`: O(bins).

    Parameters
    ----------
    fade : float > 0 and <= 1, default=1.0
        Weight of the past at each new example. 1 keeps everything, and is needed to revert, as `utils.Rolling` does.
    interpolation : {"trapezoid", "step"}, default="step"
        "step" is average precision, which never promises more than a threshold can give; "trapezoid" joins the points
        of the curve by straight lines.
    pos_val : label, default=True
        The positive label.

    Examples
    --------
    >>> metric = AUPRC()
    >>> for label, chance in [(False, 0.1), (False, 0.4), (True, 0.35), (True, 0.8)]:
    ...     metric.update(label, chance)
    >>> metric
    AUPRC: 83.33%
    """

    def __init__(self, fade: float = 1.0, interpolation: str = "step", pos_val: Any = True) -> None:
        self.fade = fade
        self.interpolation = interpolation
        self.pos_val = pos_val
        self._area = streaming.AUPRC(fade=fade, interpolation=interpolation)


class WindowedAUROC(_Area):
    """`lopsided.metrics.WindowedAUROC` as a River metric: the exact area of the last examples.

    Faster than `utils.Rolling` around a metric. Cost of an update: two binary searches and a move of memory. It cannot
    be reverted.

    Parameters
    ----------
    window : int >= 1, default=1000
        How many of the latest examples count.
    pos_val : label, default=True
        The positive label.

    Examples
    --------
    >>> metric = WindowedAUROC(3)
    >>> for label, chance in [(True, 0.1), (True, 0.8), (False, 0.35), (True, 0.4)]:
    ...     metric.update(label, chance)
    >>> metric.get()
    1.0
    """

    def __init__(self, window: int = 1000, pos_val: Any = True) -> None:
        self.window = window
        self.pos_val = pos_val
        self._area = streaming.WindowedAUROC(window)

    def revert(self, y_true: Any, y_pred: Any, w: float = 1.0) -> None:
        """Not possible: what has left the window is not known any more."""
        raise NotImplementedError("WindowedAUROC cannot take examples back. Use AUROC, which can.")
