"""Settings of all tests: generated examples are the same in every run, and what takes long starts first."""

import gc

import pytest
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


@pytest.fixture(scope="session")
def kafka():
    """A Kafka cluster; topics are made by writing to them."""
    from brokers import Cluster  # its client is imported by those tests only that need it

    return Cluster()
