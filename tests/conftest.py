"""Settings of all tests: generated examples are the same in every run, and what takes long starts first."""

import gc

from hypothesis import HealthCheck, settings

settings.register_profile(
    "repeatable",
    derandomize=True,
    deadline=None,
    max_examples=15,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("repeatable")


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


def pytest_collection_finish():
    """What is imported stays: the collector of garbage need not look through it again and again, 5 % of all time."""
    gc.collect()
    gc.freeze()
