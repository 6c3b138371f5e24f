"""The parts of RareEventClassifier on one scale, the linear part, bursts of positives, and files from before that."""

import zipfile
from pathlib import Path

import numpy as np
import pytest

import lopsided as lp
from lopsided.core.measures.drift_gate import (
    ALERTED,
    DECLINE,
    EVIDENCE,
    FALSE_ALARMS,
    LEFT,
    LIMIT,
    REGAINED,
    close_case,
    compare,
    empty_gate,
    share_of_short,
)
from lopsided.core.measures.log_odds import LEVEL, SLOPE, add_lines, empty_lines, fade_of_lines, fit_line, worth
from lopsided.core.rare.linear_part import KNOWN, MEAN, SQUARES, add_linear, empty_linear_part, learn_linear
from lopsided.core.rare.step import BLENDS, FIRST_LEANING, LINEAR_ALONE
from lopsided.datasets import xor
from lopsided.estimators.state.arrays import ModelFileError
from rare.streams import turning, weights_for, with_gaps

OLD_FILES = Path(__file__).parent


def fitted_line(scores, y, weights=None):
    lines = empty_lines(2)
    rate = (y > 0).mean()
    for score, label, weight in zip(scores, y, np.ones(y.size) if weights is None else weights, strict=True):
        fit_line(lines, 1, score, label, weight, np.log(rate / (1 - rate)), fade_of_lines(rate, 0))
    return lines


def test_a_line_goes_from_its_start_to_the_log_odds_that_scores_stand_for_and_others_stay():
    rng = np.random.default_rng(0)
    y = np.where(rng.random(40_000) < 0.05, 1.0, -1.0)
    for apart in (1.0, 2.0):
        # Scores z / 2 with normal z: log-odds are apart * z - apart^2 / 2, a line with the slope 2 * apart.
        lines = fitted_line((rng.standard_normal(y.size) + apart * (y > 0)) / 2.0, y)
        assert 2.0 * apart - 1.0 < lines.lines[1, SLOPE] < 2.0 * apart + 2.0  # it is held to 8
        assert worth(lines, 1, 1.0) == pytest.approx((2.0 * apart - apart**2 / 2) / 8.0, abs=0.15)  # 1 at the start
        assert lines.lines[0].tolist() == [8.0, 0.0] and worth(lines, 0, 0.3) == pytest.approx(0.3)


def test_a_part_that_ranks_the_wrong_way_says_nothing_rather_than_the_opposite():
    rng = np.random.default_rng(1)
    y = np.where(rng.random(5_000) < 0.1, 1.0, -1.0)
    lines = fitted_line(rng.standard_normal(y.size) - 1.0 * (y > 0), y)
    assert 0.0 <= lines.lines[1, SLOPE] < 0.5  # of 8


def test_weights_beyond_all_numbers_leave_lines_as_they_are():
    lines = empty_lines(1)
    fit_line(lines, 0, 0.5, 1.0, 1e308, -2.0, 0.1)
    fit_line(lines, 0, 0.5, -1.0, 1e308, -2.0, 0.1)
    assert np.isfinite(lines.lines).all() and np.isfinite(lines.sums).all()


def test_lines_add_up():
    rng = np.random.default_rng(2)
    y = np.where(rng.random(4_000) < 0.1, 1.0, -1.0)
    scores = 0.2 * rng.standard_normal(y.size) + 0.4 * (y > 0)
    halves = [fitted_line(scores[part], y[part]) for part in (slice(0, 2_000), slice(2_000, None))]
    both, turned = fitted_line(scores[:2_000], y[:2_000]), fitted_line(scores[2_000:], y[2_000:])
    add_lines(both, halves[1])
    add_lines(turned, halves[0])
    np.testing.assert_allclose(both.lines, turned.lines, rtol=1e-9, atol=1e-12)
    slopes = [half.lines[1, SLOPE] for half in halves]
    assert min(slopes) - 0.5 < both.lines[1, SLOPE] < max(slopes) + 0.5
    alone = fitted_line(scores, y)
    before = [array.copy() for array in alone]
    add_lines(alone, empty_lines(2))
    for array, was in zip(alone, before, strict=True):
        np.testing.assert_allclose(array, was, rtol=1e-9, atol=1e-12)


