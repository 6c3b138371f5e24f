"""The state of RareEventClassifier and BoostedSample between memory and files."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lopsided.core.features.fourier_ranker import DRAWN, DUE, FIXED, SPREAD
from lopsided.core.features.fourier_ranker import KEPT as FIRST_ROWS
from lopsided.core.features.fourier_ranker import WAITING as IN_BLOCK
from lopsided.core.measures.drift_gate import LIMIT, RING
from lopsided.core.rare.step import RareState
from lopsided.core.trees.sampled_forest import SampledForest
from lopsided.estimators.rare.booster import Booster, check_forest
from lopsided.estimators.rare.memories import LongMemory, ShortMemory
from lopsided.estimators.state.arrays import ModelFileError, in_range, named_arrays, refilled, taken
from lopsided.estimators.state.samples import check_sample

# How many blends there were in older files: of ranker and trees, then also with the linear part, then with a quarter of
# it; those that lean came last.
_FEWER_BLENDS = (7,), (16,), (23,)
_FEWER_LEVELS = (11,), (13,), (14,)  # of the gate: false alarms were not counted, gains not added up, nothing left


def rare_arrays(
    state: RareState, long: LongMemory, short: ShortMemory, booster: Booster
) -> dict[str, npt.NDArray[Any]]:
    """What a file keeps of RareEventClassifier."""
    arrays = named_arrays(state=state) | booster.arrays
    for name, memory in (("long", long), ("short", short)):
        arrays |= {f"{name}.{field}": array for field, array in memory.arrays.items()}
    return arrays


def restored_state(
    arrays: dict[str, npt.NDArray[Any]], empty: RareState, long: LongMemory, short: ShortMemory
) -> RareState:
    """The state of a file, of the same shapes as the empty one; the memories take theirs."""
    state = refilled(_of_today(arrays, empty), "state", empty)
    tally, ranking = state.tally, state.ranker.tally
    in_range("state.tally", tally, 0, 2**62)
    in_range("state.ranker.tally", ranking, 0, 2**62)
    in_range("state.ranker.tally", ranking[[DRAWN, FIXED, DUE]], 0, 1)
    in_range("state.ranker.tally", ranking[IN_BLOCK], 0, empty.ranker.block_signs.size - 1)
    in_range("state.ranker.tally", ranking[FIRST_ROWS], 0, empty.ranker.first_signs.size - 1)
    in_range("state.gate.tally", state.gate.tally, 0, (RING - 1, RING, RING - 1, RING))
    if not (state.ranker.scale[SPREAD] > 0.0).all() or not state.gate.levels[LIMIT] > 0.0:
        raise ModelFileError(
            "The arrays 'state.ranker.scale' and 'state.gate.levels' of the model file must hold deviations and a "
            "limit > 0. Got others: the file is damaged."
        )
    if not (state.lines.sums[:, [0, 2]] > 0.0).all() or not (state.linear.gradients >= 0.0).all():
        raise ModelFileError(
            "The arrays 'state.lines.sums' and 'state.linear.gradients' of the model file must hold sums of squares. "
            "Got negative ones: the file is damaged."
        )
    check_trees("state.trees", state.trees, state.spread.shape[1])
    check_sample("state.recent_positives", state.recent_positives)
    check_sample("state.recent_negatives", state.recent_negatives)
    check_forest("state.young", state.young, state.spread.shape[1])
    for name, memory in (("long", long), ("short", short)):
        for field, like in memory.arrays.items():
            setattr(memory, field, taken(arrays, f"{name}.{field}", like.dtype, like.shape))
    in_range("long.in_single", long.in_single, 0, 2**62)
    return state


def _of_today(arrays: dict[str, npt.NDArray[Any]], empty: RareState) -> dict[str, npt.NDArray[Any]]:
    """Arrays of a file, also of one from before there was a linear part, or so many blends: these begin now."""
    wanted = named_arrays(state=empty)
    added = {name for name in wanted if name.startswith(("state.lines.", "state.linear."))}
    filled = dict(arrays)
    if added.isdisjoint(arrays):
        filled |= {name: wanted[name] for name in added} | _longer(arrays, wanted, ("state.tally",))
    blends, levels = arrays.get("state.blend.prior"), arrays.get("state.gate.levels")
    if blends is not None and blends.shape in _FEWER_BLENDS:
        filled |= _longer(arrays, wanted, ("state.blend.counts", "state.blend.shares"))
        filled["state.blend.prior"] = wanted["state.blend.prior"]
    if levels is not None and levels.shape in _FEWER_LEVELS:
        filled |= _longer(arrays, wanted, ("state.gate.levels", "state.tally"))
    return filled


def _longer(
    arrays: dict[str, npt.NDArray[Any]], wanted: dict[str, npt.NDArray[Any]], names: tuple[str, ...]
) -> dict[str, npt.NDArray[Any]]:
    """These arrays as long as they are wanted: the same, and then zeros."""
    longer = {}
    for name in names:
        old, like = arrays.get(name), wanted[name]
        if old is not None and 0 < old.ndim == like.ndim and len(old) < len(like) and old.shape[1:] == like.shape[1:]:
            longer[name] = np.concatenate([old, np.zeros_like(like[len(old) :])])
    return longer


def check_trees(name: str, trees: SampledForest, n_features: int) -> None:
    """Refuse samples and trees that compiled code could not walk through."""
    check_sample(f"{name}.positives", trees.positives)
    check_sample(f"{name}.negatives", trees.negatives)
    check_forest(f"{name}.forest", trees.forest, n_features)
