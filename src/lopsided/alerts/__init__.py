"""Alerts: so many a day or a share of all rows, decided as rows come, and what the best would have been."""

from lopsided.alerts.budget import AlertBudget
from lopsided.alerts.judging import AlertFigures, AlertReport, best_of_each_period, judged_alerts
from lopsided.alerts.periods import Period
from lopsided.alerts.share import AlertShare

__all__ = [
    "AlertBudget", "AlertFigures", "AlertReport", "AlertShare", "Period", "best_of_each_period", "judged_alerts",
]  # fmt: skip
