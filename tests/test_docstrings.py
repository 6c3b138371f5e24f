"""Every learner says what each parameter of its constructor means, on its own page, without sending the reader away."""

import ast
import importlib
import inspect
import re
from pathlib import Path

import pytest

import lopsided
from lopsided.estimators import registry

LEARNERS = registry.names()
SOURCE = Path(lopsided.__file__).parent
OTHERS = [
    f"{module}.{name}"
    for module in ("metrics", "kernels", "evaluate")
    for name in importlib.import_module(f"lopsided.{module}").__all__
]
CLASSES = "|".join([*LEARNERS, *importlib.import_module("lopsided.metrics").__all__])
SENDS_AWAY = re.compile(rf"\b[Aa]s (for|in|of) `?(lopsided\.)?({CLASSES})\b")


def described(text: str) -> dict[str, tuple[str, str]]:
    """The parameters that a docstring describes: the line of each (after its name) and its meaning."""
    section = re.search(r"^Parameters\n-+\n(.*?)(?=\n\n|\Z)", inspect.cleandoc(text), re.DOTALL | re.MULTILINE)
    found: dict[str, tuple[str, str]] = {}
    name = ""
    for line in section.group(1).splitlines() if section else []:
        if line.startswith(" "):
            found[name] = (found[name][0], f"{found[name][1]} {line.strip()}".strip())
        else:
            name, _, kind = line.partition(" : ")
            found[name] = (kind, "")
    return found


def docstrings():
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (text := ast.get_docstring(node)):
                yield f"{path.relative_to(SOURCE)}: {getattr(node, 'name', 'module')}", text


@pytest.mark.parametrize("name", LEARNERS)
def test_every_parameter_is_described_and_none_that_does_not_exist(name):
    learner = getattr(lopsided, name)
    assert learner.__doc__ is not None and "__doc__" in vars(learner)
    assert list(described(learner.__doc__)) == list(inspect.signature(learner).parameters)


@pytest.mark.parametrize("name", LEARNERS)
def test_every_parameter_has_a_meaning_what_it_may_be_and_its_default(name):
    learner = getattr(lopsided, name)
    told = described(learner.__doc__)
    for parameter in inspect.signature(learner).parameters.values():
        kind, meaning = told[parameter.name]
        assert kind and meaning.endswith("."), parameter.name
        _, _, default = kind.partition("default=")
        if parameter.default is parameter.empty:
            assert not default, parameter.name
        else:
            assert ast.literal_eval(default) == parameter.default, parameter.name


@pytest.mark.parametrize("path", OTHERS)
def test_parameters_described_elsewhere_exist(path):
    module, _, name = path.rpartition(".")
    value = getattr(importlib.import_module(f"lopsided.{module}"), name)
    told = described(value.__doc__ or "")
    assert not told or list(told) == [p for p in inspect.signature(value).parameters if p != "self"]
    assert all(kind and meaning for kind, meaning in told.values())


def test_no_docstring_sends_the_reader_to_another_class():
    assert [where for where, text in docstrings() if SENDS_AWAY.search(" ".join(text.split()))] == []


def test_the_checks_see_what_they_are_for():
    text = "Learns.\n\n    Parameters\n    ----------\n    C : float\n        Cost.\n    D : int\n\n    Examples\n"
    assert described(text) == {"C": ("float", "Cost."), "D": ("int", "")}
    assert SENDS_AWAY.search("gamma : as for `KOIL`.") and not SENDS_AWAY.search("as in scikit-learn")
