"""Whoever is not in the registry goes unchecked: nobody may be left out, and nobody may get in by mistake."""

import importlib
import inspect
import pkgutil
import subprocess
import sys

import pytest
from sklearn.base import BaseEstimator

import lopsided as lp
import lopsided.estimators
from lopsided.estimators import registry
from lopsided.estimators.state.arrays import ModelFileError

# What learners are derived from; no instance of these is of any use.
BASES = {
    "AddsUp",
    "Classifier", "OnlineClassifier", "CompiledLearner", "SupportLearner", "OnlineKernelLearner", "VotingLearner",
    "LinearLearner", "PointwiseLinearLearner", "ColumnsLearner", "SupportVectorLearner", "PoolViews", "TwoMemories",
    "CellsAsTheyCame", "FilePipeline", "PlainTable", "RenewsScale", "AddsRareEvents", "AddsSamples", "SampleViews",
    "RareViews", "SpeaksForItsLearner", "UnitesBuffers", "MergesMaps",
}  # fmt: skip
X, Y = [[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0, 1, 0]


@pytest.fixture
def registered():
    """Register for the length of one test."""
    names = []

    def register(kind, **claims):
        names.append(kind.__name__)
        return lp.register(kind, **claims)

    yield register
    for name in names:
        registry.forget(name)


def estimator_classes():
    found = {}
    for module in pkgutil.walk_packages(lopsided.estimators.__path__, "lopsided.estimators."):
        for name, kind in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if issubclass(kind, BaseEstimator) and kind.__module__ == module.name and not name.startswith("_"):
                found[name] = kind
    return found


def test_every_estimator_class_of_the_package_is_registered():
    found = estimator_classes()
    assert found.keys() >= BASES
    assert found.keys() - BASES == set(registry.names())
    assert all(registry.entry_of(found[name]).kind is found[name] for name in registry.names())


def test_every_entry_is_exported_and_lives_where_it_says():
    for entry in registry.entries():
        assert getattr(lp, entry.name) is entry.kind
        assert entry.name in lp.__all__ and entry.name in dir(lp)
        assert (
            entry.kind.__module__ == entry.module == f"lopsided.estimators.{entry.family}.{entry.module.split('.')[-1]}"
        )


def test_type_checkers_see_every_entry():
    """Names in a family's `if TYPE_CHECKING` are those of its entries."""
    for family in registry.FAMILIES:
        module = importlib.import_module(f"lopsided.estimators.{family}")
        source = inspect.getsource(module)
        for entry in module.ENTRIES:
            assert f"from {entry.module} import {entry.name} as {entry.name}\n" in source


def test_the_registry_costs_nothing_to_import():
    program = (
        "import sys, lopsided.estimators.registry; print({'numba', 'numpy', 'sklearn', 'scipy'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_every_entry_makes_small_instances_that_differ():
    for entry in registry.entries():
        instances = entry.instances()
        assert instances and all(type(instance) is entry.kind for instance in instances)
        assert len({str(instance) for instance in instances}) == len(instances)


# ---- learners of others ----


class Mine(lp.KOIL):
    """A learner of a user."""


def test_an_unregistered_class_cannot_be_saved_and_the_sentence_says_what_to_call(tmp_path):
    for model in (Mine(), lp.StreamPipeline(None, Mine()), lp.ExpertPool([Mine(), lp.OCS()])):
        with pytest.raises(
            ModelFileError, match=r"call lopsided.register\(Mine\).*Got .*Mine, which is not registered"
        ):
            model.partial_fit(X, Y).save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_a_class_that_only_shares_a_name_is_not_taken_for_ours(tmp_path):
    other = type("KOIL", (lp.KOIL,), {"__doc__": "Somebody's.", "__module__": __name__})
    assert registry.entry_of(other) is None
    with pytest.raises(ModelFileError, match="not registered"):
        other().partial_fit(X, Y).save(tmp_path / "model")


def test_a_registered_class_is_saved_and_loaded_alone_and_inside_of_others(tmp_path, registered):
    assert registered(Mine) is Mine
    for model in (Mine(random_state=0), lp.StreamPipeline(None, Mine(random_state=0)), lp.ExpertPool([Mine()])):
        model.partial_fit(X, Y).save(tmp_path / "model")
        loaded = lp.load(tmp_path / "model")
        assert type(loaded) is type(model) and str(loaded) == str(model)
        assert loaded.score_one([0.5, 0.5]) == model.score_one([0.5, 0.5])
    assert type(loaded.members_[0]) is Mine


def test_a_file_of_a_class_that_is_not_registered_names_it(tmp_path, registered):
    registered(Mine)
    Mine().partial_fit(X, Y).save(tmp_path / "model")
    registry.forget("Mine")
    with pytest.raises(ModelFileError, match=r"Got 'Mine': import the module that defines it"):
        lp.load(tmp_path / "model")


def test_a_registered_class_is_listed_and_inherits_claims(registered):
    from lopsided.cli.learners import learner_class, learner_names

    registered(Mine, on_command_line=True, trials=({"budget": 5},))
    assert "mine" in learner_names() and learner_class("mine") is Mine
    assert registry.can(Mine(), "bounded") and not registry.can(Mine(policy="unbounded"), "bounded")
    assert [instance.budget for instance in registry.entry("Mine").instances()] == [5]


def test_register_is_a_decorator_too_and_a_class_defined_anew_replaces_itself(registered):
    for _ in range(2):

        @registered
        class Again(lp.OCS):
            """As in a notebook, where a cell runs twice."""

        assert registry.entry_of(Again).kind is Again

    @lp.register(bounded=False)
    class Grows(lp.OCS):
        """With claims."""

    assert not registry.can(Grows(), "bounded")
    registry.forget("Grows")


@pytest.mark.parametrize("name", ["KOIL", "koil", "OnlineScaler"])
def test_a_name_that_is_taken_is_refused(name):
    kind = type(name, (lp.KOIL,), {})
    with pytest.raises(lp.estimators.registry.RegistrationError, match=rf"must be new.* Got '{name}', and there is"):
        lp.register(kind)
    assert registry.entry_of(lp.KOIL).kind is lp.KOIL


@pytest.mark.parametrize("kind", [dict, lp.KOIL(), "KOIL", len, BaseEstimator])
def test_what_is_no_learner_is_refused(kind):
    with pytest.raises(registry.RegistrationError, match="must be a class derived from"):
        lp.register(kind)


def test_an_unknown_claim_is_refused():
    with pytest.raises(registry.RegistrationError, match=r"must be fields of .*Got 'fast'"):
        lp.register(Mine, fast=True)
    assert registry.entry("Mine") is None


def test_the_learners_of_the_package_cannot_be_forgotten():
    registry.forget("KOIL")
    assert registry.entry("KOIL") is not None
