"""One row of RareEventClassifier: ranked by two memories, sent down the trees, blended, and put away.

The long ranker f keeps everything, the short one f_s fades; the trees g were fitted to a sample; h is a logistic
regression. Each is put on one scale, that of log-odds (`log_odds.py`). The answer is (1 - p) S + p f_s, where S blends
f, g and h by what each of `BLENDS` has achieved, and p says how much speaks for the short memory (`drift_gate.py`).
Some blends lean: the surer the trees are of a positive, the more these count. Trees are best at the top of a ranking,
and the ranker below it, so that such a blend may have the better average precision and the better AUC at once.

Sums of blocks, solutions, trees and restarts are the caller's: the loop hands back when one of them is due.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from lopsided.core.arithmetic.compiled import Floats, Integers, compiled
from lopsided.core.arithmetic.draws import Draws, draw
from lopsided.core.features.fourier import dot
from lopsided.core.features.fourier_ranker import (
    CENTRE,
    DUE,
    FIXED,
    KEPT,
    POSITIVES,
    SEEN,
    SINCE,
    SOLVED,
    WAITING,
    RankerScratch,
    RankerState,
    encode_row,
    put_away,
)
from lopsided.core.geometry.points import Rows
from lopsided.core.measures.drift_gate import (
    ALERTED,
    PATIENT,
    Gate,
    compare,
    compare_young,
    is_decided,
    share_of_short,
    wants_young,
)
from lopsided.core.measures.log_odds import EIGHT, Lines, fade_of_lines, fit_line, worth
from lopsided.core.measures.mixture import Mixture, MixturePlan, mixed, note
from lopsided.core.measures.score_keys import sigmoid
from lopsided.core.rare.linear_part import LinearPart, learn_linear, linear_score, standardise
from lopsided.core.sampling.priority import Sample, age, offer
from lopsided.core.trees.forest import Forest, forest_score, lay_out
from lopsided.core.trees.sampled_forest import BEAT, SLOW_BEAT, SampledForest, sample_row

# The parts, in the order of RareState.lines and of the shares in a blend.
RANKER, TREES, LINEAR, SHORT = range(4)
_BETAS = (0.0, 0.1, 0.2, 0.35, 0.5, 0.7, 1.0)  # shares of the trees beside the ranker
_LEANING_BETAS = (0.0, 0.2, 0.5)
# Blends that are tried: ranker and trees, these with half for the linear part, that alone, the short memory alone,
# ranker and trees with a quarter for the linear part; and, from FIRST_LEANING on, blends that lean.
BLENDS = (
    *((1.0 - b, b, 0.0, 0.0) for b in _BETAS),
    *((0.5 * (1.0 - b), 0.5 * b, 0.5, 0.0) for b in _BETAS),
    (0.0, 0.0, 1.0, 0.0),
    (0.0, 0.0, 0.0, 1.0),
    *((0.75 * (1.0 - b), 0.75 * b, 0.25, 0.0) for b in _BETAS),
    *((1.0 - b, b, 0.0, 0.0) for b in _LEANING_BETAS),
    *((0.5 * (1.0 - b), 0.5 * b, 0.5, 0.0) for b in _LEANING_BETAS),
)
LINEAR_ALONE = 2 * len(_BETAS)  # its place among them
FIRST_LEANING = 3 * len(_BETAS) + 2
SURE = 1.0  # log-odds of the trees at which half of a leaning blend is theirs
FOCUS = 6.0
_OFTEN = 200  # rows after which the short memory is solved again, or two positives where these are farther apart
FIRST_RENEWAL = 400  # rows after which the scale is looked at again, then at every doubling
SQUEEZE = 8.0
ALONE = 2.0  # usual distances by which a positive counts as evidence of drift: in full from half of one on
LARGEST_SCORE = 3.0
LARGEST_OF_LINEAR = 0.7  # log-odds by eight; far out, and where features move with time, it is too sure of itself
# Entries of RareState.tally: whether the short memory has a solution, whether the trees, a restart or the scale is due,
# rows seen when the scale was last looked at, sparse rows since then, rows since the memory began, which a restart
# makes young again, restarts, what is to become of young trees, rows since the last positive; whether the short memory
# is to be solved, and rows since it was.
SHORT_SOLVED, BEAT_DUE, RESTART_DUE, SCALE_DUE, LOOKED, SPARSE_ROWS, YOUTH, RESTARTS, YOUNG_DUE, GAP = range(10)
SHORT_DUE, SINCE_SHORT = 10, 11
FIT_YOUNG, GIVE_UP_YOUNG = 1, 2
# Rows of RareState.spread, by feature, since the scale was last looked at: values known, sums and sums of squares of
# their differences from the centre.
KNOWN, SUM, SQUARES = range(3)


class RarePlan(NamedTuple):
    """The parameters as numbers."""

    linear: float
    forgets: bool
    n_long: int
    long: MixturePlan
    short: MixturePlan
    blend: MixturePlan


class RareState(NamedTuple):
    """All that a row meets; `short_weights` and `first_short_weights` are what rows weigh in the short memory."""

    ranker: RankerState
    short_weights: Floats
    first_short_weights: Floats
    long: Mixture
    short: Mixture
    blend: Mixture
    lines: Lines
    linear: LinearPart
    gate: Gate
    trees: SampledForest
    recent_positives: Sample
    recent_negatives: Sample
    young: Forest
    spread: Floats
    tally: Integers


class RareScratch(NamedTuple):
    """Scratch: that of the ranker, a row for the trees, one for the linear part, and scores by ridge and by blend."""

    ranker: RankerScratch
    x: Floats
    row: Floats
    long: Floats
    short: Floats
    blended: Floats


class Answered(NamedTuple):
    """What a row was given: by the rankers, trees as they are and squeezed, the linear part by eight, and by all.

    `lean` is how much of a leaning blend is the trees' alone.
    """

    long: float
    short: float
    trees: float
    squeezed: float
    linear: float
    lean: float
    blend: float
    score: float


@compiled
def fade_of(tally: Integers) -> float:
    """How much of the short memory is left after one row: a thousand rows, or ten positives where they are rarer."""
    return 1.0 - min(0.001, 0.1 * (tally[POSITIVES] + 1.0) / (tally[SEEN] + 1.0))


@compiled
def _within(score: float) -> float:
    return min(max(score, -LARGEST_SCORE), LARGEST_SCORE)


@compiled
def answer_row(state: RareState, plan: RarePlan, rows: Rows, t: int, work: RareScratch, z: Floats) -> Answered:
    """Encode a row and score it; z, x and the scores by ridge are left in the scratch."""
    ranker = state.ranker
    encode_row(ranker, plan.linear, rows, t, work.ranker, z)
    for v in range(work.long.size):
        work.long[v] = _within(dot(ranker.weights[v], z) - ranker.offsets[v])
    long = mixed(state.long, work.long)
    short = long
    if state.tally[SHORT_SOLVED]:
        for v in range(work.short.size):
            place = plan.n_long + v
            work.short[v] = _within(dot(ranker.weights[place], z) - ranker.offsets[place])
        short = mixed(state.short, work.short)
    trees = squeezed = 0.0
    if work.x.size:
        lay_out(rows, t, work.x)
        trees = forest_score(state.trees.forest, work.x)
        squeezed = math.tanh(trees / SQUEEZE)
    lay_out(rows, t, work.ranker.x)
    standardise(state.linear, work.ranker.x, work.row)
    linear = min(max(linear_score(state.linear, work.row) / EIGHT, -LARGEST_OF_LINEAR), LARGEST_OF_LINEAR)
    by_ranker, by_trees = worth(state.lines, RANKER, long), worth(state.lines, TREES, squeezed)
    by_linear = worth(state.lines, LINEAR, linear)
    by_short = worth(state.lines, SHORT, short) if state.tally[SHORT_SOLVED] else by_ranker
    for i in range(work.blended.size):
        share = BLENDS[i]
        work.blended[i] = (
            share[RANKER] * by_ranker + share[TREES] * by_trees + share[LINEAR] * by_linear + share[SHORT] * by_short
        )
    lean = sigmoid(EIGHT * by_trees - SURE) if state.trees.forest.size[0] else 0.0
    for i in range(FIRST_LEANING, work.blended.size):
        work.blended[i] += lean * (by_trees - work.blended[i])
    blend = mixed(state.blend, work.blended)
    score = blend
    if plan.forgets:
        p = share_of_short(state.gate)
        score = (1.0 - p) * blend + p * by_short
    return Answered(long, short, trees, squeezed, linear, lean, blend, score)


@compiled
def rare_run(
    state: RareState,
    plan: RarePlan,
    rows: Rows,
    labels: Floats,
    importances: Floats,
    draws: Draws,
    work: RareScratch,
    scores: Floats,
    parts: Floats,
    start: int,
    stop: int,
) -> int:
    """Take in the examples start..stop-1 in order, reporting the score of each before it was.

    What its parts said goes into `parts`, if that has a row for each. An example whose label is NaN is scored only.
    Returns the number of the first example not taken in: smaller than `stop` only if the caller has something to do.
    """
    ranker, tally = state.ranker, state.ranker.tally
    for t in range(start, stop):
        y, weight = labels[t], importances[t]
        z = ranker.block[tally[WAITING]] if tally[FIXED] and not math.isnan(y) else work.ranker.z
        given = answer_row(state, plan, rows, t, work, z)
        scores[t] = given.score
        if parts.shape[0]:
            _write_parts(given, parts[t])
        if math.isnan(y):
            continue
        u = draw(draws)
        _measure(state, plan, y, weight, work, given)
        _learn_scale(state, y, weight, work, given)
        tally[SEEN] += 1
        tally[SINCE] += 1
        state.tally[YOUTH] += 1
        state.tally[GAP] += 1
        state.tally[SINCE_SHORT] += 1
        if y > 0.0:
            tally[POSITIVES] += 1
            state.tally[GAP] = 0
        _keep_row(state, plan, rows, t, y, weight, given)
        if work.x.size:
            _sample_row(state, plan, y, weight, u, work.x, given)
        _note_spread(state.spread, ranker.scale[CENTRE], state.tally, rows, t)
        _say_what_is_due(tally, state.tally, ranker.first_signs.size, y)
        if (
            tally[DUE]
            or tally[WAITING] == ranker.block_signs.size
            or state.tally[BEAT_DUE]
            or state.tally[RESTART_DUE]
            or state.tally[SCALE_DUE]
            or state.tally[YOUNG_DUE]
            or state.tally[SHORT_DUE]
        ):
            return t + 1
    return stop


@compiled
def _measure(state: RareState, plan: RarePlan, y: float, weight: float, work: RareScratch, given: Answered) -> None:
    """What the ridges, the shares of the blend and the two memories have achieved on this row."""
    if state.ranker.tally[SOLVED] == 0:
        return
    note(state.long, plan.long, y, weight, work.long)
    note(state.blend, plan.blend, y, weight, work.blended)
    if plan.forgets:
        if state.tally[SHORT_SOLVED]:
            note(state.short, plan.short, y, weight, work.short)
        positives = state.ranker.tally[POSITIVES] + 1.0
        ratio = (state.ranker.tally[SEEN] + 1.0 - positives) / positives
        evidence = min(1.0, ALONE * (state.tally[GAP] + 1.0) / (ratio + 1.0))
        has_young = state.young.size[0] > 0
        if has_young:
            compare_young(state.gate, y, given.blend, forest_score(state.young, work.x), ratio, evidence)
        compare(state.gate, y, given.blend, given.long, given.short, ratio, evidence)
        if is_decided(state.gate):
            state.tally[RESTART_DUE] = 1
        elif work.x.size and wants_young(state.gate):
            state.tally[YOUNG_DUE] = FIT_YOUNG
        elif has_young and state.gate.levels[ALERTED] == 0.0:
            state.tally[YOUNG_DUE] = GIVE_UP_YOUNG


@compiled
def _learn_scale(state: RareState, y: float, weight: float, work: RareScratch, given: Answered) -> None:
    """What the scores of the parts are worth, and the linear part itself."""
    tally = state.ranker.tally
    positives = tally[POSITIVES] + 1.0
    negatives = tally[SEEN] + 2.0 - positives
    base, rate = math.log(positives / negatives), positives / (positives + negatives)
    fade = fade_of_lines(rate, state.tally[YOUTH])
    if tally[SOLVED]:
        fit_line(state.lines, RANKER, given.long, y, weight, base, fade)
        fit_line(state.lines, LINEAR, given.linear, y, weight, base, fade)
        if state.trees.forest.size[0]:
            fit_line(state.lines, TREES, given.squeezed, y, weight, base, fade)
        if state.tally[SHORT_SOLVED]:
            fit_line(state.lines, SHORT, given.short, y, weight, base, fade)
    learn_linear(state.linear, work.ranker.x, work.row, y, weight, base)


@compiled
def _keep_row(state: RareState, plan: RarePlan, rows: Rows, t: int, y: float, weight: float, given: Answered) -> None:
    """Into the block of the ranker, weighed for each memory by how much a negative looks like a positive."""
    ranker = state.ranker
    long = short = weight
    if y < 0.0 and ranker.tally[SOLVED] > 0:
        long *= 2.0 * sigmoid(FOCUS * (given.long + 0.5))
        short *= 2.0 * sigmoid(FOCUS * (given.short + 0.5))
    if ranker.tally[FIXED]:
        state.short_weights[ranker.tally[WAITING]] = short
    else:
        state.first_short_weights[ranker.tally[KEPT]] = short
    put_away(ranker, rows, t, y, long)


@compiled
def _sample_row(
    state: RareState, plan: RarePlan, y: float, weight: float, u: float, x: Floats, given: Answered
) -> None:
    """Offer the row to the sample of the trees and to the one that fades."""
    number = state.ranker.tally[SEEN] - 1
    sample_row(state.trees, x, y, weight, given.trees, u, number)
    if plan.forgets:
        if state.gate.levels[ALERTED] < PATIENT:  # later on all is kept, for those that may begin anew from it
            fade = fade_of(state.ranker.tally)
            age(state.recent_positives, fade)
            age(state.recent_negatives, fade)
        offer(state.recent_positives if y > 0.0 else state.recent_negatives, x, weight, 1.0, u, number)


@compiled
def _note_spread(spread: Floats, centre: Floats, tally: Integers, rows: Rows, t: int) -> None:
    """Where the features of this row lie, for the next look at their scale."""
    if rows.starts.size:
        tally[SPARSE_ROWS] += 1
        for q in range(rows.starts[t], rows.starts[t + 1]):
            j = rows.features[q]
            # All features are taken for a 0 that is known when the sums are looked at: this is the difference.
            if rows.values[q] == rows.values[q]:
                spread[SUM, j] += rows.values[q]
                spread[SQUARES, j] += rows.values[q] * (rows.values[q] - 2.0 * centre[j])
            else:
                spread[KNOWN, j] -= 1.0
                spread[SUM, j] += centre[j]
                spread[SQUARES, j] -= centre[j] * centre[j]
        return
    x = rows.dense[t]
    for j in range(x.size):
        known = x[j] == x[j]
        difference = x[j] - centre[j] if known else 0.0
        spread[KNOWN, j] += 1.0 if known else 0.0
        spread[SUM, j] += difference
        spread[SQUARES, j] += difference * difference


@compiled
def _say_what_is_due(tally: Integers, of_all: Integers, n_first: int, y: float) -> None:
    """Solutions, trees and the scale; `tally` is the ranker's, `of_all` that of RareState, `n_first` its first rows."""
    seen = tally[SEEN]
    patience = max(200, min(2000, of_all[YOUTH] // 10))
    if tally[SINCE] >= patience or (y > 0.0 and tally[POSITIVES] <= 20):
        tally[DUE] = 1
    if tally[FIXED] == 0 and tally[KEPT] == n_first:
        tally[DUE] = 1
    if of_all[SHORT_SOLVED] and of_all[SINCE_SHORT] >= max(_OFTEN, 2 * seen // tally[POSITIVES]):
        of_all[SHORT_DUE] = 1
    if seen % BEAT == 0 and (seen % SLOW_BEAT == 0 or of_all[YOUTH] < 20 * SLOW_BEAT):
        of_all[BEAT_DUE] = 1
    if tally[FIXED] and seen >= FIRST_RENEWAL and seen >= 2 * of_all[LOOKED]:
        of_all[SCALE_DUE] = 1


@compiled
def _write_parts(given: Answered, parts: Floats) -> None:
    parts[0], parts[1], parts[2], parts[3] = given.long, given.short, given.squeezed, given.linear
    parts[4], parts[5], parts[6] = given.lean, given.blend, given.score
