"""Bayesian rankers over many kernels: from a whole set, and online within two buffers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lopsided.estimators import trial_parts
from lopsided.estimators.entry import Entry

if TYPE_CHECKING:
    from lopsided.estimators.bayesian.b2rmk import B2RMK as B2RMK
    from lopsided.estimators.bayesian.ob2rmk import OB2RMK as OB2RMK


def _entry(name: str, file: str, *trials: dict[str, Any], **claims: Any) -> Entry:
    module = f"lopsided.estimators.bayesian.{file}"
    return Entry(name, module, "bayesian", trials, keeps_vectors=True, **claims)


_QUICK = {"kernels": trial_parts.two_kernels, "max_sweeps": 3}
_QUICK_STEPS = _QUICK | {"n_iterations": 1, "budget": 6}

ENTRIES: tuple[Entry, ...] = (
    _entry(
        "B2RMK",
        "b2rmk",
        _QUICK,
        _QUICK | {"kernel_prior": (0.2, 0.5)},
        online=False,
        on_command_line=False,
        bounded=False,
    ),
    _entry(
        "OB2RMK",
        "ob2rmk",
        _QUICK_STEPS | {"warm_up": 78, "refit": 25},
        mergeable=True,
    ),
)
