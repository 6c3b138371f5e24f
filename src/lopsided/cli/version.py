"""`lopsided version`: what runs here, for a bug report."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform

import click

from lopsided.cli.options import with_json
from lopsided.version import __version__

_PACKAGES = ("numpy", "numba", "pyarrow", "scikit-learn")


@click.command()
@with_json
def version(as_json: bool) -> None:
    """Print the versions of lopsided and of what it runs on."""
    lines = {"lopsided": __version__, "Python": platform.python_version()}
    # Read from the installed files: importing the packages to ask them would take a second.
    lines |= {package: importlib.metadata.version(package) for package in _PACKAGES}
    lines["CPU"] = _cpu()
    if as_json:
        click.echo(json.dumps(lines))
        return
    width = max(map(len, lines))
    for name, value in lines.items():
        click.echo(f"{name:<{width}}  {value}")


def _cpu() -> str:
    """Kind, cores, and the name by which the compiler knows it, on which exact results depend."""
    from llvmlite import binding

    model = os.environ.get("NUMBA_CPU_NAME") or binding.get_host_cpu_name()
    return f"{platform.machine()} ({model}), {os.cpu_count()} cores, {platform.system()}"
