"""The published figures, as facts: one CSV a table, with the source each was printed in.

The files are columns table, data, method, measure, value, std; a figure without a printed deviation has none.
"""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

SOURCES = {
    "koil": 'J. Hu, "Kernelized Online Imbalanced Learning", MPhil thesis, The Chinese University of Hong Kong, 2015',
    "oilk": 'H. Yang, J. Hu, M. R. Lyu, I. King, "Online Imbalanced Learning with Kernels", NIPS workshop, 2013',
    "spa": (
        'J. Lu, D. Sahoo, P. Zhao, S. C. H. Hoi, "Sparse Passive-Aggressive Learning for Bounded Online Kernel '
        'Methods", ACM TIST 9(4), 2018'
    ),
    "omcsl": (
        'Y. Yan, T. Yang, Y. Yang, J. Chen, "A Framework of Online Learning with Imbalanced Streaming Data", AAAI 2017'
    ),
    "b2rmk": ('C. Du, C. Du, G. Long, Q. He, Y. Li, "Online Bayesian Multiple Kernel Bipartite Ranking", UAI 2016'),
}


@dataclass(frozen=True)
class Cell:
    """One published figure."""

    table: str
    data: str
    method: str
    measure: str
    value: float
    deviation: float  # nan where none was printed


def source_of(table: str) -> str:
    """Where a table or figure was printed."""
    return SOURCES[table.split("-")[0]]


@lru_cache(maxsize=32)
def published_cells(table: str) -> tuple[Cell, ...]:
    """All figures of a table in the order of print; none for a table that is a picture.

    >>> cell = published_cells("koil-3.3")[0]
    >>> cell.data, cell.method, cell.value, cell.deviation
    ('sonar', 'KOIL_RS++', 0.955, 0.028)
    """
    path = files("lopsided.reproduce").joinpath("published", f"{table}.csv")
    if not path.is_file():
        return ()
    with path.open(encoding="utf-8") as file:
        return tuple(
            Cell(
                row["table"],
                row["data"],
                row["method"],
                row["measure"],
                float(row["value"]),
                float(row["std"]) if row["std"] else math.nan,
            )
            for row in csv.DictReader(file)
        )