def learned(X, y, weights=None):
    part, row = empty_linear_part(X.shape[1]), np.zeros(X.shape[1])
    for x, label, weight in zip(X, y, np.ones(y.size) if weights is None else weights, strict=True):
        learn_linear(part, np.ascontiguousarray(x), row, float(label), weight, -1.0)
    return part


def test_the_scale_of_the_linear_part_is_that_of_what_is_known_and_adds_up():
    X, y = turning(900)
    X = with_gaps(X)
    X[:, 3] = np.nan
    whole, first, other = learned(X, y), learned(X[:400], y[:400]), learned(X[400:], y[400:])
    add_linear(first, other)
    for part in (whole, first):
        np.testing.assert_allclose(part.scale[KNOWN], (~np.isnan(X)).sum(axis=0))
        np.testing.assert_allclose(part.scale[MEAN, :3], np.nanmean(X[:, :3], axis=0), rtol=1e-9)
        np.testing.assert_allclose((part.scale[SQUARES, :3] / part.scale[KNOWN, :3]), np.nanvar(X[:, :3], axis=0))
    assert whole.weights[3] == first.weights[3] == 0.0
    assert whole.weights[0] > 0.1 and first.weights[0] > 0.1 and whole.weights[1] < -0.1 and first.weights[1] < -0.1


def test_enormous_values_and_weights_leave_the_linear_part_finite():
    X, y = turning(60)
    X[::7, 0] = 1e300
    X[::5, 1] = -1e200
    part = learned(X, y, np.where(np.arange(60) % 11, 1.0, 1e200))
    assert all(np.isfinite(array).all() for array in part)


def test_the_score_is_the_parts_by_their_weights():
    X, y = turning(1_500, turn=1_000)
    X = with_gaps(X, 0.05)
    for forget in ("auto", "never"):
        learner = lp.RareEventClassifier(200, 8, forget, random_state=1)
        for stop in (60, 900, 1_500):
            learner.partial_fit(
                X[stop - 60 : stop], y[stop - 60 : stop], classes=[-1, 1], sample_weight=weights_for(60)
            )
            parts, weights, leaning = learner.part_scores(X[:40]), learner.part_weights_, learner.leaning_weights_
            slope, level = learner.log_odds_lines_["trees"]
            has_trees = learner.n_trees_ > 0
            lean = has_trees / (1.0 + np.exp(learner.sure_from_ - slope * parts["trees"] - level))
            np.testing.assert_allclose(parts["lean"], lean, rtol=1e-9)
            total = weights["constant"] + lean * leaning["constant"]
            for name in ("ranker", "short", "trees", "linear"):
                total = total + (weights[name] + lean * leaning[name]) * parts[name]
            np.testing.assert_allclose(total, parts["score"], rtol=1e-9, atol=1e-12)
            np.testing.assert_array_equal(parts["score"], learner.raw_scores(X[:40]))
    assert 0.0 < learner.linear_share_ < 1.0 and learner.short_share_ == 0.0
    assert 0.0 < learner.leaning_share_ < 1.0 and lean.max() > 0.5


def test_evidence_of_drift_counts_as_much_as_it_is_said_to():
    gates = [empty_gate(), empty_gate()]
    for gate, evidence in zip(gates, (1.0, 0.1), strict=True):
        for _ in range(40):
            compare(gate, -1.0, 0.0, 0.0, 0.0, 9.0, 1.0)
        compare(gate, 1.0, -1.0, -1.0, 1.0, 9.0, evidence)  # the short memory ranks it first, the long one last
    full, little = (gate.levels[EVIDENCE] for gate in gates)
    assert full > 0.9 and little == pytest.approx(0.1 * full)


