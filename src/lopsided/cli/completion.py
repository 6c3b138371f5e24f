"""`lopsided completion`: what a shell needs to complete commands and options."""

from __future__ import annotations

import click


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print a script that teaches SHELL to complete `lopsided`.

    For bash: lopsided completion bash > ~/.lopsided-completion, and a line `source ~/.lopsided-completion` in .bashrc.
    """
    from click.shell_completion import get_completion_class

    from lopsided.cli.main import cli

    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(cli, {}, "lopsided", "_LOPSIDED_COMPLETE").source())
