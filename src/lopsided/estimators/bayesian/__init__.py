"""Bayesian rankers over many kernels: from a whole set, and online within two buffers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lopsided.estimators import trial_parts
from lopsided.estimators.entry import Entry

if TYPE_CHECKING:
    from lopsided.estimators.bayesian.b2rmk import B2RMK as B2RMK
    from lopsided.estimators.bayesian.ob2rmk import OB2RMK as OB2RMK


def _entry(name: str, file: str, *trials: dict[str, Any], **claims: Any) -> Entry:
    return Entry(name, f"lopsided.estimators.bayesian.{file}", "bayesian", trials, keeps_vectors=True, **claims)


_FEW_SWEEPS = {"kernels": trial_parts.two_kernels, "max_sweeps": 5}

ENTRIES: tuple[Entry, ...] = (
    _entry("B2RMK", "b2rmk", _FEW_SWEEPS, online=False, on_command_line=False, bounded=False),
    _entry(
        "OB2RMK",
        "ob2rmk",
        {**_FEW_SWEEPS, "n_iterations": 3, "budget": 15},
        {**_FEW_SWEEPS, "n_iterations": 3, "budget": 10, "variant": "published", "warm_up": 20},
    ),
)
