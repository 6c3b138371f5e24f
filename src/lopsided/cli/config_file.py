"""The file of defaults: options as `lopsided.toml` names them, and a sentence for every name that nothing has."""

from __future__ import annotations

import difflib
import importlib
import tomllib
from collections.abc import Iterable, Mapping
from typing import Any

import click


def defaults_of(path: str, command: click.Command) -> dict[str, Any]:
    """What a file says about the options of a command: by name of the parameter, as click wants it."""
    content = _content(path)
    known = _by_name(command)
    _check_names(path, content)
    own = content.get(command.name or "", {})
    for name in own:
        if name not in known:
            raise click.UsageError(
                f"The table [{command.name}] of {path} must hold {', '.join(sorted(known))}, got {name}"
                f"{_near(name, known)}"
            )
    given = {**{name: value for name, value in content.items() if name in known}, **own}
    return {known[name].name or name: _as_option(path, name, known[name], value) for name, value in given.items()}


def _content(path: str) -> dict[str, Any]:
    try:
        with open(path, "rb") as file:
            return tomllib.load(file)
    except OSError as error:
        raise click.UsageError(f"The file {path} of --config must be readable, got: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise click.UsageError(f"The file {path} of --config must be TOML, got: {error}") from None


def _by_name(command: click.Command) -> dict[str, click.Option]:
    """The options that a file can give, by their long names; `id` is the column of identifiers to every command."""
    found = {
        name.removeprefix("--"): option
        for option in command.params
        if isinstance(option, click.Option) and option.name != "config"
        for name in option.opts
        if name.startswith("--")
    }
    return found | {"id": found["id-column"]} if "id-column" in found else found


def _check_names(path: str, content: Mapping[str, Any]) -> None:
    """What no command has is a slip of the pen, which would pass without any effect."""
    options, commands = _known_to_any()
    for name, value in content.items():
        if name in commands and not isinstance(value, dict):
            raise click.UsageError(f"The entry {name} of {path} must be a table of options, got {value!r}")
        if name not in options | commands:
            rule = "a long option of a command"
            if isinstance(value, dict):
                rule = f"named after one of the commands {', '.join(sorted(commands))}"
            near = _near(name, options | commands)
            raise click.UsageError(f"The {_kind(value)} {name} of {path} must be {rule}, got none such{near}")


def _known_to_any() -> tuple[set[str], set[str]]:
    """The options of all commands that read such a file, and these commands."""
    from lopsided.cli.main import COMMANDS

    options, commands = set(), set()
    for name, entry in COMMANDS.items():
        command = getattr(importlib.import_module(entry.module), entry.function)
        if any(parameter.name == "config" for parameter in command.params):
            commands.add(name)
            options |= set(_by_name(command))
    return options, commands


def _kind(value: Any) -> str:
    return "table" if isinstance(value, dict) else "entry"


def _near(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.6)
    return f" (near: {', '.join(near)})" if near else ""


def _as_option(path: str, name: str, option: click.Option, value: Any) -> Any:
    """A value as click takes it: lists for what may be repeated, NAME=VALUE for entries of a table."""
    if isinstance(value, dict):
        if "=" not in str(option.metavar):
            raise click.UsageError(f"The entry {name} of {path} must be a value, got a table")
        return [f"{key}={_written(part)}" for key, part in value.items()]  # set = {C = 4, gamma = "auto"}
    if option.multiple:
        return value if isinstance(value, list) else [value]
    if isinstance(value, list):
        raise click.UsageError(f"The entry {name} of {path} must be one value, got {value!r}")
    return value


def _written(value: Any) -> str:
    return ",".join(map(_written, value)) if isinstance(value, list) else str(value)
