"""Which label a command takes for the positive one, and what becomes of rows whose label is not known."""

import json

import numpy as np
import pytest

import lopsided as lp
from lopsided.evaluate import Evaluation

N = 300


def table(labels, path, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(len(labels), 2)) + np.array([[2.0 * (label in ("1", "bad", "fraud"))] * 2 for label in labels])
    rows = [f"{a:.6g},{b:.6g},{label}" for (a, b), label in zip(X, labels, strict=True)]
    path.write_text("\n".join(["a,b,kind", *rows]) + "\n")
    return X


def cycle(rare, common, n=N):
    return [rare if t % 10 == 3 else common for t in range(n)]


@pytest.mark.parametrize(
    ("rare", "common", "positive"),
    [
        ("1", "0", "1"),
        ("0", "1", "1"),
        ("-1", "1", "1"),
        ("False", "True", "true"),
        ("bad", "ok", "bad"),
        ("2", "7", "2"),
    ],
)
@pytest.mark.parametrize("command", ["evaluate", "tune"])
def test_one_and_true_are_positive_else_the_rarer_label(lopsided, tmp_path, command, rare, common, positive):
    table(cycle(rare, common), tmp_path / "d.csv")
    more = ["--candidates", 1, "--learner", "opauc"] if command == "tune" else ["--learner", "opauc"]
    done = lopsided(command, "d.csv", "--json", *more)
    assert done.returncode == 0, done.stderr
    assert f"positive label {positive} (against " in done.stderr
    is_common = positive.lower() == common.lower()
    said = f"note: the positive label is {positive}, the more common one: 270 of the first 300 rows have it"
    assert (f"{said}; see --positive" in done.stderr) == is_common


def test_a_positive_label_that_does_not_occur_is_held_against_those_that_do(lopsided, refused, tmp_path):
    table(cycle("bad", "ok"), tmp_path / "d.csv")
    sentence = refused("evaluate", "d.csv", "--positive", "bda", "--learner", "opauc")
    assert sentence == "The positive label of d.csv must be bad or ok, got 'bda'."
    table(cycle("bad", "ok", 1500), tmp_path / "d.csv")
    done = lopsided("evaluate", "d.csv", "--positive", "bda", "--learner", "opauc")
    note = "note: the positive label 'bda' is not among those of the first rows: 'ok' in 900 rows, 'bad' in 100 rows"
    assert f"{note}; see --positive" in done.stderr


def test_nothing_is_learned_about_a_positive_label_that_never_comes(lopsided, tmp_path):
    labels = cycle("bad", "ok", 1500)
    table(labels, tmp_path / "d.csv")
    call = ("learn", "d.csv", "--positive", "bda", "--learner", "opauc", "--output", "m")
    done = lopsided(*call)
    assert done.returncode == 2 and not (tmp_path / "m").exists()
    rule = "must occur among its labels, which begin with 'ok' in 900 rows, 'bad' in 100 rows"
    assert f"error: The positive label of d.csv {rule}, got 'bda'" in done.stderr
    table([*labels, "bda"], tmp_path / "d.csv")  # a class so rare that the first rows have none of it
    assert "rows   1,501, 1 positive" in lopsided(*call).stdout
    table(["0"] * 1500, tmp_path / "d.csv")  # a day without any fraud
    assert lopsided(*call[:2], "--positive", 1, *call[4:], "--force").returncode == 0


def with_blanks(labels):
    return ["" if t % 7 == 5 else label for t, label in enumerate(labels)]


@pytest.fixture
def blanks(tmp_path):
    labels = cycle("bad", "ok")
    X = table(with_blanks(labels), tmp_path / "d.csv")
    known = np.array([label != "" for label in with_blanks(labels)])
    return X, np.array([label == "bad" for label in labels]), known


def test_rows_without_a_label_are_scored_not_learned_counted_and_said(lopsided, blanks, tmp_path):
    _, positive, known = blanks
    n_blank = int((~known).sum())
    facts = {}
    for command, more in (("evaluate", ()), ("learn", ("--output", "m")), ("tune", ("--candidates", 1))):
        done = lopsided(command, "d.csv", "--learner", "opauc", "--json", *more)
        assert done.returncode == 0, done.stderr
        facts[command] = json.loads(done.stdout)
        assert facts[command]["blank"] == n_blank
        assert "note: rows without a label are scored, and not learned; see --blank" in done.stderr
    assert facts["evaluate"]["record"]["n"] == known.sum()
    assert facts["evaluate"]["record"]["positives"] == (positive & known).sum() == facts["learn"]["positives"]
    assert facts["evaluate"]["record"]["auroc"] == pytest.approx(facts["learn"]["auroc"], abs=1e-3)
    assert lp.load(tmp_path / "m").n_seen_ == facts["learn"]["rows_in_all"] == known.sum()
    assert f"{n_blank} without a label" in lopsided("learn", "d.csv", "--output", "n").stdout


def test_rows_without_a_label_are_written_with_their_scores(lopsided, blanks, tmp_path):
    known = blanks[2]
    for number, more in enumerate(((), ("--delay", 20))):
        out = f"out{number}.csv"
        done = lopsided("evaluate", "d.csv", "--learner", "opauc", *more, "-o", out, "--json")
        assert done.returncode == 0, done.stderr
        header, *lines = (tmp_path / out).read_text().splitlines()
        scores = np.array([float(line.split(",")[3]) for line in lines])
        positive = np.array([line.split(",")[2] == "bad" for line in lines])
        assert header == "a,b,kind,score,probability,predicted" and scores.size == N
        record = json.loads(done.stdout)["record"]
        assert record["auroc"] == pytest.approx(lp.metrics.auroc(positive[known], scores[known]), abs=1e-12)


