"""One model for each key, for as many keys as there are: stacked in memory, the cold ones on disk."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import clone

from lopsided.constraints import Constraint, ParameterError, check_parameters, choice, nothing, number, whole
from lopsided.core.arithmetic.compiled import Floats, Integers
from lopsided.core.geometry.points import Rows
from lopsided.core.keyed.table import NOT_THERE
from lopsided.encoding import EncodedRows
from lopsided.estimators.base import validation
from lopsided.estimators.base.classifier import Classifier
from lopsided.estimators.base.online import OnlineClassifier
from lopsided.estimators.compose.key_room import DIVERGED, DROPPED, KeyRoom
from lopsided.estimators.compose.keyed_models import OneRow
from lopsided.estimators.compose.keyed_rows import bound_part, encoded_rows, one_code, parted, place_of_key
from lopsided.estimators.compose.learner_inside import SpeaksForItsLearner
from lopsided.estimators.compose.merging_keys import MergesKeys
from lopsided.estimators.compose.models_for import models_for
from lopsided.estimators.compose.scaler import OnlineScaler
from lopsided.estimators.linear.classifiers import OCS

_ROWS_AT_A_TIME = 4096  # whose copies stay in the processor's cache


class KeyedLearner(MergesKeys, SpeaksForItsLearner):
    """Keeps a model for each key, such as a card, a shop or a machine, for as many keys as there are.

    Use it where rows of different keys follow different rules, and a model of all rows would average them. `key` names
    the column that says whose a row is; it is a word or a number, and not learned from. All other columns are numbers.

    `prior` says how a key with few rows is helped. With prior="global" a learner of all rows learns too. For the
    linear classifiers `OnlinePerceptron`, `OCS` and `OFO` the weights v of a key are then a correction of its
    weights w. After n rows of the key::

        f(x) = w.x + n / (n + prior_rows) v.x

    so a new key is answered as all rows are. w learns as if there were no keys. v makes the step of the same rule at
    f(x): the counts that the rule needs are those of all rows, the step size falls with the rows of the key. For any
    other learner the answers are mixed: n / (n + prior_rows) of the score of the key's own learner, the rest of the
    score of the learner of all rows. With prior=None each key has a learner that knows only its own rows: every score
    is, bit for bit, that of a separate learner which was given these rows alone. A new key is then answered as by a
    learner that has not learned anything.

    The linear classifiers named above live in one array, a row of 8 (n_features + 7) bytes for each key, and one
    compiled call learns a batch of mixed keys; with what finds a key, 60 bytes more at most. `OPAUC` without `rank`,
    `OMCSL`, and `FOGD` with a seed are stacked likewise, array by array: 16 n_features^2, 8 n_costs (n_features + 9)
    and 8 n_components bytes for each key, and a little. Any other learner is an object for each key, of the size that
    it has anyway; a batch is learned key by key.

    At most `max_keys` models are in memory. When there is no room the key that was not seen for longest leaves: it is
    dropped (`n_dropped_` counts), or with `spill` written to a file, from which it comes back as it was, bit for bit,
    with its next row. The file is working memory: it goes with the learner. `save` and `pickle` keep all keys, also
    those on disk. Scores, probabilities and the threshold are of all keys together. Keys are known by codes of 53
    bits: among a million, two share a model with a probability of 1 in 18,000.

    Cost of one row in a batch, for a linear classifier: one to two times that of the learner without keys, by how many
    keys there are and whether there is a prior. A key that comes back from disk costs some 10 microseconds. When keys
    have to leave, all in memory are sorted by age, once in as many rows as there are keys or more.

    Parameters
    ----------
    learner : online learner or None, default=None
        What each key gets. None is OCS(variant=2, loss="logistic", learning_rate=0.003, fit_intercept=True). Its
        threshold, pos_label, shuffle and random_state hold for the whole.
    key : int or str, default=0
        The column of the key: its number in an array, or its name in a data frame, an arrow table, a mapping of
        columns, or a mapping for a single row. 7, 7.0 and "7" are one key; a missing one is a key of its own.
    max_keys : int >= 1, default=100000
        How many models are in memory at most. Room is made as keys come.
    prior : "global" or None, default="global"
        Whether keys lean on a learner of all rows.
    prior_rows : float >= 0, default=20.0
        After so many rows of a key its own part counts half. 0 counts it in full from its first row on.
    scaler : OnlineScaler or None, default=None
        Scales the features of all rows alike before they are learned. None leaves them as they are.
    spill : str or None, default=None
        A directory for the keys that leave memory, which is made if it is not there, or "temporary" for the system's
        own. None drops them.

    Attributes
    ----------
    n_keys_, n_cold_keys_, n_dropped_ : int
        Keys with a model; how many of them are on disk; models that were dropped for want of room.
    global_learner_ : learner or None
        The learner of all rows; None without a prior.

    Examples
    --------
    In half of the shops a high price is unusual, in the others a low one.

    >>> import numpy as np
    >>> from lopsided import OCS, KeyedLearner
    >>> from lopsided.metrics import auroc
    >>> rng = np.random.default_rng(0)
    >>> shop, price = rng.integers(0, 50, 5_000), rng.standard_normal(5_000)
    >>> y = (np.where(shop % 2, price, -price) > 1.5).astype(int)
    >>> X = np.column_stack([shop, price])
    >>> plain = OCS(variant=2, loss="logistic")
    >>> round(auroc(y, plain.progressive_scores(X, y)), 2)
    0.52
    >>> learner = KeyedLearner(OCS(variant=2, loss="logistic"), key=0)
    >>> round(auroc(y, learner.progressive_scores(X, y)), 2)
    0.79
    >>> learner.n_keys_
    50
    """

    _takes_any_scale = False
    _shape: ClassVar[tuple[str, ...]] = (*OnlineClassifier._shape, "_key_at")
    _key_at: int | None = None  # the number of the key's column, once it is known
    _bound_part: Any
    _bound_learn: Any
    _bound_score: Any
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
            raise ParameterError(
                "The 'learner' parameter of KeyedLearner must be one without keys. Got a KeyedLearner."
            )
        self._given_learner()._check_parameters()
        if self.scaler is not None:
            self.scaler._check_parameters()

    # ---------------------------------------------------------------- the door

    def _checked(self, X: Any, y: Any, sample_weight: Any, *, first: bool) -> tuple[Any, npt.NDArray[Any], Floats]:
        if first:
            self._key_at = None
        X = encoded_rows(self, X, self.key, first=first)
        if self.scaler is not None:
            self.scaler._check_features(X)
        y = validation.checked_labels(self, y, X.shape[0])
        return X, y, validation.checked_weights(sample_weight, X.shape[0])

    def _rows_of(self, X: Any) -> Rows:
        return validation.as_rows(encoded_rows(self, X, self.key, first=False))

    def encoded(self, X: Any) -> Any:
        """Rows as numbers, the key among them as a code: `EncodedRows`, which this class takes as they are, or CSR."""
        with self._alone:
            self._check_started()
            rows = encoded_rows(self, X, self.key, first=False)
            return rows if sp.issparse(rows) else np.asarray(rows).view(EncodedRows)

    def key_codes(self, X: Any) -> Integers:
        """The code of each row's key, a whole number from 1 to 2^53: the same in every process and on every machine."""
        with self._alone:
            self._check_started()
            return parted(self._rows_of(X), self._key_place)[1]

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
        if self._key_at is None:
            self._key_at = place_of_key(self, self.key, self.n_features_in_)
        return self._key_at

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
        self._room = self._empty_room()

    def _empty_room(self) -> KeyRoom:
        models = models_for(self._common, self.prior_rows if self.prior == "global" else None)
        return KeyRoom(models, int(self.max_keys), self.spill)

    def _share_with_parts(self) -> None:
        """One lock, one stream of randomness and one memory of scores for the whole."""
        self._bound_table = None
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
        if rows.starts.size or signs.size <= _ROWS_AT_A_TIME:
            self._learn_block(rows, signs, weights, scores)
            return scores
        for start in range(0, signs.size, _ROWS_AT_A_TIME):
            block = slice(start, start + _ROWS_AT_A_TIME)
            self._learn_block(rows._replace(dense=rows.dense[block]), signs[block], weights[block], scores[block])
        return scores

    def _learn_block(self, rows: Rows, signs: Floats, weights: Floats, scores: Floats) -> None:
        features, codes = parted(rows, self._key_place)
        if self.scaler is not None:
            features = self.scaler_._scale(features, signs)
        self._room.learn(codes, features, signs, weights, scores)

    def _score(self, rows: Rows) -> Floats:
        features, codes = parted(rows, self._key_place)
        if self.scaler is not None:
            features = self.scaler_._scale(features, None)
        return self._room.score(codes, features)

    # One row of a key that is in memory: the same compiled loops, bound to the arrays that they are called with.

    def _learn_one(self, sign: float, weight: float = 1.0) -> float:
        if self._can_be_bound and self._bound_part():
            self._one_sign[0], self._one_cost[0] = sign, weight
            diverged = self._bound_learn()
            if diverged != NOT_THERE:
                self._room.tally[DIVERGED] += diverged
                return self._one_score.item()
        return super()._learn_one(sign, weight)

    def _score_one(self) -> float:
        if self._can_be_bound and self._bound_part() and (self._bound_score() or not self._room.n_cold):
            return self._one_score.item()
        return super()._score_one()

    @property
    def _can_be_bound(self) -> bool:
        """Whether there are bound calls for one row; now they are of the arrays that are there."""
        if self.__dict__.get("_bound_table") is not self._room.table:
            self._bind()
        return self._bound_part is not None

    def _bind(self) -> None:
        self._bound_table, self._bound_part = self._room.table, None
        features = validation.as_rows(np.zeros((1, self.n_features_in_ - 1)))
        one = OneRow(np.zeros(1, dtype=np.int64), features, self._one_sign, self._one_cost, self._one_score)
        calls = None if self.scaler is not None else self._room.models.bound_to_one(self._room.table, one)
        if calls is not None:
            self._bound_learn, self._bound_score = calls
            self._bound_part = bound_part(self._one_row.dense, self._key_place, features.dense, one.codes)

    def _score_every_row(self) -> None:
        super()._score_every_row()
        self._common._score_every_row()

    # ---------------------------------------------------------------- looking inside

    @property
    def n_keys_(self) -> int:
        """How many keys have a model, in memory or on disk."""
        self._check_started()
        return self._room.n_hot + self._room.n_cold

    @property
    def n_cold_keys_(self) -> int:
        """How many of them are on disk."""
        self._check_started()
        return self._room.n_cold

    @property
    def n_dropped_(self) -> int:
        """How many models were dropped for want of room."""
        self._check_started()
        return self._room.tally.item(DROPPED)

    @property
    def global_learner_(self) -> Any:
        """The learner of all rows, if there is a prior."""
        self._check_started()
        return self._common if self.prior == "global" else None

    @property
    def n_diverged_(self) -> int:
        """How many steps were left out because they would have made a weight or a score infinite."""
        return self._room.tally.item(DIVERGED) + self._common.n_diverged_

    def _cure_for_divergence(self) -> str:
        return self._common._cure_for_divergence()

    # ---------------------------------------------------------------- keeping

    @property
    def nbytes_(self) -> int:
        """What it holds in memory, in bytes: room for keys included, what is on disk not."""
        with self._alone:
            self._check_started()
            own = sum(array.nbytes for array in self._common._arrays().values())
            return own + self._room.nbytes + sum(part.nbytes_ for part in self._parts())

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        arrays = {f"global/{name}": array for name, array in self._common._arrays().items()}
        if self.scaler is not None:
            arrays |= {f"scaler/{name}": array for name, array in self.scaler_._arrays().items()}
        return arrays | self._room.arrays()

    def _restore(self, arrays: dict[str, npt.NDArray[Any]]) -> None:
        for part, model in (("global/", self._common), ("scaler/", getattr(self, "scaler_", None))):
            if model is not None:
                own = {name.removeprefix(part): array for name, array in arrays.items() if name.startswith(part)}
                model._restore(own)
        self._bound_table = None
        self._room.restore(arrays)

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
