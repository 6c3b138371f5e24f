"""Files as people have them: money, foreign dates, no header, other encodings; shrinking files, time that goes back."""

import gzip
import io
import json
import os

import numpy as np
import pandas as pd
import pytest

import lopsided as lp
from lopsided.feeds import FeedWarning
from lopsided.streams import StreamError
from lopsided.streams.sources import Sources

N = 120
AMOUNTS = [f"${1000 * n + 7:,}.50" if n % 2 else f"({n}.00)" for n in range(N)]
DAYS = [str(np.datetime64("2024-01-01") + n) for n in range(N)]
FOREIGN = [f"{day[8:]}/{day[5:7]}/{day[:4]}" for day in DAYS]
ROWS = [{"amount": a, "day": d, "y": n % 5 == 0} for n, (a, d) in enumerate(zip(AMOUNTS, FOREIGN, strict=True))]
FRAME = pd.DataFrame(ROWS)


def gathered(source, **arguments):
    feed = lp.open_feed(source, label="y", **arguments)
    return feed.schema, np.vstack([rows.X for rows in feed])


def test_forms_are_read_in_every_format(tmp_path):
    (tmp_path / "a.csv").write_text(FRAME.to_csv(index=False))
    (tmp_path / "a.ndjson").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    FRAME.to_parquet(tmp_path / "a.parquet")
    schema, X = gathered(FRAME)
    assert str(schema).splitlines() == [
        "amount  number written $1,234.50, (1.00) for -1",
        "day     date written day/month/year as weekday and day of month (no hour: always midnight)",
    ]
    expected = [1000 * n + 7.5 if n % 2 else -n for n in range(N)]
    np.testing.assert_array_equal(X[:, 0], expected)
    iso = FRAME.assign(amount=expected, day=DAYS)
    np.testing.assert_array_equal(X, gathered(iso)[1])
    for name in ("a.csv", "a.ndjson", "a.parquet"):
        found, rows = gathered(tmp_path / name)
        assert found == schema
        np.testing.assert_array_equal(rows, X)


@pytest.mark.parametrize("ending", ["csv", "ndjson"])
def test_wrong_cells_are_told_by_line_and_field(tmp_path, ending):
    path = tmp_path / f"a.{ending}"
    bad = [*ROWS, {**ROWS[0], "amount": "€5"}, {**ROWS[0], "day": "12/31/2024"}, ROWS[0]]
    lines = [json.dumps(row) for row in bad]
    path.write_text(pd.DataFrame(bad).to_csv(index=False) if ending == "csv" else "\n".join(lines) + "\n")
    line = N + 1 + (ending == "csv")
    with pytest.raises(StreamError) as stopped:
        gathered(path)
    where = f"Column 'amount' in line {line} of {path}"
    assert str(stopped.value) == f"{where} must be a number written like $1,234.50, (1.00) for -1, got '€5'."
    with pytest.warns(FeedWarning) as told:
        assert len(gathered(path, on_error="skip")[1]) == N + 1
    assert f"line {line + 1} of {path} must be a date written as day/month/year, got '12/31/2024'" in str(
        told[1].message
    )


def test_plain_numbers_are_read_as_before(tmp_path):
    """A column of plain numbers goes straight to float64, and has no form."""
    (tmp_path / "a.csv").write_text("a,y\n" + "".join(f"{n}.5,{n % 2}\n" for n in range(60)))
    feed = lp.open_feed(tmp_path / "a.csv")
    (expected, _) = lp.encoding.TableEncoder(feed.schema).expected(feed.labels)
    assert expected.form is None and not expected.is_read_as_text
    feed.close()


def test_a_model_keeps_the_forms_of_its_columns(tmp_path):
    feed = lp.open_feed(FRAME, label="y")
    model = lp.TablePipeline(feed.schema, learner=lp.OPAUC())
    for rows in feed:
        model.partial_fit(rows.X, rows.y)
    model.save(tmp_path / "m")
    (tmp_path / "few.csv").write_text(FRAME[3:4].to_csv(index=False))  # in which 04/01/2024 could be April
    (rows,) = lp.open_feed(tmp_path / "few.csv", model=lp.load(tmp_path / "m"), labelled=False)
    np.testing.assert_array_equal(rows.X, gathered(FRAME)[1][3:4])


