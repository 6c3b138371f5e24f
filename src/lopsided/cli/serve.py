"""`lopsided serve`: events are scored now, labels come later, and what was acknowledged is never lost."""

from __future__ import annotations

import logging
import shutil
import tempfile
from pathlib import Path

import click

from lopsided.constraints import ParameterError, bytes_in, seconds_in

_DATA = "lopsided-data"


@click.command()
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Where to listen; addresses that others can reach need --tokens.",
)
@click.option(
    "--port", default=8080, show_default=True, type=click.IntRange(0, 65535), help="Port; 0 picks a free one."
)
@click.option(
    "--data-dir", type=click.Path(file_okay=False, path_type=Path), help=f"Where models are kept.  [default: {_DATA}]"
)
@click.option(
    "--tokens",
    type=click.Path(path_type=Path),
    help="A file with a token and its rights (score,label,admin) on each line.",
)
@click.option(
    "--retention",
    default="400d",
    show_default=True,
    help="How long events are kept once their label is known or given up.",
)
@click.option(
    "--retention-size",
    metavar="SIZE",
    help="How large the data of a model may be, such as 20GB: the oldest events beyond it are removed, except those "
    "still waiting for a label.",
)
@click.option(
    "--id-memory",
    default="32MB",
    show_default=True,
    metavar="SIZE",
    help="Memory per model for looking up event ids.",
)
@click.option(
    "--parked-labels",
    default=100_000,
    show_default=True,
    type=click.IntRange(0),
    metavar="N",
    help="How many labels per model may wait for events that have not come.",
)
@click.option("--demo", is_flag=True, help="Replay a card stream with late labels, to see the page live.")
def serve(
    host: str,
    port: int,
    data_dir: Path | None,
    tokens: Path | None,
    retention: str,
    retention_size: str | None,
    id_memory: str,
    parked_labels: int,
    demo: bool,
) -> None:
    """Serve models over HTTP: score events at once, learn from labels that come minutes or weeks later.

    A score or a label is acknowledged when it is on disk. A process that is killed continues where it stopped; SIGTERM
    and Ctrl-C save everything first. A web page is at the printed address; all requests are described at /openapi.json.

    \b
    curl -X PUT localhost:8080/models/cards -d '{}'
    curl localhost:8080/models/cards/events -d '{"id": "a1", "columns": {"amount": 5.0, "country": "NO"}}'
    curl localhost:8080/models/cards/labels -d '{"id": "a1", "label": 0}'
    """
    _check_installed()
    from lopsided.serve.configuration import Limits
    from lopsided.serve.demo import RETENTION, Replay
    from lopsided.serve.house import House, TakenError
    from lopsided.serve.web.serving import check_reachable
    from lopsided.serve.web.serving import serve as serve_house
    from lopsided.serve.web.tokens import Tokens

    kept = seconds_in(retention)
    if kept is None:
        raise ParameterError(f"The option --retention must be a duration such as 90d or 52w, got {retention!r}.")
    most = None if retention_size is None else _size(retention_size, "--retention-size")
    limits = Limits(min(kept, RETENTION) if demo else kept, most, _size(id_memory, "--id-memory"), parked_labels)
    known = Tokens.read(tokens)
    check_reachable(host, known)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    folder = data_dir or (Path(tempfile.mkdtemp(prefix="lopsided-demo-")) if demo else Path(_DATA))
    try:
        house = House(folder, limits=limits)
    except TakenError as error:
        raise ParameterError(str(error)) from None
    replay = Replay(house) if demo else None

    def started(address: str) -> None:
        click.echo(f"lopsided serves {address}  (data in {folder}; Ctrl-C ends it)")
        if replay is not None:
            replay.start()

    try:
        serve_house(house, known, host, port, started)
    finally:
        if replay is not None:
            replay.stop()
            if data_dir is None:
                shutil.rmtree(folder, ignore_errors=True)


def _size(given: str, option: str) -> int:
    found = bytes_in(given)
    if found is None:
        raise ParameterError(f"The option {option} must be a size such as 500MB or 20GB, got {given!r}.")
    return found


def _check_installed() -> None:
    try:
        import apsw  # noqa: F401
        import msgspec  # noqa: F401
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"The command serve needs the package {error.name}: pip install 'lopsided[serve]'.", name=error.name
        ) from None
