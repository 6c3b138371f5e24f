"""One model for each key, for as many keys as there are: stacked in memory, the cold ones on disk."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from lopsided.constraints import Constraint, ParameterError, check_parameters, choice, nothing, number, whole
from lopsided.core.arithmetic.compiled import Floats
from lopsided.core.geometry.points import Rows
from lopsided.core.keyed.table import CLOCK, CODE, FULL, NOT_THERE, USED, codes_by_age, empty_table, find, larger_table, settle
from lopsided.estimators.base import validation
from lopsided.estimators.base.classifier import Classifier
from lopsided.estimators.base.online import OnlineClassifier
from lopsided.estimators.compose.cold_keys import ColdKeys
from lopsided.estimators.compose.keyed_models import KeyedModels, models_for, records_arrays, records_from
from lopsided.estimators.compose.keyed_rows import encoded_rows, one_code, parted, place_of_key
from lopsided.estimators.compose.learner_inside import SpeaksForItsLearner
from lopsided.estimators.compose.scaler import OnlineScaler
from lopsided.estimators.linear.classifiers import OCS
from lopsided.estimators.state.arrays import ModelFileError, in_range, taken

_FIRST_ROOM = 16
_ROWS_AT_A_TIME = 4096  # whose copies stay in the processor's cache
# Entries of KeyedLearner._tally: models begun, keys that were dropped, and steps that diverged.
_BORN, _DROPPED, _DIVERGED = range(3)


class KeyedLearner(SpeaksForItsLearner):
    """TODO"""

    _constraints: ClassVar[dict[str, Constraint]] = {
        "learner": Constraint(lambda value: value is None or isinstance(value, OnlineClassifier), "an online learner"),
        "key": Constraint(
            lambda value: isinstance(value, str | int | np.integer) and not isinstance(value, bool),
            "the name or number of a column",
        ),
        "max_keys": whole(1),
        "prior": choice("global") | nothing(),
        "prior_rows": number(least=0),
        "scaler": Constraint(lambda value: value is None or isinstance(value, OnlineScaler), "an OnlineScaler or None"),
        "spill": Constraint(lambda value: value is None or isinstance(value, str), "None, 'temporary' or a directory"),
    }

    def __init__(
        self,
        learner: Any = None,
        key: Any = 0,
        max_keys: int = 100_000,
        prior: str | None = "global",
        prior_rows: float = 20.0,
        scaler: Any = None,
        spill: str | None = None,
    ) -> None:
        self.learner = learner
        self.key = key
        self.max_keys = max_keys
        self.prior = prior
        self.prior_rows = prior_rows
        self.scaler = scaler
        self.spill = spill

    def _default_learner(self) -> Classifier:
        return OCS(variant=2, loss="logistic", learning_rate=0.003, fit_intercept=True)

    def _check_parameters(self) -> None:
        check_parameters(type(self).__name__, self.get_params(deep=False), self._constraints)
        if isinstance(self.learner, KeyedLearner):
            raise ParameterError("The 'learner' parameter of KeyedLearner must be one without keys. Got a KeyedLearner.")
        self._given_learner()._check_parameters()
        if self.scaler is not None:
            self.scaler._check_parameters()

    # ---------------------------------------------------------------- the door

    def _checked(self, X: Any, y: Any, sample_weight: Any, *, first: bool) -> tuple[Any, npt.NDArray[Any], Floats]:
        X = encoded_rows(self, X, self.key, first=first)
        if self.scaler is not None:
            self.scaler._check_features(X)
        y = validation.checked_labels(self, y, X.shape[0])
        return X, y, validation.checked_weights(sample_weight, X.shape[0])

    def _rows_of(self, X: Any) -> Rows:
        return validation.as_rows(encoded_rows(self, X, self.key, first=False))

    def _learn_first(self, x: Any, y: Any, score: float | None, weight: float) -> Self:
        if not isinstance(x, Mapping):
            return super()._learn_first(x, y, score, weight)
        scores = None if score is None else [score]
        return self.learn_many([x], [y], scores=scores, sample_weight=None if weight == 1.0 else [weight])

    def _take_one(self, x: Any) -> None:
        if isinstance(x, Mapping):
            names = getattr(self, "feature_names_in_", None)
            if names is not None and (name := names[self._key_place]) in x:
                super()._take_one({**x, name: 0.0})
                self._one_x[self._key_place] = one_code(x[name], name)
                return
        elif np.shape(x) == self._one_x.shape and np.asarray(x).dtype.kind in "OUS":
            self._one_x[:] = encoded_rows(self, np.asarray(x)[None], self.key, first=False)[0]
            return
        super()._take_one(x)

    @property
    def _key_place(self) -> int:
        return place_of_key(self, self.key, self.n_features_in_)

    # ---------------------------------------------------------------- learning and scoring

    def _start(self, n_features: int) -> None:
        self._common: Any = clone(self._given_learner())
        self._common.n_features_in_ = n_features - 1
        self._common._begin(self._labels)
        if self.scaler is not None:
            self.scaler_ = clone(self.scaler)
            self.scaler_.n_features_in_ = n_features - 1
            self.scaler_._start(n_features - 1)
        self._share_with_parts()
        self._models: KeyedModels = models_for(self._common, self.prior_rows if self.prior == "global" else None)
        self._cold = None if self.spill is None else ColdKeys(self.spill)
        self._table, self._tally = empty_table(min(_FIRST_ROOM, self.max_keys)), np.zeros(3, dtype=np.int64)
        self._models.make_room(len(self._table.entries))

    def _share_with_parts(self) -> None:
        """One lock, one stream of randomness and one memory of scores for the whole."""
        self._use_lock(self._alone)
        self._common._uniforms = self._uniforms
        self._common._memory = self._memory
        self._common._leave_rows_to_another()

    def _set_labels(self, labels: Any) -> None:
        super()._set_labels(labels)
        if "_common" in self.__dict__:
            self._common._set_labels(labels)

    def _learn(self, rows: Rows, signs: Floats, weights: Floats, *, every_score: bool) -> Floats:
        if every_score and not self._common._scores_every_row:
            self._score_every_row()
        scores = np.empty(signs.size)
        at_a_time = signs.size if rows.starts.size else _ROWS_AT_A_TIME
        for start in range(0, signs.size, at_a_time):
            block = slice(start, start + at_a_time)
            some = rows if rows.starts.size else rows._replace(dense=rows.dense[block])
            self._learn_block(some, signs[block], weights[block], scores[block])
        return scores

    def _learn_block(self, rows: Rows, signs: Floats, weights: Floats, scores: Floats) -> None:
        features, codes = parted(rows, self._key_place)
        if self.scaler is not None:
            features = self.scaler_._scale(features, learn=True)
        n_rows = signs.size
        slots, born = np.empty(n_rows, dtype=np.int64), np.empty(n_rows, dtype=np.int64)
        left = np.empty(n_rows, dtype=np.int64)
        stop = 0
        while stop < n_rows:  # as many rows at a time as can have their keys in memory together
            start, begun, n_born, why = stop, self._table.marks.item(CLOCK), 0, FULL
            while why == FULL:
                may_grow = len(self._table.entries) < self.max_keys
                stop, n_born, why = settle(self._table, codes, stop, begun, may_grow, slots, born, left, n_born)
                if why == FULL:
                    self._make_room(min(2 * len(self._table.entries), self.max_keys))
            if n_born:
                self._exchange(born[:n_born], left[:n_born])
            self._tally[_DIVERGED] += self._models.learn(slots, features, signs, weights, scores, start, stop)

    def _make_room(self, n_slots: int) -> None:
        self._table = larger_table(self._table, n_slots)
        self._models.make_room(n_slots)

    def _exchange(self, slots: npt.NDArray[np.int64], left: npt.NDArray[np.int64]) -> None:
        """Let those who left these slots go, and those who came begin, or go on where they were."""
        gone = left != 0
        if self._cold is None:
            self._tally[_DROPPED] += np.count_nonzero(gone)
        elif gone.any():
            self._cold.put(left[gone], self._models.frozen(slots[gone]))
        known = {} if self._cold is None else self._cold.found(self._table.entries[slots, CODE], take=True)
        back = np.zeros(slots.size, dtype=np.bool_)
        back[list(known)] = True
        self._models.begin(slots[~back])
        self._tally[_BORN] += np.count_nonzero(~back)
        if known:
            self._models.thaw(slots[list(known)].tolist(), list(known.values()))

    def _score(self, rows: Rows) -> Floats:
        features, codes = parted(rows, self._key_place)
        if self.scaler is not None:
            features = self.scaler_._scale(features, learn=False)
        slots = np.empty(codes.size, dtype=np.int64)
        find(self._table, codes, slots)
        fetched: list[bytes] = []
        if self._cold is not None and len(self._cold):
            missing, place = np.unique(codes[slots == NOT_THERE], return_inverse=True)
            known = self._cold.found(missing, take=False)
            number = np.full(missing.size, NOT_THERE)
            number[list(known)] = NOT_THERE - 1 - np.arange(len(known))
            slots[slots == NOT_THERE] = number[place]
            fetched = list(known.values())
        return self._models.score(slots, fetched, features)

    def _score_every_row(self) -> None:
        super()._score_every_row()
        self._common._score_every_row()

    # ---------------------------------------------------------------- looking inside

    @property
    def n_keys_(self) -> int:
        """How many keys have a model, in memory or on disk."""
        self._check_started()
        return self._table.marks.item(USED) + self.n_cold_keys_

    @property
    def n_cold_keys_(self) -> int:
        """How many of them are on disk."""
        self._check_started()
        return 0 if self._cold is None else len(self._cold)

    @property
    def n_dropped_(self) -> int:
        """How many models were dropped for want of room."""
        self._check_started()
        return self._tally.item(_DROPPED)

    @property
    def global_learner_(self) -> Any:
        """The learner of all rows, if there is a prior."""
        self._check_started()
        return self._common if self.prior == "global" else None

    @property
    def n_diverged_(self) -> int:
        """How many steps were left out because they would have made a weight or a score infinite."""
        return self._tally.item(_DIVERGED) + self._common.n_diverged_

    def _cure_for_divergence(self) -> str:
        return self._common._cure_for_divergence()

    # ---------------------------------------------------------------- keeping

    @property
    def nbytes_(self) -> int:
        """What it holds in memory, in bytes: room for keys included, what is on disk not."""
        with self._alone:
            self._check_started()
            own = sum(array.nbytes for array in (*self._table, *self._common._arrays().values()))
            return own + self._models.nbytes + sum(part.nbytes_ for part in self._parts())

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        arrays = {f"global/{name}": array for name, array in self._common._arrays().items()}
        if self.scaler is not None:
            arrays |= {f"scaler/{name}": array for name, array in self.scaler_._arrays().items()}
        slots, codes = codes_by_age(self._table)
        known = {"hot": (codes, self._models.frozen(slots))}
        if self._cold is not None:
            known["cold"] = self._cold.everything()
        for name, (of, records) in known.items():
            arrays |= {f"{name}.codes": of} | {f"{name}.{part}": a for part, a in records_arrays(records).items()}
        return arrays | {"keys.tally": self._tally}

    def _restore(self, arrays: dict[str, npt.NDArray[Any]]) -> None:
        for part, model in (("global/", self._common), ("scaler/", getattr(self, "scaler_", None))):
            if model is not None:
                own = {name.removeprefix(part): array for name, array in arrays.items() if name.startswith(part)}
                model._restore(own)
        self._tally = taken(arrays, "keys.tally", np.int64, (3,))
        in_range("keys.tally", self._tally, 0, 2**62)
        hot, records = _known_keys(arrays, "hot")
        if hot.size > self.max_keys:
            raise ModelFileError(f"The model file must hold at most {self.max_keys} keys. Got {hot.size}: it is damaged.")
        if hot.size > len(self._table.entries):
            room = len(self._table.entries)
            while room < hot.size:
                room = min(2 * room, self.max_keys)
            self._make_room(room)
        nobody, slots = np.empty(hot.size, dtype=np.int64), np.empty(hot.size, dtype=np.int64)
        settle(self._table, hot, 0, 0, False, slots, np.empty_like(slots), nobody, 0)
        self._models.thaw(slots.tolist(), records)
        if self._cold is not None:
            self._cold.put(*_known_keys(arrays, "cold"))

    def _parts(self) -> list[Any]:
        return self._common._parts()

    def _restore_parts(self, parts: list[Any]) -> None:
        self._common._restore_parts(parts)
        self._share_with_parts()

    def _use_lock(self, lock: Any) -> None:
        super()._use_lock(lock)
        if "_common" in self.__dict__:
            self._common._use_lock(lock)

    def __setstate__(self, state: Any) -> None:
        super().__setstate__(state)
        if self._started:
            self._share_with_parts()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        learner = self._given_learner()
        parts = [part for part in (learner, self.scaler) if hasattr(part, "__sklearn_tags__")]
        tags.input_tags.sparse = all(part.__sklearn_tags__().input_tags.sparse for part in parts)
        return tags


def _known_keys(arrays: dict[str, npt.NDArray[Any]], name: str) -> tuple[npt.NDArray[np.int64], list[bytes]]:
    codes = taken(arrays, f"{name}.codes", np.int64, (None,))
    if np.unique(codes).size != codes.size or (codes == 0).any():
        raise ModelFileError(f"The array '{name}.codes' of the model file must tell keys apart. Got others: it is damaged.")
    return codes, records_from(arrays, name, codes.size)