def test_after_a_false_alarm_the_short_memory_counts_less_until_it_has_taken_over():
    gate = empty_gate()
    for _ in range(40):
        compare(gate, -1.0, 0.0, 0.0, 0.0, 9.0, 1.0)

    def share_with(evidence):
        gate.levels[EVIDENCE] = evidence
        compare(gate, 1.0, 1.0, 1.0, 1.0, 9.0, 1.0)  # both memories rank it first
        return share_of_short(gate)

    shares = [(share_with(0.7), share_with(0.03))[0] for _ in range(4)]
    assert shares == pytest.approx([shares[0] * trust for trust in (1.0, 0.25, 0.0625, 0.05)])
    share_with(0.2)  # neither large nor nothing
    close_case(gate)
    assert share_with(0.7) == pytest.approx(shares[0])


def test_while_the_long_memory_ranks_worse_than_it_used_to_false_alarms_do_not_count():
    gate = empty_gate()
    gate.levels[[EVIDENCE, FALSE_ALARMS]] = 0.7, 2.0
    distrusted = share_of_short(gate)
    gate.levels[ALERTED] = 3.0
    assert share_of_short(gate) == pytest.approx(16.0 * distrusted)


def test_on_an_alarm_the_short_memory_counts_as_far_as_it_has_gained_since_the_fall_began():
    def share_at(gained, decline, alerted=3.0):
        gate = empty_gate()
        gate.levels[[REGAINED, DECLINE, ALERTED]] = gained, decline, alerted
        return share_of_short(gate)

    nothing = share_of_short(empty_gate())
    assert share_at(0.5, 7.0, alerted=0.0) == share_at(-2.0, 10.0) == share_at(0.5, 3.0) == nothing
    assert nothing < share_at(0.25, 7.0) == share_at(0.5, 5.0) < share_at(0.5, 7.0) == share_at(3.0, 10.0) < 0.7


def test_something_is_always_left_to_the_others_but_in_older_files():
    gate = empty_gate()
    gate.levels[EVIDENCE] = gate.levels[LIMIT]
    share = share_of_short(gate)
    gate.levels[LEFT] = 0.0
    assert 0.69 < share < 0.7 and share_of_short(gate) == pytest.approx(share / 0.7)
    close_case(gate)
    gate.levels[EVIDENCE] = gate.levels[LIMIT]
    assert share_of_short(gate) == share


def test_a_storm_does_not_make_the_learner_begin_anew():
    # Positives on one side, and for 150 rows mostly positives that lie elsewhere: many of them, but one event.
    X, y = turning(1_700, rare=0.05)
    storm = slice(1_300, 1_450)
    rng = np.random.default_rng(7)
    y[storm] = np.where(rng.random(150) < 0.7, 1, -1)
    X[storm] = rng.standard_normal((150, 4)) * 0.5
    X[storm, 0] -= 1.5 * (y[storm] > 0)
    learner = lp.RareEventClassifier(200, 8, random_state=1).fit(X, y)
    assert learner.n_restarts_ == 0


def loaded(name, tmp_path):
    with zipfile.ZipFile(OLD_FILES / f"{name}.zip") as files:
        return lp.load(files.extract(f"{name}.lopsided", tmp_path))


