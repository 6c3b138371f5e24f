"""`explain` shows remembered rows as they came, and finds the row to explain by its identifier."""

import json

import numpy as np
import pandas as pd
import pytest

import lopsided as lp

rng = np.random.default_rng(0)
N = 600
AMOUNTS = np.round(rng.lognormal(3.0, 1.0, N) * (1.0 + np.arange(N) / 100.0), 2)
ROWS = [
    {"who": f"T{t:05}", "amount": float(amount), "country": str(rng.choice(["NO", "SE", "DK", "XX"]))}
    for t, amount in enumerate(AMOUNTS)
]
Y = (np.quantile(AMOUNTS, 0.9) < AMOUNTS).astype(int)
X = np.column_stack([AMOUNTS, np.arange(N) % 7])


def test_commands_show_rows_and_find_them_by_their_identifiers(lopsided, tmp_path):
    frame = pd.DataFrame(ROWS).assign(fraud=Y)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    assert lopsided("learn", "rows.csv", "--label", "fraud", "--id", "who", "--learner=koil", "-o", "m").returncode == 0

    def said(*arguments):
        done = lopsided(*arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    by_id = json.loads(said("explain", "m", "rows.csv", "--id", "T00042", "--top", 99, "--json"))
    assert by_id == json.loads(said("explain", "m", "rows.csv", "--row", 43, "--top", 99, "--json"))
    assert len(by_id["parts"]) == 99
    for part in by_id["parts"]:
        was = ROWS[part["row"] - 1]
        assert part["id"] == was["who"] and part["columns"] == {"amount": was["amount"], "country": was["country"]}
    first = by_id["parts"][0]
    assert f"to {first['id']}, one of " in said("explain", "m", "rows.csv", "--id", "T00042", "--top", 1)
    frame.rename(columns={"who": "key"}).to_csv(tmp_path / "other.csv", index=False)
    other = json.loads(said("explain", "m", "other.csv", "--id", "T00042", "--id-column", "key", "--top", 99, "--json"))
    assert other == by_id
    lp.KOIL(random_state=0).fit(X, Y).save(tmp_path / "plain")
    numbers = pd.DataFrame(X, columns=["a", "b"]).assign(key=frame["who"])
    numbers.to_csv(tmp_path / "numbers.csv", index=False)
    assert said("explain", "plain", "numbers.csv", "--id", "T00007", "--id-column", "key") == said(
        "explain", "plain", "numbers.csv", "--row", 8
    )
    amount = repr(ROWS[1]["amount"])  # a column that is learned from may tell rows apart too
    assert said("explain", "m", "rows.csv", "--id", amount, "--id-column", "amount") == said(
        "explain", "m", "rows.csv", "--row", 2
    )


def test_a_key_that_is_not_learned_from_is_not_called_missing(lopsided, tmp_path):
    rows = "".join(f"{1000 + 7 * n:06d},{n % 7 + 3 * (n % 6 == 0)}.5,{int(n % 6 == 0)}\n" for n in range(120))
    (tmp_path / "a.csv").write_text("card_id,amount,fraud\n" + rows)
    assert lopsided("learn", "a.csv", "--label", "fraud", "--learner", "koil", "-o", "m").returncode == 0
    said = lopsided("explain", "m", "a.csv", "--row", "3").stdout
    assert "to row " in said and "amount=" in said
    assert lopsided("explain", "m", "a.csv", "--id", "001014", "--id-column", "card_id").stdout == said
    assert "card_id" not in said


DELAYS = {
    "rows": ("--delay", "70"),
    "time": ("--delay", "3d", "--time", "when"),
    "a rule": ("--delay", "70", "--unlabelled", "negative:100"),
    "labels": ("--labels", "labels.csv", "--delay", "2d", "--time", "when"),
}


@pytest.mark.parametrize("kind", DELAYS)
@pytest.mark.parametrize("learner", ["koil", "auto"])
def test_labels_that_come_late_change_nothing_in_what_is_shown(lopsided, tmp_path, kind, learner):
    frame = pd.DataFrame(ROWS).assign(when=[f"2026-03-{1 + t // 20:02}" for t in range(N)], fraud=Y)
    frame.to_csv(tmp_path / "prompt.csv", index=False)
    frame[["who", "fraud"]].to_csv(tmp_path / "labels.csv", index=False)
    frame.drop(columns="fraud" if kind == "labels" else []).to_csv(tmp_path / "late.csv", index=False)

    def shown(rows, *options):
        command = (
            "learn",
            rows,
            "--label",
            "fraud",
            "--id",
            "who",
            "--learner",
            learner,
            *options,
            "-o",
            "m",
            "--force",
        )
        explanation = ("explain", "m", "prompt.csv", "--row", 43, "--top", 99, "--json")
        for arguments in (command, explanation):
            done = lopsided(*arguments)
            assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)
        parts = [part for part in (*found["parts"], *found["nearest"]) if part.get("row")]
        return [(part["row"], part["id"], part["columns"]) for part in parts]

    prompt = shown("prompt.csv", *(("--time", "when") if "--time" in DELAYS[kind] else ()))
    assert shown("late.csv", *DELAYS[kind]) == prompt and len(prompt) >= (90 if learner == "koil" else 3)
    for row, identifier, columns in prompt:
        assert {"who": identifier, **columns} == ROWS[row - 1] | {"when": columns["when"]}


def test_rows_that_wait_in_a_file_are_shown_as_they_came_when_it_has_gone_on(lopsided, tmp_path):
    frame = pd.DataFrame(ROWS).assign(fraud=Y)
    rows = frame.drop(columns="fraud")
    rows[:400].to_csv(tmp_path / "first.csv", index=False)
    rows[400:].to_csv(tmp_path / "second.csv", index=False)
    frame[["who", "fraud"]][:250].to_csv(tmp_path / "early.csv", index=False)
    frame[["who", "fraud"]][250:].to_csv(tmp_path / "later.csv", index=False)
    options = ("--id", "who", "--label", "fraud", "--learner", "koil")
    for command in (
        ("first.csv", "--labels", "early.csv", *options, "-o", "m"),
        ("first.csv", "second.csv", "--labels", "early.csv", "--labels", "later.csv", "--resume", "m"),
    ):
        done = lopsided("learn", *command)
        assert done.returncode == 0, done.stderr
    model = lp.load(tmp_path / "m")
    numbers = model.support_numbers_.tolist()
    assert len(numbers) > 90 and max(numbers) > 400
    remembered = [model.remembered_row(number) for number in numbers]
    assert all(row == ROWS[int(row["who"][1:])] for row in remembered)
    assert sum(250 <= int(row["who"][1:]) < 400 for row in remembered) > 5  # these have waited in the file
