"""Ratings of films in 1997 and 1998 (MovieLens 100K) as a stream: who will give one star of five?

The files are those of the PyPI package recbole (`pip install --no-deps recbole`, which is not imported): 100,000 rows,
6.1 % of them one star. A row is a user who opens a film; which stars it gets is known a day later.
"""

from __future__ import annotations

import csv
import importlib.util
from pathlib import Path

import numpy as np

from lopsided.datasets import Dataset

KEYS = ("user", "film")
_DAY, _WEEK = 86_400.0, 604_800.0


def ratings() -> Dataset:
    """The stream, by time: age, gender, work of the user; year and kinds of the film; hour and weekday as circles."""
    people, films = ({row[0]: row[1:] for row in _rows(kind)} for kind in ("user", "item"))
    rows = sorted(_rows("inter"), key=lambda row: float(row[3]))
    times = np.array([float(row[3]) for row in rows])
    users, items = [row[0] for row in rows], [row[1] for row in rows]
    works = sorted({person[2] for person in people.values()})
    kinds = sorted({kind for film in films.values() for kind in film[2].split()})
    columns: dict[str, np.ndarray] = {
        "age": np.array([float(people[user][0]) for user in users]),
        "is_male": np.array([people[user][1] == "M" for user in users]),
        "year": np.array([_year(films[item][1]) for item in items]),
    }
    columns |= {f"work={work}": np.array([people[user][2] == work for user in users]) for work in works}
    columns |= {f"kind={kind}": np.array([kind in films[item][2].split() for item in items]) for kind in kinds}
    for name, turn in (("hour", times / _DAY), ("week", times / _WEEK)):
        columns |= {f"{name}_sine": np.sin(2 * np.pi * turn), f"{name}_cosine": np.cos(2 * np.pi * turn)}
    return Dataset(
        name="ratings",
        X=np.column_stack(list(columns.values())).astype(np.float64),
        y=np.array([int(float(row[2]) == 1.0) for row in rows]),
        feature_names=list(columns),
        source="MovieLens 100K in recbole, PyPI",
        description="ratings of films, one star against two to five",
        times=times - times[0] // _DAY * _DAY,
        columns={"user": np.array(users), "film": np.array(items)},
    )


def _year(text: str) -> float:
    return float(text) if text.strip().isdigit() else 1995.0  # one film has none: the median


def _rows(kind: str) -> list[list[str]]:
    spec = importlib.util.find_spec("recbole")
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError("The ratings need `pip install --no-deps recbole`, got no such package.")
    path = Path(next(iter(spec.submodule_search_locations))) / "dataset_example" / "ml-100k" / f"ml-100k.{kind}"
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))[1:]
