"""Labels that come late: rows are scored when they come, wait, and are learned when their label is known.

>>> import numpy as np
>>> from lopsided import KOIL
>>> from lopsided.late import LateLearner
>>> late = LateLearner(KOIL(random_state=0), classes=["fraud", "ok"], unlabelled="negative:30d")
>>> late.score([[0.1], [0.9]], keys=["a", "b"], times=[0.0, 60.0]).tolist()
[0.0, 0.0]
>>> [str(outcome) for outcome in late.label(["b", "c"], ["ok", "fraud"])]
['learned', 'unknown']
>>> late.counts.waiting
1
"""

from lopsided.late.delay import Delay, Unlabelled
from lopsided.late.engine import LateLearner
from lopsided.late.outcomes import Counts, Outcome
from lopsided.late.selective import SelectiveLabels
from lopsided.late.store import CorrectableStore, MemoryStore, WaitingStore
from lopsided.late.waiting_rows import WaitingRows

__all__ = [
    "CorrectableStore",
    "Counts",
    "Delay",
    "LateLearner",
    "MemoryStore",
    "Outcome",
    "SelectiveLabels",
    "Unlabelled",
    "WaitingRows",
    "WaitingStore",
]
