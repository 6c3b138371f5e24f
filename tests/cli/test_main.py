"""The group of commands: quick, complete, and polite when it refuses."""

import importlib
import json
import subprocess
import sys
import warnings

import click
import pytest

from lopsided.cli import main
from lopsided.version import __version__


def test_the_command_line_imports_nothing_heavy():
    modules = ", ".join(["lopsided.cli.main", *(entry.module for entry in main.COMMANDS.values())])
    program = f"import json, sys; import {modules}; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = set(json.loads(done.stdout))
    assert "lopsided.cli.main" in loaded
    assert not loaded & {"numba", "sklearn", "scipy", "numpy", "rich", "matplotlib", "pyarrow"}


def test_help_lists_all_commands_at_once(installed):
    done = installed("--help")
    assert done.returncode == 0
    for name in main.COMMANDS:
        assert f"  {name}" in done.stdout


def test_no_command_is_a_cry_for_help(lopsided):
    assert lopsided().stdout == lopsided("--help").stdout


@pytest.mark.parametrize("name", sorted(main.COMMANDS))
def test_every_command_is_where_the_list_says_and_explains_itself(name):
    entry = main.COMMANDS[name]
    command = getattr(importlib.import_module(entry.module), entry.function)
    assert isinstance(command, click.Command)
    assert command.name == name
    assert command.help
    assert all(option.help for option in command.params if isinstance(option, click.Option))
    assert main.run([name, "--help"]) == 0


def test_an_unknown_command_is_told_the_known_ones(refused):
    sentence = refused("lern")
    assert f"must be one of {', '.join(sorted(main.COMMANDS))}" in sentence
    assert "got 'lern'" in sentence


def test_an_unknown_option_is_refused(refused):
    assert "--nonsense" in refused("evaluate", "--nonsense")


def test_version_says_what_runs_here(installed):
    done = installed("version")
    assert done.returncode == 0
    said = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
    assert said["lopsided"] == __version__
    assert set(said) == {"lopsided", "Python", "numpy", "numba", "pyarrow", "scikit-learn", "CPU"}
    assert installed("--version").stdout == f"lopsided {__version__}\n"


def failing(error):
    def fail(*_, **__):
        raise error

    return fail


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (FileNotFoundError(2, "No such file or directory", "a.csv"), 2, "error: The file a.csv must be accessible"),
        (OSError("disk on fire"), 2, "error: The operating system must let lopsided read and write"),
        (ValueError("The x must be y, got z."), 2, "error: The x must be y, got z."),
        (ModuleNotFoundError("install it", name="matplotlib"), 2, "error: install it"),
        (click.Abort(), 130, "interrupted"),
        (click.ClickException("no"), 2, "error: no"),
    ],
)
def test_what_a_user_can_mend_is_one_line(monkeypatch, capsys, error, code, said):
    monkeypatch.setattr(main.cli, "main", failing(error))
    assert main.run([]) == code
    assert capsys.readouterr().err.startswith(said)


@pytest.mark.parametrize("bug", [TypeError("a bug"), ModuleNotFoundError("a bug", name="lopsided.nothing")])
def test_a_bug_shows_itself(monkeypatch, bug):
    monkeypatch.setattr(main.cli, "main", failing(bug))
    with pytest.raises(type(bug), match="a bug"):
        main.run([])


def test_warnings_are_one_line_too(monkeypatch, capsys):
    def warn(**_):
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.warn("steps were left out", UserWarning, stacklevel=1)

    monkeypatch.setattr(main.cli, "main", warn)
    assert main.run([]) == 0
    assert capsys.readouterr().err == "warning: steps were left out\n"
