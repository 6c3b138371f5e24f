"""Tables with keys and a history of one's own choice: other half-lives, more slots."""

from __future__ import annotations

from typing import Any

from lopsided.constraints import ParameterError
from lopsided.encoding import Schema
from lopsided.estimators.compose.first_rows import first_schema
from lopsided.estimators.compose.history import KeyedHistory
from lopsided.estimators.compose.table_pipeline import TablePipeline


class HistoryPipeline(TablePipeline):
    """A `TablePipeline` with a `KeyedHistory` of your own choice: other half-lives, more slots.

    Where the defaults will do, a `TablePipeline` with a schema that names keys is the same. The columns of the keys
    need not be columns that the schema learns from; the time must be in the schema.

    Parameters
    ----------
    schema : Schema, default=None
        What the columns are, such as `lopsided.encoding.infer_schema` finds in the first rows. None finds it in the
        first rows that come; keys are then not learned from but by their history.
    history : KeyedHistory, default=None
        Which columns are keys, time and amount, by their names. It must be given.
    scaler : OnlineScaler or "none" or None, default=None
        Scales numbers and features of the history. None is OnlineScaler(), "none" leaves them as they are.
    learner : learner or None, default=None
        Any learner of this package. None is RareEventClassifier(). Its threshold, pos_label, shuffle and random_state
        hold for the pipeline.

    Attributes
    ----------
    history_ : KeyedHistory
        The history as it stands.

    Examples
    --------
    >>> from lopsided import HistoryPipeline, KeyedHistory, KOIL
    >>> from lopsided.encoding import infer_schema
    >>> rows = {"card": ["a", "b", "a", "b"], "when": [0, 60, 120, 180], "amount": [5.0, 9.0, 6.0, 80.0]}
    >>> history = KeyedHistory(keys=["card"], time="when", value="amount", half_lives=["1d"])
    >>> model = HistoryPipeline(infer_schema(rows, ignore=["card"]), history, learner=KOIL(random_state=0))
    >>> scores = model.progressive_scores(rows, [0, 0, 0, 1])
    >>> model.history_.n_keys_, model.learner_.n_features_in_
    (2, 14)
    """

    def __init__(
        self, schema: Schema | None = None, history: Any = None, scaler: Any = None, learner: Any = None
    ) -> None:
        super().__init__(schema, scaler, learner)
        self.history = history

    def _check_parameters(self) -> None:
        if not isinstance(self.history, KeyedHistory):
            raise ParameterError(
                "The 'history' parameter of HistoryPipeline must be a KeyedHistory, which names keys and time. "
                f"Got {self.history!r} instead."
            )
        self.history._check_parameters()
        super()._check_parameters()

    def _given_history(self) -> KeyedHistory | None:
        return self.history if isinstance(self.history, KeyedHistory) else None

    def _find_schema(self, X: Any) -> None:
        keys = [str(key) for key in self.history.keys]
        keys += [key for key in (self._model_key(),) if key is not None and key not in keys]
        self._found = first_schema(X, time=str(self.history.time), ignore=keys)
