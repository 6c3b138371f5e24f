"""A small table with an identifier, missing numbers, words and dates, some of whose rows are bad."""

import csv
import io

import numpy as np


def payment_rows(n, seed=0):
    rng = np.random.default_rng(seed)
    rows = []
    for t in range(n):
        bad = rng.random() < 0.15
        amount = "" if rng.random() < 0.1 else f"{rng.normal() + 3 * bad:.6g}"
        country = rng.choice(["NO", "SE", "DK"] if not bad else ["DK", "XX"])
        day = np.datetime64("2024-01-01T00:00") + np.timedelta64(int(37 * t), "m")
        rows.append(
            {"id": f"t{t}", "amount": amount, "country": str(country), "when": str(day), "kind": "bad" if bad else "ok"}
        )
    return rows


def csv_text(rows):
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