def test_a_model_with_sixteen_blends_answers_as_it_did_and_goes_on(tmp_path):
    model, stream = loaded("sixteen_blends", tmp_path), xor(700, rare=0.1, random_state=3)
    expected = [-0.4195822775647509, -0.5420244398269923, 0.6056427047382728, -0.3719708537130969]
    np.testing.assert_allclose(model.raw_scores(stream.X[600:604]), expected, rtol=1e-9)
    assert model.predict(stream.X[600:]).sum() == 11
    blend = model._state.blend
    assert blend.shares.size == len(BLENDS) and not blend.shares[16:].any() and not blend.counts[16:].any()
    scores = model.progressive_scores(stream.X[600:], stream.y[600:])
    assert lp.metrics.auroc(stream.y[600:], scores) > 0.9 and blend.shares[16:].all()
    model.save(tmp_path / "again.lopsided")
    np.testing.assert_array_equal(lp.load(tmp_path / "again.lopsided").raw_scores(stream.X), model.raw_scores(stream.X))


def test_a_model_from_before_blends_leaned_answers_by_the_others_and_goes_on():
    X, y = turning(900)
    model, restored = (lp.RareEventClassifier(200, 8, random_state=1).fit(X, y) for _ in range(2))
    blend = model._state.blend
    blend.shares[FIRST_LEANING:] = 0.0
    arrays = model._arrays()
    older = {name: arrays[name][:FIRST_LEANING] for name in (f"state.blend.{part}" for part in blend._fields[:3])}
    restored._restore(arrays | older)
    np.testing.assert_array_equal(restored.raw_scores(X), model.raw_scores(X))
    assert restored.leaning_share_ == 0.0
    assert restored.partial_fit(X, y).leaning_share_ > 0.0


def test_a_file_whose_blends_do_not_fit_each_other_is_refused(tmp_path):
    model = loaded("sixteen_blends", tmp_path)
    arrays = model._arrays()
    for name in ("state.blend.counts", "state.blend.shares", "state.blend.prior"):
        with pytest.raises(ModelFileError, match=name):
            model._restore(arrays | {name: arrays[name][:16] if name != "state.blend.prior" else arrays[name][:15]})


def test_the_linear_part_keeps_its_standing_when_all_else_begins_anew():
    X, y = turning(1_200)
    learner = lp.RareEventClassifier(200, 8, random_state=1).fit(X, y)
    blend = learner._state.blend
    for share in (0.0, 0.5):
        blend.shares[:], blend.shares[LINEAR_ALONE] = (1.0 - share) / (len(BLENDS) - 1), share
        learner._restart()
        assert blend.prior[LINEAR_ALONE] == pytest.approx(0.1 + 20.0 * share)
        np.testing.assert_allclose(blend.shares, blend.prior / blend.prior.sum())


def test_the_linear_part_is_never_surer_than_its_limit():
    X, y = turning(600)
    learner = lp.RareEventClassifier(200, 8, random_state=1).fit(X, y)
    said = learner.part_scores(X * np.array([-1e3, 1e3, 1.0, 1.0]))["linear"]
    assert said.min() == -learner.largest_linear_score_ and np.abs(learner.part_scores(X)["linear"]).max() < 0.7
    assert learner.part_scores(-1e3 * X)["linear"].max() == learner.largest_linear_score_ == 0.7


def test_a_model_from_before_the_linear_part_answers_as_it_did_and_goes_on(tmp_path):
    model = loaded("before_the_linear_part", tmp_path)
    stream = xor(700, rare=0.1, random_state=3)
    expected = [-0.7298598598197356, -0.3880105070581814, 1.2127717431232756, -0.6847362888774408]
    np.testing.assert_allclose(model.raw_scores(stream.X[600:604]), expected, rtol=1e-9)
    assert model.predict(stream.X[600:]).sum() == 14
    assert model.linear_share_ == 0.0 and model._state.lines.lines[:, LEVEL].tolist() == [0.0] * 4
    scores = model.progressive_scores(stream.X[600:], stream.y[600:])
    assert lp.metrics.auroc(stream.y[600:], scores) > 0.85 and model.linear_share_ > 0.0
    model.save(tmp_path / "again.lopsided")
    np.testing.assert_array_equal(lp.load(tmp_path / "again.lopsided").raw_scores(stream.X), model.raw_scores(stream.X))
