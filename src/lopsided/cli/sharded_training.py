"""`lopsided learn --engine`: a model that several shards learn, saved as it was at the last merge."""

from __future__ import annotations

from typing import Any

import numpy as np

from lopsided.cli.training import Training
from lopsided.constraints import ParameterError
from lopsided.distributed.running import shards_for
from lopsided.distributed.shards import State
from lopsided.estimators.state.files import Attachment
from lopsided.feeds import Portion

SHARDS = "shards"  # the name of what is attached to a model


def sharded(refused: list[str], engine: str, shards: int, merge_every: int) -> type[Training]:
    """The training of such shards; `refused` are options that were given and need one model that sees every row."""
    for option in refused:
        raise ParameterError(
            f"The option {option} must come without --engine, because it needs one model that sees all rows. Got both."
        )

    class Sharded(_ShardedTraining):
        how = {"engine": engine, "shards": shards, "merge_every": merge_every}  # noqa: RUF012

    return Sharded


class _ShardedTraining(Training):
    """Portions are cut at merge points: model, measures and place in the feed are always those of the last merge."""

    how: dict[str, Any]

    def __init__(self, model: Any, *others: Any, **named: Any) -> None:
        super().__init__(model, *others, **named)
        attached = named["attached"].get(SHARDS)
        state = None if attached is None else _restored(attached)
        self._learner = shards_for(model)(model, state=state, **self.how)
        self._signs: list[Any] = []  # of rows whose scores have not come yet
        self._has_ended = False

    def __exit__(self, *_: object) -> None:
        """End the workers."""
        self._learner.close()

    def step(self, rows: Portion) -> int:
        """Have rows learned; returns how many came."""
        start = 0
        while start < rows.n_rows:
            stop = min(rows.n_rows, start + self._learner.rows_to_merge)
            part = rows.part(start, stop)
            assert self.feed.labels is not None
            self._learner.learn(part.X, part.y, classes=self.feed.labels.classes)
            self._signs.append(part.signs)
            self._take_scores(part)
            start = stop
        return rows.n_rows

    def _take_scores(self, part: Portion | None) -> None:
        """What came with a merge, if there was one: the scores of all rows up to it."""
        scores = self._learner.take_scores()
        if scores.size:
            signs, self._signs = np.concatenate(self._signs), []
            judged = ~np.isnan(signs)
            self._measure(signs[judged] > 0, scores[judged])
            self._learned = part
            self._rows_unsaved += scores.size

    def save(self) -> bool:
        """Write the file as of the last merge; False if there was none."""
        if not (self._has_ended or self._learned is not None):
            return False
        self.model = self._learner.model_
        return super().save()

    def finish(self) -> None:
        """The stream has ended: one more merge."""
        self.model = self._learner.merge()
        self._take_scores(None)
        self._learned, self._has_ended = None, True

    def _attachments(self) -> dict[str, Attachment]:
        return super()._attachments() | {SHARDS: _attachment(self._learner.state)}


def _attachment(state: State) -> Attachment:
    arrays = {str(shard): np.frombuffer(content, np.uint8) for shard, content in enumerate(state.shards)}
    return Attachment({"rows": state.n_rows, "dealt_from": state.dealt_from}, arrays)


def _restored(attached: Attachment) -> State:
    shards = [attached.arrays[str(shard)].tobytes() for shard in range(len(attached.arrays))]
    return State(shards, int(attached.description["rows"]), int(attached.description["dealt_from"]))
