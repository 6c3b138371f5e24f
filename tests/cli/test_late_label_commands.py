"""Labels as in life, on the command line: from a second file by identifier, for alerts only, or never."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import lopsided as lp
from cli.conftest import refusal_of
from lopsided.alerts import AlertBudget
from lopsided.evaluate import Evaluation
from lopsided.late import LateLearner, SelectiveLabels
from lopsided.metrics import auroc

N = 700
DAY = 86_400.0


@pytest.fixture(scope="module")
def rows():
    """Two weeks of rows of a plane, 50 a day, one in eight positive."""
    rng = np.random.default_rng(0)
    y = (rng.random(N) < 1 / 8).astype(int)
    X = (rng.normal(size=(N, 2)) + 1.5 * y[:, None]).round(6)
    return X, y, np.sort(rng.integers(0, int(14 * DAY), N)).astype(float)


@pytest.fixture
def files(tmp_path, rows):
    """The rows without labels, and the labels in another order; each known after one to three days."""
    X, y, times = rows
    lines = [f"r{k},{a!r},{b!r},{t:.0f}" for k, ((a, b), t) in enumerate(zip(X.tolist(), times, strict=True))]
    (tmp_path / "rows.csv").write_text("\n".join(["id,a,b,when", *lines]) + "\n")
    rng = np.random.default_rng(1)
    known = times + rng.integers(1, 3 * int(DAY), N)
    order = rng.permutation(N)
    labels = [f"r{k},{y[k]},{known[k]:.0f}" for k in order]
    labels += [f"r{k},{1 - y[k]},{known[k] + DAY:.0f}" for k in order[:40]]  # corrections
    labels += [f"r{k},{y[k]},{known[k] + 9:.0f}" for k in order[40:60]]  # repetitions
    labels += ["stranger,1,5000", "r3,,7000", ",1,9000"]
    (tmp_path / "labels.csv").write_text("\n".join(["id,fraud,known", *labels]) + "\n")
    return order, known


BY_ID = ("--labels", "labels.csv", "--id", "id", "--label", "fraud", "--time", "when", "--learner", "opauc")
PIPELINE = (lp.OnlineScaler(), lp.OPAUC(random_state=0))


def said(lopsided, *arguments):
    done = lopsided(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def lived(rows, files, **rules):
    """The engine as Python has it: scores, and the engine."""
    X, y, times = rows
    order, known = files
    late = LateLearner(lp.StreamPipeline(*PIPELINE), classes=[0, 1], **{"corrections": "learn", **rules})
    keys, labels = [f"r{k}" for k in order], y[order]
    late.expect([*keys, *keys[:40], *keys[40:60]], [*labels, *(1 - labels[:40]), *labels[40:60]],
                [*known[order], *(known[order[:40]] + DAY), *(known[order[40:60]] + 9)])  # fmt: skip
    truth = y.copy()
    truth[order[:40]] = 1 - y[order[:40]]
    return late.progressive_scores(X, times=times, keys=[f"r{k}" for k in range(N)]), late, truth


@pytest.mark.parametrize("corrections", ["learn", "ignore"])
def test_labels_are_learned_when_they_became_known(lopsided, rows, files, corrections):
    more = () if corrections == "learn" else ("--corrections", "ignore")
    facts = said(lopsided, "evaluate", "rows.csv", *BY_ID, "--label-time", "known", *more)
    scores, late, truth = lived(rows, files, corrections=corrections)
    assert facts["record"]["auroc"] == pytest.approx(auroc(truth, scores), abs=1e-12)
    assert facts["record"]["n"] == N
    counts = facts["late"]
    assert {**late.counts.as_dict(), "expected": None} == {**counts, "expected": None, "parked": 0}
    assert counts["parked"] == 1 and counts["duplicates"] > 0
    assert (counts["corrections"] > 0) == (corrections == "learn")
    assert (counts["conflicts"] > 0) == (corrections == "ignore")


@pytest.mark.parametrize("form", ["ndjson", "parquet"])
def test_files_of_labels_have_any_format_and_a_delay_may_say_when(lopsided, rows, files, tmp_path, form):
    X, y, times = rows
    table = pa.table({"id": [f"r{k}" for k in range(N)], "fraud": y})
    if form == "parquet":
        pyarrow.parquet.write_table(table, tmp_path / "labels.parquet")
    else:
        (tmp_path / "labels.ndjson").write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
    options = ("--labels", f"labels.{form}", *BY_ID[2:])
    late = LateLearner(lp.StreamPipeline(*PIPELINE), delay="1d", classes=[0, 1])
    expected = auroc(y, late.progressive_scores(X, y, times=times))
    facts = said(lopsided, "evaluate", "rows.csv", *options, "--delay", "1d")
    assert facts["record"]["auroc"] == pytest.approx(expected, abs=1e-12)
    at_once = auroc(y, lp.StreamPipeline(*PIPELINE).progressive_scores(X, y))
    facts = said(lopsided, "evaluate", "rows.csv", *options)
    assert facts["record"]["auroc"] == pytest.approx(at_once, abs=1e-12)


def in_two(path, start=300):
    """The rows of a file in two, the second of which can be spoiled and mended."""
    header, *lines = path.read_text().splitlines(keepends=True)
    path.with_name("1.csv").write_text("".join([header, *lines[:start]]))
    second = path.with_name("2.csv")

    def write(*more):
        second.write_text("".join([header, *lines[start:], *more]))

    write()
    return write


def test_a_stopped_run_goes_on_bit_for_bit(lopsided, rows, files, tmp_path):
    """What waits, what is expected and what has been learned is in the file of the model, and so is how to go on."""
    options = (*BY_ID, "--label-time", "known", "--unlabelled", "negative:2d")
    write = in_two(tmp_path / "rows.csv")
    whole = said(lopsided, "learn", "1.csv", "2.csv", *options, "-o", "whole")
    _, late, _ = lived(rows, files, unlabelled="negative:2d")
    late.learn_known()
    assert {**whole["late"], "expected": 0, "parked": 0} == late.counts.as_dict()
    write("too,few\n")
    stopped = lopsided("learn", "1.csv", "2.csv", *options, "-o", "m")
    assert stopped.returncode == 2 and "what was learned from the 300 rows before is in m" in stopped.stderr
    write()
    again = said(lopsided, "learn", "1.csv", "2.csv", "--resume", "m", "--labels", "labels.csv")
    assert again["rows"] == N - 300
    assert again["late"] == whole["late"] and again["auroc"] == whole["auroc"]
    assert lp.load(tmp_path / "whole").to_bytes() == lp.load(tmp_path / "m").to_bytes()
    assert whole["late"]["as_negatives"] > 0
    sentence = refusal_of(lopsided("learn", "1.csv", "--resume", "m", "--corrections", "ignore"))
    assert "The option --corrections must not be changed with --resume" in sentence
    sentence = refusal_of(lopsided("learn", "1.csv", "--resume", "m", "--from-start"))
    assert "The option --from-start must come without labels by identifier" in sentence


def test_such_a_model_scores_explains_and_is_reported_on(lopsided, files, tmp_path):
    assert lopsided("learn", "rows.csv", *BY_ID, "-o", "m").returncode == 0
    for call in (
        ("score", "m", "rows.csv", "-o", "scores.csv"),
        ("inspect", "m"),
        ("explain", "m", "rows.csv", "--row", 3),
        ("evaluate", "rows.csv", *BY_ID, "--report", "report.html", "-o", "scored.csv"),
    ):
        done = lopsided(*call)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "scored.csv").read_text().count("\n") == N + 1


def test_labels_of_tomorrow_are_learned_tomorrow(lopsided, rows, files, tmp_path):
    header, *labels = (tmp_path / "labels.csv").read_text().splitlines(keepends=True)
    (tmp_path / "labels.csv").write_text("".join([header, *labels[:400]]))
    first = said(lopsided, "learn", "rows.csv", *BY_ID, "-o", "m")
    assert first["late"]["learned"] == 400 and first["waiting"] == N - 400 and first["rows_measured"] == 400
    (tmp_path / "labels.csv").write_text("".join([header, *labels[:N]]))
    nothing = said(lopsided, "learn", "rows.csv", "--resume", "m", "--labels", "labels.csv")
    assert nothing["rows"] == 0 and nothing["late"]["learned"] == N and nothing["waiting"] == 0
    assert lp.load(tmp_path / "m").n_seen_ == N
    done = lopsided("learn", "rows.csv", "--resume", "m")
    assert "nothing new to learn" in done.stdout


def test_a_label_column_of_the_rows_is_not_learned_from(lopsided, rows, files, tmp_path):
    y = rows[1]
    lines = (tmp_path / "rows.csv").read_text().splitlines()
    leaking = [f"{line},{label}" for line, label in zip(lines, ["fraud", *y], strict=True)]
    (tmp_path / "leaking.csv").write_text("\n".join(leaking) + "\n")
    done = lopsided("evaluate", "leaking.csv", *BY_ID, "--json")
    assert "the column 'fraud' of leaking.csv is ignored: labels stand elsewhere" in done.stderr
    assert "note: 2 labels without an identifier or a label were left out" in done.stderr
    assert json.loads(done.stdout)["features"] == 2


@pytest.fixture
def labelled(tmp_path, rows):
    X, y, times = rows
    lines = [f"{a!r},{b!r},{t:.0f},{label}" for (a, b), t, label in zip(X.tolist(), times, y, strict=True)]
    (tmp_path / "all.csv").write_text("\n".join(["a,b,when,fraud", *lines]) + "\n")
    return ("all.csv", "--label", "fraud", "--time", "when", "--learner", "opauc")


@pytest.mark.parametrize("budget", [None, "6/day"])
def test_labels_of_alerts_alone_and_what_they_let_estimate(lopsided, rows, labelled, budget):
    X, y, times = rows
    rule = () if budget is None else ("--alerts", budget)
    more = (*rule, "--labels-for", "alerts", "--explore", "0.2", "--delay", "12h", "--seed", "3")
    facts = said(lopsided, "evaluate", *labelled, *more)
    learner = lp.StreamPipeline(lp.OnlineScaler(), lp.OPAUC(threshold="f1", random_state=3))
    run = Evaluation(learner, delay="12h", selective=SelectiveLabels(0.2, seed=3), classes=[0, 1])
    decided = None if budget is None else AlertBudget.parse(budget)
    run.step(X, y, times=times, alert=decided and (lambda part, scores: decided.decide(times[part], scores)))
    record, estimated = facts["record"], facts["estimated"]
    assert record["auroc"] == pytest.approx(auroc(y, run.scores), abs=1e-12)
    assert record["n"] == N and estimated["n"] == np.count_nonzero(run.chances) < N / 2
    assert estimated["auroc"] == pytest.approx(auroc(y, run.scores, sample_weight=run.chances), abs=1e-12)
    assert estimated["rows"] == pytest.approx(N, rel=0.15)
    if budget is not None:
        hits = int((run.alerted & (y == 1)).sum())
        assert record["alert_precision"] == pytest.approx(hits / run.alerted.sum()) == estimated["alert_precision"]
        assert estimated["alert_recall"] == pytest.approx(hits / run.chances[y == 1].sum())
    learned = said(lopsided, "learn", *labelled, *more, "-o", "m")
    assert learned["labels_seen"] == estimated["n"] == learned["late"]["learned"]
    in_words = lopsided("evaluate", *labelled, *more).stdout
    assert f"by the {estimated['n']:,} labels that were seen, of {N}: AUROC {estimated['auroc']:.3f}" in in_words


def test_a_selection_goes_on_where_it_was(lopsided, labelled, tmp_path):
    more = (*labelled[1:], "--labels-for", "alerts", "--explore", "0.2", "--alerts", "6/day")
    write = in_two(tmp_path / "all.csv")
    assert lopsided("learn", "1.csv", "2.csv", *more, "-o", "whole").returncode == 0
    write("too,few\n")
    assert lopsided("learn", "1.csv", "2.csv", *more, "-o", "m").returncode == 2
    write()
    assert lopsided("learn", "1.csv", "2.csv", "--resume", "m").returncode == 0
    assert lp.load(tmp_path / "m").to_bytes() == lp.load(tmp_path / "whole").to_bytes()


@pytest.mark.parametrize("command", ["evaluate", "learn", "tune"])
def test_rows_without_a_label_count_as_negative_after_a_while(lopsided, rows, tmp_path, command):
    X, y, times = rows
    known = (y == 1) | (np.arange(N) % 3 == 0)
    words = np.where(known, np.where(y == 1, "fraud", "ok"), "")
    lines = [f"{a!r},{b!r},{t:.0f},{word}" for (a, b), t, word in zip(X.tolist(), times, words, strict=True)]
    (tmp_path / "d.csv").write_text("\n".join(["a,b,when,kind", *lines]) + "\n")
    more = {"learn": ["-o", "m"], "tune": ["--candidates", 1], "evaluate": []}[command]
    options = ("--time", "when", "--positive", "fraud", "--learner", "opauc", "--delay", "1d")
    done = lopsided(command, "d.csv", *options, "--unlabelled", "negative:3d", "--json", *more)
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    late = LateLearner(lp.StreamPipeline(*PIPELINE), delay="1d", unlabelled="negative:3d", classes=[0, 1])
    scores = late.progressive_scores(X, np.where(known, y, np.nan), times=times)
    found = {"evaluate": lambda: facts["record"], "learn": lambda: facts, "tune": lambda: facts["candidates"][0]}
    if command != "tune":  # which draws other parameters
        exact = auroc(y[known], scores[known])
        assert found[command]()["auroc"] == pytest.approx(exact, abs=1e-12 if command == "evaluate" else 2e-3)
        assert facts["late"]["as_negatives"] == late.counts.as_negatives > 0
    if command == "learn":
        assert facts["waiting"] == np.count_nonzero(~known) - late.counts.as_negatives  # they wait on in the file
    sentence = refusal_of(lopsided(command, "d.csv", *options[2:-2], "--unlabelled", "negative:3d", *more, "--force"))
    assert "The option --unlabelled must be a number of rows unless --time names a column" in sentence
    sentence = refusal_of(lopsided(command, "d.csv", "--unlabelled", "later", *more, "--force"))
    assert "The option --unlabelled must be drop, drop:30d or negative:30d" in sentence


def test_tune_ranks_by_the_alerts_of_a_day(lopsided, refused, labelled, rows):
    X, y, times = rows
    more = ("--learner", "koil", "--candidates", 4, "--alerts", "6/day")
    options = (*labelled[:5], *more)
    facts = said(lopsided, "tune", *options)
    shares = [entry["alerts"] for entry in facts["candidates"]]
    assert shares == sorted(shares, reverse=True) and shares[0] > 0.2
    gamma, C, rate = (facts["candidates"][0]["settings"][name] for name in ("gamma", "C", "learning_rate"))
    learner = lp.KOIL(gamma=gamma, C=C, learning_rate=rate, threshold="f1", random_state=0)
    scores = lp.StreamPipeline(lp.OnlineScaler(), learner).progressive_scores(X, y)
    flagged = AlertBudget(6).decide(times, scores)
    assert shares[0] == pytest.approx(y[flagged].mean())
    in_words = lopsided("tune", *options)
    assert "by alerts within 6/day" in in_words.stderr and "alerts right" in in_words.stdout
    assert "must not both be given" in refused("tune", *options, "--measure", "auprc")
    assert "by a column that --time names" in refused("tune", *labelled[:3], *more)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--labels", "labels.csv"), "The option --labels must come with --id, the column of identifiers in both"),
        (("--label-time", "known"), "The option --label-time must come with --labels, got 'known' alone."),
        (("--corrections", "learn"), "The option --corrections must come with --labels, got 'learn' alone."),
        (("--explore", "0.1"), "The option --explore must come with --labels-for alerts, got 0.1 alone."),
        ((*BY_ID, "--label-time", "known", "--delay", "1d"), "a label is known at its own time"),
        ((*BY_ID[:-4], "--label-time", "known"), "The option --label-time must come with --time"),
        ((*BY_ID, "--label-time", "knwon"), "labels.csv must hold the column 'knwon', got id, fraud, known."),
        (("--labels-for", "alerts"), "must come with --alerts or --explore: a threshold flags nothing before the"),
        ((*BY_ID, "--follow"), "The option --labels must come without --follow"),
        (("--labels", "labels.csv", "--id", "key"), "labels.csv must hold the column 'key', got id, fraud, known."),
    ],
)
def test_what_makes_no_sense_is_refused(refused, files, options, sentence):
    assert sentence in refused("evaluate", "rows.csv", *options)
