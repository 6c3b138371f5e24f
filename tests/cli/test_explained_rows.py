"""`explain` shows remembered rows as they came, and finds the row to explain by its identifier."""

import json

import numpy as np
import pandas as pd

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
    assert "card_id" not in said
