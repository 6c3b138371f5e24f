"""The group of all commands, and the one place where an error becomes a sentence and an exit code.

A command is one file with one click command and one line in `COMMANDS`. Its file is imported when it is called, and
it imports what it needs when it runs: `lopsided --help` must answer at once, and Numba alone takes half a second.
"""

from __future__ import annotations

import importlib
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, NoReturn

import click

from lopsided.cli.interrupts import INTERRUPTED
from lopsided.version import __version__

USER_ERROR = 2


class Entry(NamedTuple):
    """Where a command lives, and what the list of commands says of it."""

    module: str
    function: str
    summary: str


COMMANDS: dict[str, Entry] = {
    "compare": Entry("lopsided.cli.compare", "compare", "Learners, and their competitors, side by side on data sets."),
    "completion": Entry("lopsided.cli.completion", "completion", "Print a completion script for your shell."),
    "datasets": Entry("lopsided.cli.datasets", "datasets", "List the data sets on this machine, and how to get more."),
    "demo": Entry("lopsided.cli.demo", "demo", "A fraud desk, day by day: alerts, what they caught, a report."),
    "evaluate": Entry("lopsided.cli.evaluate", "evaluate", "Score and learn files row by row; print AUROC, F1, speed."),
    "explain": Entry("lopsided.cli.explain", "explain", "Explain one score: what speaks for it, what against it."),
    "export": Entry("lopsided.cli.export", "export", "Write a saved model as ONNX, for programs without Python."),
    "inspect": Entry("lopsided.cli.inspect", "inspect", "Show what a saved model is made of."),
    "learn": Entry("lopsided.cli.learn", "learn", "Learn from files or a feed in one pass; save the model."),
    "reproduce": Entry("lopsided.cli.reproduce", "reproduce", "Reproduce a published table and compare."),
    "score": Entry("lopsided.cli.score", "score", "Append a saved model's scores to the rows of files."),
    "serve": Entry("lopsided.cli.serve", "serve", "Score events over HTTP, learn from labels that come later."),
    "tune": Entry("lopsided.cli.tune", "tune", "Find a learner and its parameters in one pass through files."),
    "version": Entry("lopsided.cli.version", "version", "Print the versions of lopsided and of what it runs on."),
    "watch": Entry("lopsided.cli.watch", "watch", "Score files by a saved model, and say when they drift."),
    "warm-up": Entry("lopsided.cli.warm_up", "warm_up", "Compile for this machine now, not at the first use."),
}


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports one only when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, sorted."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command of this name."""
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        command: click.Command = getattr(importlib.import_module(entry.module), entry.function)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Click's own, with a sentence that lists the commands."""
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            ctx.fail(f"The command must be one of {', '.join(sorted(COMMANDS))}, got '{args[0]}'")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands in the help, written without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name].summary) for name in sorted(COMMANDS)])


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Start with `lopsided demo`. Exit codes: 0 done, 2 bad input or options (one sentence says what), "
    "3 `watch` has found drift, 130 interrupted by Ctrl-C and 143 by SIGTERM (what was learned is saved), 1 a bug.",
)
@click.version_option(__version__, message="lopsided %(version)s")
@click.pass_context
def cli(context: click.Context) -> None:
    """Learn from lopsided streams: rare classes, one example at a time, in bounded memory."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and leave with its exit code: 0, 2 for a user's error, 130 after Ctrl-C, 1 for a bug."""
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))


def run(arguments: Sequence[str]) -> int:
    """Run the command line; what a user can mend is said in one sentence, everything else is a bug and shows itself."""
    with warnings.catch_warnings():
        warnings.showwarning = _printing_warnings()
        try:
            code = cli.main(args=list(arguments), prog_name="lopsided", standalone_mode=False)
        except click.Abort:  # click's name for KeyboardInterrupt
            click.secho("interrupted", fg="yellow", err=True)
            return INTERRUPTED
        except click.UsageError as error:
            help_command = error.ctx.command_path if error.ctx else "lopsided"
            return _refuse(f"{error.format_message().rstrip('.')}; see `{help_command} --help`.")
        except click.ClickException as error:
            return _refuse(error.format_message())
        except ModuleNotFoundError as error:
            # An optional package says how to get it; a module of our own that is missing is a bug.
            if error.name is None or error.name.partition(".")[0] == "lopsided":
                raise
            return _refuse(str(error))
        except SystemExit:  # click's answer to a broken pipe: whoever reads our output has seen enough, as `head` has
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.__stdout__.fileno() if sys.__stdout__ else 1)
            return 0
        except OSError as error:
            return _refuse(_sentence_of(error))
        except ValueError as error:  # StreamError, ParameterError, LabelError, ModelFileError are ValueErrors
            return _refuse(_with_option(error, arguments))
    return code if isinstance(code, int) else 0


def _refuse(sentence: str) -> int:
    click.secho(f"error: {sentence}", fg="red", err=True)
    return USER_ERROR


def _with_option(error: ValueError, arguments: Sequence[str]) -> str:
    """What is wrong; and if the library says which of its arguments would help, the option of this command for it."""
    from lopsided.cli.naming import option_called

    argument = getattr(error, "argument", None)
    command = cli.get_command(click.Context(cli), arguments[0]) if argument and arguments else None
    option = option_called(argument, command) if argument and command else None
    return str(error) if option is None else f"{str(error).rstrip('.')}; see {option}."


def _sentence_of(error: OSError) -> str:
    if error.filename is None or error.strerror is None:
        return f"The operating system must let lopsided read and write its files, got: {error}."
    return f"The file {error.filename} must be accessible, got: {error.strerror}."


def _printing_warnings() -> Callable[..., None]:
    """Warnings without the line of code they come from, which a user of the command never wrote; each is said once."""
    said: set[str] = set()

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        if str(message) not in said:
            said.add(str(message))
            click.secho(f"warning: {message}", fg="yellow", err=True)

    return show
