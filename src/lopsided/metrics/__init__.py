"""Figures of merit for a rare class: ranking quality and the balance of precision and recall.

`auroc`, `average_precision` and `f1` are exact, over all scores at once; the classes follow a stream in fixed memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lopsided.metrics.exact import auroc, average_precision, f1

if TYPE_CHECKING:
    from lopsided.metrics.streaming import AUPRC, AUROC, Confusion, WindowedAUROC

_STREAMING = ("AUPRC", "AUROC", "Confusion", "WindowedAUROC")

__all__ = ["AUPRC", "AUROC", "Confusion", "WindowedAUROC", "auroc", "average_precision", "f1"]


def __getattr__(name: str) -> Any:
    """The streaming ones bring compiled code with them: not before they are asked for."""
    if name in _STREAMING:
        from lopsided.metrics import streaming

        return getattr(streaming, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
