"""Alerts within a budget: so many a day, decided as rows come, and what the best of each day would have been."""

from lopsided.alerts.budget import AlertBudget
from lopsided.alerts.judging import AlertFigures, AlertReport, best_of_each_period, judged_alerts
from lopsided.alerts.periods import Period

__all__ = ["AlertBudget", "AlertFigures", "AlertReport", "Period", "best_of_each_period", "judged_alerts"]
