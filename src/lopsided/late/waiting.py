"""What the engine knows besides its model: rules, clock, labels, counts; and all of it for a file."""

from __future__ import annotations

import math
from dataclasses import replace
from threading import RLock
from typing import Any, Self

import numpy as np

from lopsided.constraints import ParameterError, check_parameters, choice
from lopsided.estimators.state.files import Attachment
from lopsided.labels import LabelMap, map_of_classes
from lopsided.late import door
from lopsided.late.any_learner import as_late_learner
from lopsided.late.coming import COMING, ComingLabels
from lopsided.late.delay import Delay, Unlabelled
from lopsided.late.outcomes import Counts
from lopsided.late.rows import Arrays, Floats
from lopsided.late.store import CorrectableStore, MemoryStore, WaitingStore, as_bytes, from_bytes


class Waiting:
    """What the engine knows, and how it is kept."""

    def __init__(
        self,
        model: Any,
        *,
        delay: Delay | str | int | None = None,
        unlabelled: Unlabelled | str | None = None,
        store: WaitingStore | None = None,
        classes: Any = None,
        capacity: int | None = None,
        keep_thresholds: bool = False,
        corrections: str = "ignore",
    ) -> None:
        self.model = model
        self.delay = Delay() if delay is None else Delay.parse(delay)
        self.unlabelled = None if unlabelled is None else Unlabelled.parse(unlabelled)
        self.store = MemoryStore() if store is None else store
        self.capacity = capacity
        self.corrections = corrections
        check_parameters("LateLearner", {"corrections": corrections}, {"corrections": choice("learn", "ignore")})
        if corrections == "learn" and not isinstance(self.store, CorrectableStore):
            raise ParameterError(
                "The store of a LateLearner that learns corrections must have retain and recall. "
                f"Got a {type(self.store).__name__} without."
            )
        self.keep_thresholds = keep_thresholds
        self.thresholds: Floats = np.zeros(0)
        self._learner = as_late_learner(model)
        self._labels = self._labels_at_first(classes)
        self._classes = classes
        self._in_time = self._clock_of_rules()
        self._position = 0  # of the next row in the stream
        self._moment = -math.inf  # of the latest row
        self._threshold = 0.0
        self._counts = Counts()
        self._is_encoded = False
        self._n_features: int | None = None
        self._names: list[str] | None = None  # of the columns of a data frame
        self._coming = ComingLabels()
        self._lock = RLock()

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = RLock()

    def _labels_at_first(self, classes: Any) -> LabelMap | None:
        if self._learner.started_:
            return self._learner.labels_
        if classes is not None:
            return map_of_classes(classes, self._pos_label)
        if self.unlabelled is not None and self.unlabelled.outcome == "negative":
            raise ParameterError(
                "The 'classes' parameter of LateLearner must be the two labels if rows are to be taken as negative and "
                "the model has not begun to learn. Got None instead."
            )
        return None

    def _clock_of_rules(self) -> bool | None:
        """Whether the rules go by time (True) or by rows (False); None if there are none."""
        after = None if self.unlabelled is None else self.unlabelled.after
        clocks = {rule.is_in_time for rule in (self.delay, after) if rule}
        if len(clocks) == 2:
            raise ParameterError(
                "The delay of labels and the rule for rows without a label must both be rows or both durations. "
                f"Got {self.delay} and {self.unlabelled}."
            )
        return clocks.pop() if clocks else None

    @property
    def _pos_label(self) -> Any:
        return getattr(self.model, "pos_label", None)

    @property
    def labels(self) -> LabelMap | None:
        """The two labels, and which one is rare; None while nobody has said."""
        return self._known_labels()

    @property
    def counts(self) -> Counts:
        """Rows and labels so far."""
        with self._lock:
            coming = self._coming
            return replace(self._counts, waiting=len(self.store), expected=coming.n_expected, parked=coming.n_parked)

    @property
    def position(self) -> int:
        """How many rows have come: the number, and without keys the key, of the next one."""
        return self._position

    def _features(self, X: Any) -> Any:
        known = self._n_features
        if known is None and self._learner.started_:
            known = getattr(self.model, "n_features_in_", None)
        rows = door.features(self._learner, X, known, self._names)
        self._names = self._names or door.names_of(X)
        return rows

    def _known_labels(self) -> LabelMap | None:
        return self._learner.labels_ if self._learner.started_ else self._labels

    @property
    def _skips(self) -> bool:
        """Whether rows without a label do not wait at all."""
        return self.unlabelled is not None and self.unlabelled.outcome == "skip"

    @property
    def _patience(self) -> float:
        """How long a row without a label waits before its rule is applied."""
        after = None if self.unlabelled is None else self.unlabelled.after
        return math.inf if after is None else after.amount

    def _goes_by_time(self, times: Any) -> bool:
        """Whether moments are seconds: as the rules say, or if there are none, if there are times."""
        return times is not None if self._in_time is None else self._in_time

    def _moments(self, n_rows: int, times: Any) -> Floats:
        if not self._goes_by_time(times):
            return self._position + np.arange(n_rows, dtype=np.float64)
        if times is None:
            raise ParameterError("A delay or a rule in time needs the times of the rows. Got none.")
        return door.moments_of(times, n_rows, self._moment)

    # ---------------------------------------------------------------- keeping

    def state(self) -> Attachment:
        """All but the model, for the file of the model: `restore` goes on as if never stopped."""
        with self._lock:
            kept, arrays = self.store.state()
            arrays |= self._coming.arrays(as_bytes)
            labels = self._known_labels()
            return Attachment(
                {
                    "store": kept,
                    "counts": self._counts.as_dict(),
                    "position": self._position,
                    "in_time": self._in_time,
                    "moment": self._moment if math.isfinite(self._moment) else None,
                    "threshold": self._threshold,
                    "features": self._n_features,
                    "encoded": self._is_encoded,
                    "names": self._names,
                    "labels": None if labels is None else _described(labels),
                },
                arrays,
            )

    def restore(self, state: Attachment | tuple[dict[str, Any], Arrays]) -> Self:
        """Go on where `state` was asked for; rows that wait keep the moment at which they are due."""
        description, arrays = state
        with self._lock:
            in_time = description["in_time"]
            if in_time is not None and self._in_time is not None and in_time != self._in_time:
                kinds = ("durations", "numbers of rows")
                raise ParameterError(
                    f"The delay of labels must be {kinds[not in_time]}, by which rows wait already. "
                    f"Got {kinds[in_time]}."
                )
            self._coming = ComingLabels.restored(arrays, from_bytes)
            self.store.restore(description["store"], {n: a for n, a in arrays.items() if not n.startswith(COMING)})
            self._in_time = in_time if self._in_time is None else self._in_time
            self._counts = Counts(**description["counts"])
            self._position, self._threshold = int(description["position"]), float(description["threshold"])
            self._moment = -math.inf if description["moment"] is None else float(description["moment"])
            self._n_features, self._is_encoded = description["features"], bool(description["encoded"])
            self._names = description.get("names")
            if description["labels"] is not None and not self._learner.started_:
                self._labels = _labels_of(description["labels"])
        return self


def _described(labels: LabelMap) -> dict[str, Any]:
    return {"classes": labels.classes.tolist(), "positive": labels.positive, "settled": labels.settled}


def _labels_of(description: dict[str, Any]) -> LabelMap:
    return LabelMap(np.array(description["classes"]), description["positive"], settled=bool(description["settled"]))