def test_a_delay_does_not_make_blank_rows_wait(lopsided, blanks, tmp_path):
    known = blanks[2]
    done = lopsided("learn", "d.csv", "--learner", "opauc", "--delay", 20, "--output", "m", "--json")
    assert json.loads(done.stdout)["blank"] == (~known).sum()
    assert lp.load(tmp_path / "m").n_seen_ == known.sum()
    done = lopsided("evaluate", "d.csv", "--learner", "opauc", "--delay", 20, "--json")
    assert json.loads(done.stdout)["record"]["n"] == known.sum()


def test_blank_can_mean_the_negative_label_or_a_bad_row(lopsided, refused, blanks):
    positive, known = blanks[1:]
    done = lopsided("evaluate", "d.csv", "--learner", "opauc", "--blank", "negative", "--json")
    record = json.loads(done.stdout)["record"]
    assert (record["n"], record["positives"]) == (N, (positive & known).sum())
    sentence = refused("evaluate", "d.csv", "--learner", "opauc", "--blank", "error")
    assert sentence == "Label column 'kind' in line 7 of d.csv must be bad or ok, got nothing."


@pytest.mark.parametrize("form", ["csv", "ndjson", "parquet"])
def test_a_feed_says_which_labels_are_not_known_and_a_learner_takes_it_as_it_is(blanks, tmp_path, form):
    import pandas as pd

    X, positive, known = blanks
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "kind": np.where(positive, "bad", "ok")})
    frame.loc[~known, "kind"] = None
    if form == "csv":
        frame.to_csv(tmp_path / "t.csv", index=False, na_rep="NA")
    elif form == "ndjson":
        frame.to_json(tmp_path / "t.ndjson", orient="records", lines=True, double_precision=15)
    else:
        frame.to_parquet(tmp_path / "t.parquet")
    labels = frame["kind"][known].to_numpy(dtype=str)
    expected = lp.OPAUC(pos_label="bad").partial_fit(frame[["a", "b"]][known].to_numpy(), labels)
    model, asked = lp.OPAUC(pos_label="bad"), lp.OPAUC(pos_label="bad")
    with pytest.warns(lp.feeds.FeedWarning, match="rows without a label are scored, and not learned; see 'blank'"):
        feed = lp.open_feed(tmp_path / f"t.{form}", label="kind")
        for rows in feed:
            model.partial_fit(rows.X, rows.y)
            scores = asked.progressive_scores(rows.X, rows.y)
    assert feed.n_blank == (~known).sum() and np.array_equal(np.isnan(rows.signs), ~known)
    np.testing.assert_allclose(model.raw_scores(X), expected.raw_scores(X), atol=1e-12)
    assert model.n_seen_ == asked.n_seen_ == known.sum() and np.isfinite(scores).all() and scores[-1] != 0.0


def test_an_evaluation_keeps_its_threshold_from_rows_with_a_label(blanks, tmp_path):
    with pytest.warns(lp.feeds.FeedWarning), lp.open_feed(tmp_path / "d.csv", label="kind") as feed:
        rows = next(iter(feed))
    known = ~np.isnan(rows.signs)
    whole, part = (Evaluation(lp.OPAUC(pos_label="bad"), threshold="f1", unlabelled="skip") for _ in range(2))
    whole.step(rows.X, rows.y)
    part.step(rows.X[known], rows.y[known])
    assert whole.threshold == part.threshold and np.array_equal(whole.scores, part.scores)


def test_a_wrong_word_for_blank_is_refused(tmp_path):
    with pytest.raises(ValueError, match="must be one of unknown, negative, error, got 'zero'"):
        lp.open_feed(tmp_path / "d.csv", blank="zero")


def test_a_positive_label_that_never_comes_is_named(refused, tmp_path):
    rows = "".join(f"{n % 7},{'fraud' if n % 6 == 0 else 'ok'}\n" for n in range(1_100))  # not all are looked at first
    (tmp_path / "a.csv").write_text("amount,kind\n" + rows)
    sentence = refused("evaluate", "a.csv", "--label", "kind", "--positive", "frud", "--learner", "opauc")
    assert sentence.endswith("must hold two different labels, got one label: 'not frud' in 1100 rows.")


def test_a_column_that_is_not_there_is_told_with_its_option(refused, tmp_path):
    (tmp_path / "a.csv").write_text("amount,fraud\n" + "1,0\n2,1\n" * 60)
    for option in ("--time", "--id", "--ignore"):
        sentence = refused("evaluate", "a.csv", "--label", "fraud", option, "when", "--learner", "opauc")
        assert sentence == f"The columns must be among amount, fraud, got 'when'; see {option}."


def test_rows_without_a_label_are_written_with_their_own_scores(lopsided, tmp_path):
    """They stand among others, which are judged."""
    rows = "".join(f"{n},{n % 7 + 9 * (n % 6 == 0)},{'' if n % 3 == 1 else int(n % 6 == 0)}\n" for n in range(240))
    (tmp_path / "a.csv").write_text("n_of_row,amount,fraud\n" + rows)
    call = ("evaluate", "a.csv", "--label", "fraud", "--ignore", "n_of_row", "--learner", "opauc", "--scale", "none")
    assert lopsided(*call, "--output", "scores.csv").returncode == 0
    written = [line.split(",") for line in (tmp_path / "scores.csv").read_text().splitlines()[1:]]
    assert [int(cells[0]) for cells in written] == list(range(240))
    # OPAUC without an offset scores by one weight, which a row without a label leaves as it is.
    for row, following in zip(written[1::3], written[2::3], strict=True):
        weights = [float(cells[3]) / max(float(cells[1]), 1e-9) for cells in (row, following) if float(cells[1])]
        assert max(weights, default=0.0) == pytest.approx(min(weights, default=0.0))
