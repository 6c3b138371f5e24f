"""Send the labels of a CSV file (columns id and label) to a service. For cron: sending a label twice changes nothing.

0 6 * * *  python labels_from_csv.py http://127.0.0.1:8080 cards /exports/chargebacks.csv
"""

import csv
import sys
from collections import Counter
from itertools import islice

from lopsided.client import Client

address, model, path = sys.argv[1:]
with Client(address) as service, open(path, newline="") as file:
    outcomes, lines = Counter(), csv.DictReader(file)
    while rows := list(islice(lines, 1000)):
        labels = [{"id": row["id"], "label": int(row["label"])} for row in rows]
        outcomes.update(outcome.outcome for outcome in service.label_many(model, labels))
print(", ".join(f"{n} {outcome}" for outcome, n in outcomes.items()) or "no labels")
