"""Figures of merit for a rare class: ranking quality and the balance of precision and recall."""

from lopsided.metrics.exact import auroc, average_precision, f1

__all__ = ["auroc", "average_precision", "f1"]
