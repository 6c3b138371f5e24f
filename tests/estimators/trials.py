"""Walks over the registry for parametrised tests: nobody who is in it can be forgotten in them."""

import pytest

from lopsided.estimators import registry


def trials(*abilities, families=registry.FAMILIES, **facts):
    """Small unfitted instances of all classes of these families that claim these abilities."""
    instances = [
        instance
        for entry in registry.entries(**facts)
        if entry.family in families
        for instance in entry.instances()
        if all(entry.claims(ability, instance) for ability in abilities)
    ]
    assert instances
    return instances


def each(name, instances):
    """One test an instance."""
    return pytest.mark.parametrize(name, instances, ids=lambda instance: " ".join(str(instance).split())[:60])