# ---------------------------------------------------------------- headers

DATA = "5.1,red,NO,1\n4.9,blue,SE,0\n" * 30


def test_a_first_row_of_data_is_told_and_can_be_read(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(DATA)
    with pytest.warns(FeedWarning, match="first row of a.csv looks like data and not like a header: '5.1' is a number"):
        lp.open_feed(path, label="1").close()
    feed = lp.open_feed(path, header=False, label="column_4")
    assert [column.name for column in feed.schema.columns] == ["column_1", "column_2", "column_3"]
    assert feed.schema.label == "column_4"
    (rows,) = feed
    assert rows.n_rows == 60 and rows.X[0, 0] == 5.1
    path.write_text("red,NO,1\nblue,SE,0\n" * 30)
    with pytest.warns(FeedWarning, match="'red' and 'NO' are also values of their columns"):
        lp.open_feed(path, label="1").close()


def test_what_cannot_be_a_header_says_what_would_help(tmp_path):
    for text in ("1,2,3\n4,5,6\n", "0,red,0\n1,blue,1\n"):
        (tmp_path / "a.csv").write_text(text * 20)
        with pytest.raises(StreamError) as refused:
            lp.open_feed(tmp_path / "a.csv")
        assert refused.value.argument == "header"


@pytest.mark.parametrize("header", ["a,2019,2020,y", "0,1,2,3x", "fraud,a,b,y"])
def test_usual_headers_are_not_doubted(tmp_path, header):
    (tmp_path / "a.csv").write_text(f"{header}\n" + "fraud,2,3,1\nok,3,4,0\n" * 30)
    lp.open_feed(tmp_path / "a.csv", label=header.split(",")[-1]).close()


def test_a_file_without_a_header_goes_on_where_it_was_left(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(DATA)
    feed = lp.open_feed(path, header=False, label="column_4")
    model = lp.TablePipeline(feed.schema, learner=lp.OPAUC())
    for rows in feed:
        model.partial_fit(rows.X, rows.y)
    path.write_text(DATA + "7.7,red,NO,1\n")
    with pytest.warns(FeedWarning, match="continues after the 60 rows"):
        (more,) = lp.open_feed(path, header=False, model=model, bookmarks=feed.bookmarks())
    assert more.X[:, 0].tolist() == [7.7]
    refused = pytest.raises(StreamError, match="must hold the label column 'column_4'")
    with pytest.warns(FeedWarning, match="looks like data and not like a header"), refused:
        lp.open_feed(path, model=model)


# ---------------------------------------------------------------- encodings

TEXT = "naïve,größe,y\n" + "".join(f"{n}.5,{'Ærø' if n % 2 else 'Ål'},{n % 3 == 0}\n" for n in range(60))


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-16-le", "utf-8"])
@pytest.mark.parametrize("packed", [False, True])
def test_encodings(tmp_path, encoding, packed):
    data = TEXT.encode(encoding)
    path = tmp_path / ("a.csv.gz" if packed else "a.csv")
    path.write_bytes(gzip.compress(data) if packed else data)
    schema, X = gathered(path, encoding=encoding)
    assert [column.name for column in schema.columns] == ["naïve", "größe"]
    assert schema.columns[1].known == ("Ål", "Ærø")
    (tmp_path / "plain.csv").write_text(TEXT)
    np.testing.assert_array_equal(X, gathered(tmp_path / "plain.csv")[1])


def test_the_mark_of_utf_16_is_enough(tmp_path):
    (tmp_path / "a.csv").write_bytes(TEXT.encode("utf-16"))
    assert len(gathered(tmp_path / "a.csv")[1]) == 60


def test_characters_that_are_cut_between_two_readings():
    from lopsided.streams.transcoding import Transcoded

    text = "Ærø 😀 " * 50
    source = Transcoded(io.BytesIO(text.encode("utf-16-le")), "utf-16-le", is_followed=False, closes=True)
    parts = []
    while part := source.read(3):
        parts.append(part)
    assert b"".join(parts).decode() == text


@pytest.mark.parametrize(
    ("encoding", "data", "sentence"),
    [
        (None, TEXT.encode("latin-1"), "must be UTF-8 text, got byte 0xef at byte 3 of the line"),
        (None, "a,b,y".encode("utf-16-le"), "must be text without NUL bytes"),
        ("ascii", TEXT.encode("latin-1"), "must be UTF-8 text"),
        ("utf-16", TEXT.encode()[:-1], "must be text in utf-16, the encoding that was named"),
        ("cp1252", b"a,y\n\x81,1\n", "must be text in cp1252, the encoding that was named .*, got byte 0x81"),
        ("klingon", b"", "encoding of a feed must be one that Python knows, such as .*, got 'klingon'"),
        ("base64", b"", "encoding of a feed must be one that Python knows"),
    ],
)
def test_a_wrong_encoding_gets_a_sentence(tmp_path, encoding, data, sentence):
    (tmp_path / "a.csv").write_bytes(data)
    with pytest.raises(ValueError, match=sentence) as refused:
        gathered(tmp_path / "a.csv", encoding=encoding)
    assert refused.value.argument == "encoding"


def test_a_file_in_another_encoding_goes_on_where_it_was_left(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(TEXT.encode("latin-1"))
    feed = lp.open_feed(path, label="y", encoding="latin-1")
    model = lp.TablePipeline(feed.schema, learner=lp.OPAUC())
    for rows in feed:
        model.partial_fit(rows.X, rows.y)
    path.write_bytes((TEXT + "99.5,Ål,True\n").encode("latin-1"))
    with pytest.warns(FeedWarning, match="continues after the 60 rows"):
        (more,) = lp.open_feed(path, model=model, bookmarks=feed.bookmarks(), encoding="latin-1")
    assert more.X[:, 0].tolist() == [99.5]


@pytest.mark.parametrize("delimiter", ["\t", "\\t", "tab"])
def test_a_tab_as_a_shell_hands_it_over(tmp_path, delimiter):
    (tmp_path / "a.csv").write_text("a\tb, c\ty\n1,5\tx\t0\n2,5\tz\t1\n")
    schema, X = gathered(tmp_path / "a.csv", delimiter=delimiter)
    assert [column.name for column in schema.columns] == ["a", "b, c"] and X[:, 0].tolist() == [1.5, 2.5]


# ---------------------------------------------------------------- disorder


def test_a_file_that_shrinks_while_it_is_followed_is_told_once_and_counted(tmp_path, monkeypatch):
    path = tmp_path / "a.csv"
    path.write_text("a,y\n" + "1.5,0\n2.5,1\n" * 30)
    size, told, looks = path.stat().st_size, [], []

    def look(sources):
        """Somebody empties the file, fills it, and empties it again, while it is waited for."""
        looks.append(None)
        if len(looks) <= 5:
            os.truncate(path, [size, 10, 20, 5, 5][len(looks) - 1])
        return len(looks) <= 6

    monkeypatch.setattr(Sources, "_may_wait", look)
    feed = lp.open_feed(path, follow=True, tell=lambda line, _: told.append(line))
    assert sum(rows.n_rows for rows in feed) == 60
    feed.close()
    assert told == [
        f"note: {path} has shrunk to 10 bytes while it was followed, of which {size} had been read: rows that are "
        f"written before byte {size} are not read",
        f"note: {path} has shrunk 2 times",
    ]


def test_time_that_runs_backwards_is_told_once_and_counted(tmp_path):
    days = ["2024-01-05", "2024-01-03", "", "2024-01-04", "2024-01-02", "2024-01-09"]
    frame = pd.DataFrame({"a": np.arange(600) + 0.5, "when": days * 100, "y": [0, 1] * 300})
    with pytest.warns(FeedWarning) as told:
        for _ in lp.open_feed(frame, time="when"):
            pass
    assert [str(warning.message) for warning in told] == [
        "note: the time column 'when' runs backwards in the data frame: 2024-01-03T00:00:00 comes after "
        "2024-01-05T00:00:00",
        "note: the time column 'when' ran backwards 299 times",
    ]
    list(lp.open_feed(frame.assign(when=DAYS * 5).sort_values("when"), time="when"))  # says nothing
