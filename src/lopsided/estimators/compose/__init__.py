"""What is made of learners: scalers in front of them, pipelines for tables and sparse files, pools."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lopsided.estimators import trial_parts
from lopsided.estimators.entry import Entry

if TYPE_CHECKING:
    from lopsided.estimators.compose.expert_pool import ExpertPool as ExpertPool
    from lopsided.estimators.compose.file_pipeline import SparsePipeline as SparsePipeline
    from lopsided.estimators.compose.history import KeyedHistory as KeyedHistory
    from lopsided.estimators.compose.history_pipeline import HistoryPipeline as HistoryPipeline
    from lopsided.estimators.compose.keyed_learner import KeyedLearner as KeyedLearner
    from lopsided.estimators.compose.pipeline import StreamPipeline as StreamPipeline
    from lopsided.estimators.compose.scaler import OnlineScaler as OnlineScaler
    from lopsided.estimators.compose.table_pipeline import TablePipeline as TablePipeline


def _takes_csr(estimator: Any) -> bool:
    return bool(estimator.__sklearn_tags__().input_tags.sparse)


def _as_its_learner(ability: str) -> Callable[[Any], bool]:
    """A pipeline can what its learner can."""

    def claim(pipeline: Any) -> bool:
        from lopsided.estimators.registry import can

        return can(pipeline.final_learner, ability)

    return claim


def _of_its_learner(ability: str) -> Callable[[Any], bool]:
    """A learner of keys can what the learner of each key can."""

    def claim(keyed: Any) -> bool:
        from lopsided.estimators.registry import can

        return can(keyed._given_learner(), ability)

    return claim


def _as_all_members(ability: str) -> Callable[[Any], bool]:
    """A pool can what all of its members can."""

    def claim(pool: Any) -> bool:
        from lopsided.estimators.registry import can

        return all(can(learner, ability) for learner in pool.learners)

    return claim


def _entry(name: str, file: str, *trials: dict[str, Any], **claims: Any) -> Entry:
    module = f"lopsided.estimators.compose.{file}"
    return Entry(name, module, "compose", trials, **{"on_command_line": False, "mergeable": True, **claims})


_DELEGATED = ("bounded", "random", "keeps_vectors", "reports_its_answer")
_LIKE_ITS_LEARNER = {ability: _as_its_learner(ability) for ability in _DELEGATED}

ENTRIES: tuple[Entry, ...] = (
    _entry(
        "OnlineScaler",
        "scaler",
        {},
        {"kind": "minmax"},
        {"center": False},
        is_learner=False,
        sparse=_takes_csr,
        adds_up=True,
    ),
    _entry(
        "KeyedHistory",
        "history",
        {"keys": ["word"], "time": "a", "slots": 64},
        {"keys": ["word", "b"], "time": "a", "value": "b", "half_lives": ["1h"], "slots": 64},
        is_learner=False,
        takes_tables=True,
        sparse=False,
        adds_up=True,
    ),
    _entry(
        "StreamPipeline",
        "pipeline",
        {},
        {"scaler": trial_parts.minmax_scaler, "learner": trial_parts.small_koil},
        {"scaler": trial_parts.zero_keeping_scaler, "learner": trial_parts.small_oilk},
        sparse=_takes_csr,
        **_LIKE_ITS_LEARNER,
    ),
    _entry(
        "SparsePipeline",
        "file_pipeline",
        {"learner": trial_parts.perceptron},
        {"scaler": trial_parts.zero_keeping_scaler, "learner": trial_parts.small_koil, "first_index": 0},
        sparse=_takes_csr,
        **_LIKE_ITS_LEARNER,
    ),
    _entry(
        "TablePipeline",
        "table_pipeline",
        {"schema": trial_parts.schema, "learner": trial_parts.small_koil},
        {"schema": trial_parts.schema, "scaler": "none", "learner": trial_parts.perceptron},
        {"learner": trial_parts.small_oilk},
        {"schema": trial_parts.schema, "learner": trial_parts.a_perceptron_for_each_word},
        takes_tables=True,
        takes_arrays=lambda pipeline: pipeline.schema is None,
        sparse=False,
        **_LIKE_ITS_LEARNER,
    ),
    _entry(
        "HistoryPipeline",
        "history_pipeline",
        {"schema": trial_parts.schema, "history": trial_parts.history, "learner": trial_parts.small_koil},
        {
            "schema": trial_parts.schema,
            "history": trial_parts.history_of_amounts,
            "scaler": "none",
            "learner": trial_parts.perceptron,
        },
        takes_tables=True,
        takes_arrays=False,
        sparse=False,
        **_LIKE_ITS_LEARNER,
    ),
    _entry(
        "KeyedLearner",
        "keyed_learner",
        {"learner": trial_parts.perceptron, "key": -1, "max_keys": 16, "spill": "temporary"},
        {"learner": trial_parts.perceptron, "key": -1, "max_keys": 8, "prior": None},
        {"learner": trial_parts.small_koil, "key": -1, "max_keys": 8, "scaler": trial_parts.zero_keeping_scaler},
        sparse=_takes_csr,
        bounded=_of_its_learner("bounded"),
        random=_of_its_learner("random"),
        reports_its_answer=_of_its_learner("reports_its_answer"),
        mergeable=_of_its_learner("mergeable"),
    ),
    _entry(
        "ExpertPool",
        "expert_pool",
        {"learners": trial_parts.koil_and_linear, "fade": 0.99},
        {"learners": trial_parts.averaged_and_scaled, "combine": "sample", "measure": "f1"},
        sparse=_as_all_members("sparse"),
        bounded=_as_all_members("bounded"),
        random=True,
        reports_its_answer=lambda pool: pool.combine != "sample",
    ),
)
