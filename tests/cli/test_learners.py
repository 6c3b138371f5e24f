"""Learners and parameters as they are typed."""

import pytest

from lopsided import KOIL, OILK
from lopsided.cli.learners import learner_class, learner_names, parsed_settings, parsed_value, settable_parameters
from lopsided.constraints import ParameterError
from lopsided.estimators import registry


def test_names_are_those_of_the_learners_in_lower_case():
    usual = {entry.name.lower() for entry in registry.entries(on_command_line=True)}
    assert set(learner_names()) == usual | {"auto", "expertpool", "b2rmk"}
    assert set(learner_names()) - set(learner_names(online=True)) == {"b2rmk"}
    assert not {"onlinescaler", "streampipeline", "tablepipeline"} & set(learner_names())
    assert learner_class("koil") is KOIL
    assert learner_class("OILK") is OILK


@pytest.mark.parametrize("name", ["koll", "onlinescaler", ""])
def test_other_names_are_refused_with_the_list(name):
    with pytest.raises(ParameterError, match=r"must be one of .*koil.*, got"):
        learner_class(name)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("4", 4),
        ("-1", -1),
        ("0.5", 0.5),
        ("1e-3", 0.001),
        ("True", True),
        ("false", False),
        ("None", None),
        ("rate:0.01", "rate:0.01"),
        ("50,100", (50, 100)),
        (" 7 ", 7),
    ],
)
def test_values_are_read_as_what_they_look_like(text, value):
    read = parsed_value(text)
    assert read == value
    assert type(read) is type(value)


def test_settings_become_parameters():
    assert parsed_settings(KOIL, ["C=4", "kernel=poly", "budget=50,100"]) == {
        "C": 4,
        "kernel": "poly",
        "budget": (50, 100),
    }


def test_what_options_set_is_not_for_set():
    assert not {"random_state", "pos_label", "shuffle"} & set(settable_parameters(KOIL))


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (["gama=1"], r"--set must name a parameter of KOIL \(C, learning_rate, .*gamma.*\), got 'gama'"),
        (["C"], "must be written NAME=VALUE, such as C=4, got 'C'"),
        (["C=1", "C=2"], "must name each parameter once, got 'C' twice"),
    ],
)
def test_wrong_settings_are_refused(settings, sentence):
    with pytest.raises(ParameterError, match=sentence):
        parsed_settings(KOIL, settings)
