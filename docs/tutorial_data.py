"""The files of the tutorial, in the current directory: `python docs/tutorial_data.py`.

Simulated card payments (`lopsided.datasets.card_stream`) as a bank would export them: an identifier, when, card, merchant,
amount, a few words, and whether it was a fraud. The first 60 days go to `payments.csv`, the 15 days after to `later.csv`.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from lopsided.datasets import card_stream

NAMES = ["payment", "when", "card", "merchant", "amount", "words", "fraud"]
WORDS = ["bread and cakes", "fuel", "weekly shop", "books", "lunch", "train ticket", "shoes", "phone credit", "cinema"]
FIRST = np.datetime64("2026-01-05T00:00:00")
DAYS, LATER = 60, 15

if __name__ == "__main__":
    stream = card_stream(150, 300, DAYS + LATER, random_state=7)
    columns = stream.columns
    rows = [
        [
            f"p{n:06d}",
            FIRST + np.timedelta64(int(t), "s"),
            f"C{card:04d}",
            f"M{shop:04d}",
            amount,
            WORDS[shop % 9],
            fraud,
        ]
        for n, (t, card, shop, amount, fraud) in enumerate(
            zip(*(columns[name] for name in ("time", "customer", "terminal", "amount")), stream.y, strict=True)
        )
    ]
    cut = int(np.searchsorted(stream.times, DAYS * 86_400.0))
    for name, part in (("payments.csv", rows[:cut]), ("later.csv", rows[cut:])):
        with Path(name).open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([NAMES, *part])
