"""Send the rows of a CSV file to a service as events: what is known already makes a model, what is new gets a score.

Columns named id, time and label are what they say; a blank label is not known yet. All others are learned from. Rows
that were sent before, by their id, change nothing.

python events_from_csv.py http://127.0.0.1:8080 cards payments.csv > scores.csv
"""

import csv
import sys
from itertools import islice

from lopsided.client import Client


def cell(text):
    """A number if it is one, None if there is nothing."""
    try:
        return float(text)
    except ValueError:
        return text or None


def event(row):
    """What the service is sent of a row; None is not sent."""
    name, time, label = (row.pop(column, "") for column in ("id", "time", "label"))
    columns = {column: cell(text) for column, text in row.items()}
    return {"id": name or None, "time": cell(time), "label": int(label) if label else None, "columns": columns}


address, model, path = sys.argv[1:]
with Client(address) as service, open(path, newline="") as file:
    service.make_model(model)
    lines, output = csv.DictReader(file), csv.writer(sys.stdout)
    output.writerow(["id", "score", "probability", "alert"])
    while rows := [event(row) for row in islice(lines, 1000)]:
        for answer in service.score_many(model, rows):
            output.writerow([answer.id, answer.score, answer.probability, int(answer.alert)])
