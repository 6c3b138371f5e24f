"""Whether a stream changes: an alarm over many series at once that knows days, and what it found.

`DriftAlarm` watches columns, scores and shares such as the precision of alerts; it knows no learner.
"""

from lopsided.drift.alarm import Alarm, DriftAlarm

__all__ = ["Alarm", "DriftAlarm"]
