"""The same files through the commands: what is guessed is said, and an option for what helps is named."""

import numpy as np
import pytest


def money_rows(n=120):
    rng = np.random.default_rng(0)
    lines = []
    for t in range(n):
        bad = t % 6 == 0
        amount = f"{1000 * rng.random() + 5000 * bad:,.2f}"
        day = np.datetime64("2024-01-01T00:00") + np.timedelta64(37 * t, "m")
        year, month, rest = str(day).split("-")
        lines.append(
            f'"${amount}";{rest[:2]}.{month}.{year} {rest[3:]};{4_000_000_000 + 97 * t};{"ja" if bad else "nein"}'
        )
    return lines


@pytest.fixture
def money(tmp_path):
    path = tmp_path / "money.csv"
    path.write_text("\n".join(["betrag;wann;card_id;betrug", *money_rows()]) + "\n")
    return path


def test_every_command_says_how_columns_are_read(lopsided, money):
    said = [
        "  betrag   number written $1,234.50",
        "  wann     date written day.month.year as hour, weekday and day of month",
        "  card_id  key (by its name), not learned from",
    ]
    for call in (
        ("learn", money, "-o", "m", "--learner", "opauc"),
        ("evaluate", money, "--learner", "opauc"),
        ("tune", money, "--learner", "opauc", "--candidates", 2),
    ):
        done = lopsided(*call)
        assert done.returncode == 0, done.stderr
        lines = done.stderr.splitlines()
        assert [line for line in lines if line.startswith("  ")] == said
        assert "warning" not in done.stderr
    assert lopsided("score", "m", money, "--output", "scores.csv").returncode == 0


def test_a_last_column_that_is_taken_as_the_label_is_named(lopsided, tmp_path):
    rows = "".join(f"{n},{int(n % 6 == 0)},{int(n % 4 == 0)}\n" for n in range(60))
    (tmp_path / "a.csv").write_text("amount,fraud,is_web\n" + rows)
    said = "note: no label column was named: the last one, 'is_web', is taken as the label; see --label"
    call = ("evaluate", "a.csv", "--learner", "opauc")
    assert said in lopsided(*call).stderr.splitlines()
    assert "no label column" not in lopsided(*call, "--label", "fraud").stderr
    (tmp_path / "a.csv").write_text("amount,fraud,Target\n" + rows)
    assert "no label column" not in lopsided(*call).stderr


def test_a_first_row_of_data_and_a_wrong_encoding(lopsided, refused, tmp_path):
    rows = "".join(f"{n}.25;{'Køb' if n % 3 else 'Salg'};{'ja' if n % 4 == 0 else 'nej'}\n" for n in range(60))
    (tmp_path / "a.csv").write_bytes(rows.encode("latin-1"))
    call = ("learn", "a.csv", "-o", "m", "--learner", "opauc", "--delimiter", ";")
    assert refused(*call).endswith("; see --encoding.")
    sentence = refused(*call, "--encoding", "latin-99")
    assert "must be one that Python knows, such as utf-8, latin-1, cp1252 or utf-16, got 'latin-99'" in sentence
    done = lopsided(*call, "--encoding", "latin-1")
    note = "note: the first row of a.csv looks like data and not like a header: '0.25' is a number; see --no-header"
    assert note in done.stderr.splitlines()
    done = lopsided(*call, "--encoding", "latin-1", "--label", "svindel", "--force")
    assert done.returncode == 2 and note in done.stderr.splitlines()  # why there is no such column
    done = lopsided(*call, "--encoding", "latin-1", "--no-header", "--force")
    assert "looks like" not in done.stderr and "rows   60" in done.stdout
    done = lopsided("score", "m", "a.csv", "--encoding", "latin-1", "--no-header")
    first, second = done.stdout.splitlines()[:2]
    assert first == "column_1;column_2;column_3;score;probability;predicted" and second.startswith("0.25;Salg;ja;")
    explained = lopsided("explain", "m", "a.csv", "--row", 60, "--encoding", "latin-1", "--no-header")
    assert explained.returncode == 0, explained.stderr


def test_the_row_that_is_explained_is_counted_without_a_header(lopsided, refused, tmp_path):
    good = "".join(f"{n}.25,{n % 2}\n" for n in range(40))
    (tmp_path / "a.csv").write_text(good)
    (tmp_path / "b.csv").write_text("x,0\n" + good)
    assert lopsided("learn", "a.csv", "-o", "m", "--learner", "opauc", "--no-header").returncode == 0
    assert "line 1 of b.csv" in refused("explain", "m", "b.csv", "--row", 1, "--no-header")
    assert lopsided("explain", "m", "b.csv", "--row", 2, "--no-header").returncode == 0


def test_a_tab_as_shells_hand_it_over_and_weeks(lopsided, tmp_path):
    rows = "".join(f"{n},5\t2024-01-{1 + n // 4:02}\t{int(n % 5 == 0)}\n" for n in range(100))
    (tmp_path / "a.csv").write_text("a\twhen\ty\n" + rows)
    call = ("evaluate", "a.csv", "--delimiter", r"\t", "--learner", "opauc", "--time", "when")
    for delay in ("2w", "2 weeks"):
        done = lopsided(*call, "--delay", delay)
        assert done.returncode == 0 and "  a     number written 1.234,50" in done.stderr


def test_doubts_name_the_option(lopsided, tmp_path):
    rows = "".join(f"{n},{'unknown' if n % 4 == 0 else n},{int(n % 5 == 0)}\n" for n in range(100))
    (tmp_path / "a.csv").write_text("x,age,y\n" + rows)
    done = lopsided("evaluate", "a.csv", "--learner", "opauc")
    (note,) = [line for line in done.stderr.splitlines() if line.startswith("note")]
    assert "column 'age' is taken as a category, although 75% of its first values are numbers" in note
    assert note.endswith("; see --kind")


def test_time_that_runs_backwards_is_told_once_and_counted(lopsided, tmp_path):
    rows = "".join(f"{n}.5,2024-01-{1 + n * 7 % 28:02},{int(n % 5 == 0)}\n" for n in range(100))
    (tmp_path / "a.csv").write_text("a,when,y\n" + rows)
    done = lopsided("learn", "a.csv", "--time", "when", "-o", "m", "--learner", "opauc")
    notes = [line for line in done.stderr.splitlines() if line.startswith("note")]
    assert notes == [
        "note: the time column 'when' runs backwards in a.csv: 2024-01-01T00:00:00 comes after 2024-01-22T00:00:00",
        "note: the time column 'when' ran backwards 24 times",
    ]


def test_a_configuration_can_say_that_there_is_no_header(lopsided, tmp_path):
    (tmp_path / "a.csv").write_text("".join(f"{n}.25,{n % 2}\n" for n in range(40)))
    (tmp_path / "lopsided.toml").write_text("no-header = true\n")
    assert lopsided("evaluate", "a.csv", "--learner", "opauc").returncode == 0


@pytest.mark.filterwarnings("always")  # as where the registry of those said before is lost
def test_what_compare_guesses_is_said_once(lopsided, tmp_path):
    rows = "".join(f"0{1 + n // 20}/01/2024,{n % 7},{int(n % 5 == 0)}\n" for n in range(100))
    (tmp_path / "a.csv").write_text("when,amount,fraud\n" + rows)
    done = lopsided("compare", "opauc", "--data", "a.csv")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("do not tell days from months") == 1
