"""Feeds for Python: from paths, patterns, directories, pipes and frames to rows that a learner takes as they are."""

import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pytest

import lopsided as lp
from lopsided.encoding import infer_schema
from lopsided.feeds import FeedWarning
from lopsided.labels import Signs
from lopsided.metrics import auroc
from lopsided.streams import StreamError

SOURCE = Path(lp.__file__).parent
ROWS = [(n % 7, "NO" if n % 3 else "XX", "yes" if n % 9 == 0 else "no") for n in range(180)]
FRAME = pd.DataFrame(ROWS, columns=["amount", "country", "fraud"])


@pytest.fixture
def folder(tmp_path):
    FRAME[:90].to_csv(tmp_path / "day1.csv", index=False)
    FRAME[90:].to_csv(tmp_path / "day2.csv", index=False)
    return tmp_path


def collected(source, **arguments):
    portions = list(lp.open_feed(source, label="fraud", **arguments))
    return np.vstack([rows.X for rows in portions]), np.concatenate([rows.y.names() for rows in portions])


def test_the_same_rows_from_everywhere(folder, monkeypatch):
    X, y = collected(FRAME)
    assert y.tolist() == FRAME["fraud"].tolist()
    files = [folder / "day1.csv", str(folder / "day2.csv")]
    monkeypatch.chdir(folder)
    for source in (files, folder, "*.csv", str(folder / "day?.csv"), pa.Table.from_pandas(FRAME), "feather.arrow"):
        if source == "feather.arrow":
            pa.feather.write_feather(FRAME, source)
        found, labels = collected(source)
        assert np.array_equal(found, X) and np.array_equal(labels, y)


def test_standard_input(folder, monkeypatch):
    (folder / "all.csv").write_text(FRAME.to_csv(index=False))
    with open(folder / "all.csv", "rb", buffering=0) as file:
        monkeypatch.setattr(sys, "stdin", type("In", (), {"buffer": file}))
        assert np.array_equal(collected("-")[0], collected(FRAME)[0])


def test_a_learner_takes_the_signs_as_they_are(folder):
    by_sign, by_name = lp.KOIL(random_state=0), lp.KOIL(random_state=0, pos_label="yes")
    for rows in lp.open_feed(f"{folder}/*.csv", label="fraud"):
        assert isinstance(rows.y, Signs) and rows.y.labels.positive == "yes"
        by_sign.partial_fit(rows.X, rows.y)
        by_name.partial_fit(rows.X, rows.y.names(), classes=["no", "yes"])
    assert by_sign.positive_label_ == "yes"
    assert np.array_equal(by_sign.support_weights_, by_name.support_weights_)


def test_a_frame_of_mixed_objects_and_missing_values():
    frame = pd.DataFrame({"a": [1.0, None, 3.0, 4.0], 7: ["x", 2, None, "x"], "y": [0, 1, 0, 0]})
    (rows,) = lp.open_feed(frame)
    assert np.isnan(rows.X[1, 0]) and rows.y.tolist() == [-1, 1, -1, -1]


def test_bad_rows_and_notes_are_warnings(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,y\n" + "1,0\n2,1\n" * 20 + "x,1\n")
    with pytest.raises(StreamError, match="line 42"):
        list(lp.open_feed(path))
    with pytest.warns(FeedWarning, match="left out: Column 'a' in line 42"):
        list(lp.open_feed(path, on_error="skip"))
    (tmp_path / "wide.svm").write_text("+1 1:1\n-1 2:1\n" * 320_000 + "+1 9:1\n-1 1:1\n")
    with pytest.warns(FeedWarning, match="indices beyond 2, .* ignored; see 'features' of open_feed"):
        list(lp.open_feed(tmp_path / "wide.svm"))
    told = []
    list(lp.open_feed(path, on_error="quarantine", quarantine=tmp_path / "q", tell=lambda *line: told.append(line)))
    assert len(told) == 1 and (tmp_path / "q").read_text().count("\n") == 1


@pytest.mark.parametrize(
    ("source", "arguments", "sentence", "argument"),
    [
        (FRAME, {"format": "xml"}, "format of a feed must be one of csv, ndjson", "format"),
        (FRAME, {"delimiter": "ab"}, "delimiter of a feed must be one character", "delimiter"),
        (FRAME, {"labelled": False}, "without labels must have a model", "model"),
        (FRAME, {"on_error": "cry"}, "must be one of stop, skip, quarantine", "on_error"),
        (FRAME, {"positive": "maybe", "label": "fraud"}, "must be no or yes, got 'maybe'", None),
        (3, {}, "must be a path, several of them or a data frame, got int", "source"),
        ([], {}, "got list", "source"),
        ("no*such.csv", {}, "must be an existing, readable file", None),
    ],
)
def test_what_cannot_be_opened(source, arguments, sentence, argument):
    with pytest.raises(ValueError, match=re.escape(sentence)) as caught:
        lp.open_feed(source, **arguments)
    assert getattr(caught.value, "argument", None) == argument


@pytest.mark.parametrize("room", ["streams", "feeds"])
def test_the_library_names_no_option_of_a_command(room):
    for path in (SOURCE / room).rglob("*.py"):
        code = re.sub(r"# -{3,}|^\s*-{3,}$", "", path.read_text(), flags=re.MULTILINE)
        assert "--" not in code, path
        assert "looked for" not in code, path
        assert "import click" not in code, path


def test_the_cells_of_a_row_are_those_of_the_file(tmp_path):
    frame = pd.DataFrame(
        {
            "payment": [f"p{n}" for n in range(100)],
            "amount": [None if n % 7 == 0 else n / 4 for n in range(100)],
            "when": pd.date_range("2024-01-01", periods=100, freq="h").strftime("%Y-%m-%dT%H:%M").tolist(),
            "country": ["" if n % 5 == 0 else f"C{n % 3}" for n in range(100)],
            "fraud": ["yes" if n % 9 == 0 else "no" for n in range(100)],
        }
    )
    frame.to_csv(tmp_path / "rows.csv", index=False)
    for with_ids in (False, True):
        feed = lp.open_feed(tmp_path / "rows.csv", label="fraud", id="payment", time="when")
        feed.with_ids = with_ids
        n = 0
        for rows in feed.slices(30):
            for row in range(rows.n_rows):
                cells = rows.cells(row)
                assert cells["amount"] == (None if n % 7 == 0 else n / 4)
                assert cells["country"] == (None if n % 5 == 0 else f"C{n % 3}")
                assert cells["when"].isoformat(timespec="minutes") == frame["when"][n]
                assert cells["payment"] == f"p{n}"  # of a feed with labels, whose rows may be shown again
                n += 1
        assert n == 100


def test_rows_of_libsvm_have_no_cells(tmp_path):
    (tmp_path / "rows.svm").write_text("".join(f"{1 if n % 4 == 0 else -1:+d} 1:{n}.5\n" for n in range(20)))
    (rows,) = lp.open_feed(tmp_path / "rows.svm").slices()
    assert rows.cells(3) == {}


def keyed_frame(n=1500):
    rng = np.random.default_rng(5)
    cards = rng.integers(0, 40, n)
    return pd.DataFrame({
        "card": [f"c{card}" for card in cards],
        "when": np.datetime64("2026-01-01") + 600 * np.arange(n).astype("timedelta64[s]"),
        "amount": rng.gamma(2.0, 20.0, n).round(2),
        "fraud": (rng.random(n) < np.where(cards < 4, 0.4, 0.01)).astype(int),
    })  # fmt: skip


@pytest.mark.parametrize("source", ["frame", "csv", "ndjson"])
def test_keys_give_rows_with_a_history(tmp_path, source):
    """A feed with keys and a pipeline of its schema are what the pipeline makes of the whole frame by itself."""
    frame = keyed_frame()
    if source == "csv":
        frame.to_csv(tmp_path / "rows.csv", index=False)
    elif source == "ndjson":
        frame.to_json(tmp_path / "rows.ndjson", orient="records", lines=True, date_format="iso", date_unit="s")
    path = frame if source == "frame" else tmp_path / f"rows.{source}"
    feed = lp.open_feed(path, label="fraud", time="when", keys=["card"], value="amount")
    model = lp.TablePipeline(feed.schema, learner=lp.FourierRanker(random_state=0))
    scores = [model.progressive_scores(rows.X, rows.y) for rows in feed]
    direct = lp.TablePipeline(
        infer_schema(frame[:1000], label="fraud", time="when", keys=["card"], value="amount"),
        learner=lp.FourierRanker(random_state=0),
    )
    expected = direct.progressive_scores(frame.drop(columns="fraud"), frame["fraud"], classes=[0, 1])
    assert np.array_equal(np.concatenate(scores), expected)
    assert model.history_.n_keys_ == 40 and feed.n_features == model.n_features_in_
    plain = lp.TablePipeline(
        infer_schema(frame, label="fraud", time="when", ignore=["card"]), learner=lp.FourierRanker(random_state=0)
    )
    without = plain.progressive_scores(frame.drop(columns="fraud"), frame["fraud"], classes=[0, 1])
    areas = [auroc(frame["fraud"][500:], found[500:]) for found in (expected, without)]
    assert areas[0] > areas[1] + 0.1


def test_keys_are_found_by_themselves_or_refused():
    frame = keyed_frame(300).rename(columns={"card": "card_id"})
    feed = lp.open_feed(frame, label="fraud", time="when", keys="auto", tell=lambda *_: None)
    assert feed.schema.history_keys == ("card_id",)
    with pytest.raises(ValueError, match=r"must be among .* got 'shop'"):
        lp.open_feed(frame, label="fraud", time="when", keys=["shop"])
    with pytest.raises(ValueError, match="time"):
        lp.open_feed(frame, label="fraud", keys=["card_id"])
